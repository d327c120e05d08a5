/* Parameters: insmod hello_5.ko count=2 who=moon list=4,5 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

MODULE_LICENSE("GPL");

static int count = 1;
module_param(count, int, 0644);
MODULE_PARM_DESC(count, "how often it says hello");

static char *who = "world";
module_param(who, charp, 0444);
MODULE_PARM_DESC(who, "the name in the greeting");

static int list[4];
static unsigned int listed;
module_param_array(list, int, &listed, 0444);
MODULE_PARM_DESC(list, "up to four numbers");

static int __init hello_init(void)
{
	unsigned int i;

	if (count < 0)
		return -EINVAL;
	for (i = 0; i < count; i++)
		pr_info("hello %s\n", who);
	for (i = 0; i < listed; i++)
		pr_info("list[%u] = %d of %zu\n", i, list[i], ARRAY_SIZE(list));
	return 0;
}
module_init(hello_init);

static void __exit hello_exit(void)
{
	pr_info("goodbye %s\n", who);
}
module_exit(hello_exit);
