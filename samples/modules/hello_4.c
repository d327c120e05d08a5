/* What a module tells about itself. Only one under the GPL may use what is exported with EXPORT_SYMBOL_GPL. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>

MODULE_LICENSE("GPL");
MODULE_AUTHOR("A Student");
MODULE_DESCRIPTION("says hello");
MODULE_VERSION("1.0");

static int __init hello_init(void)
{
	pr_info("hello 4\n");
	return 0;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
	pr_info("goodbye 4\n");
}
module_exit(hello_exit);
