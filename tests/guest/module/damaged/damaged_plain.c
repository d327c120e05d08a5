/* Pointers among its data, and functions and a variable that other modules may use. */
#include <linux/module.h>

MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");

int plain_one(int a);
int plain_table[3] = {1, 2, 3};
int *plain_where = plain_table + 1;
static int nothing;
int *plain_at = &nothing;

int plain_one(int a)
{
	return printk("%d\n", a + plain_table[a]);
}
EXPORT_SYMBOL(plain_one);
EXPORT_SYMBOL(plain_table);
EXPORT_SYMBOL_GPL(plain_where);

/* The loader calls no constructors, as Linux's calls none (without CONFIG_CONSTRUCTORS). */
static void __attribute__((constructor)) plain_constructor(void)
{
	plain_table[0] = plain_one(1);
}
