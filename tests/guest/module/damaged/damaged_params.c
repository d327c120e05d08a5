/* Parameters of each type, arrays of them, a text with a room of its own, variables of init, and wrapped operations. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

MODULE_LICENSE("GPL");

static signed char small = 1;
static short shorter = 2;
static unsigned long longer = 3;
static bool yes, no;
static char *who = "nobody";
static char room[16] = "room";
static int list[4] = {1, 2, 3, 4};
static unsigned listed;
static char *words[3] = {"a", "b"};
static bool flags[2];
static int early __initdata = 5;
static int earlies[3] __initdata;
static unsigned nr_earlies __initdata;
static int wrapped;

module_param_named(small, *(u8 *)&small, byte, 0644);
module_param(shorter, short, 0644);
module_param(longer, ulong, 0644);
module_param(yes, bool, 0644);
module_param(no, invbool, 0644);
module_param(who, charp, 0644);
module_param_string(room, room, sizeof(room), 0644);
module_param_array(list, int, &listed, 0644);
module_param_array(words, charp, NULL, 0644);
module_param_array(flags, bool, NULL, 0444);
module_param(early, int, 0);
module_param_array(earlies, int, &nr_earlies, 0);

static const struct kernel_param_ops wrapped_ops = {
	.set = param_set_int,
	.get = param_get_int,
};
module_param_cb(wrapped, &wrapped_ops, &wrapped, 0644);
