/* What only init needs is freed when it has returned: code marked __init, variables marked __initdata. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>

MODULE_LICENSE("GPL");

static int number __initdata = 3;

static int __init hello_init(void)
{
	pr_info("hello %d\n", number);
	return 0;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
	pr_info("goodbye 3\n"); /* not `number`: its memory is gone by now */
}
module_exit(hello_exit);
