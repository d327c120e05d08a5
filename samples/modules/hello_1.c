/* The smallest module: two functions that the loader knows by their names. */
#include <linux/module.h>
#include <linux/printk.h>

MODULE_LICENSE("GPL");

int init_module(void)
{
	pr_info("hello 1\n");
	return 0; /* anything else is an error, and the module is not loaded */
}

void cleanup_module(void)
{
	pr_info("goodbye 1\n");
}
