/* The two functions may have any name: module_init and module_exit say which they are. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>

MODULE_LICENSE("GPL");

static int __init hello_init(void)
{
	pr_info("hello 2\n");
	return 0;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
	pr_info("goodbye 2\n");
}
module_exit(hello_exit);
