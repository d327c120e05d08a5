/* What other modules export, their tracepoint too, a symbol that may be absent, and per-CPU variables. */
#include <linux/module.h>
#include <linux/percpu.h>

#include "damaged_events.h"

MODULE_LICENSE("GPL");

extern int plain_one(int a);
extern int plain_table[3];
extern int absent_one(int a) __attribute__((weak));
int user_asks(int a);
static DEFINE_PER_CPU(long, user_counts) = 7;
DEFINE_PER_CPU(int *, user_places) = plain_table + 1;
EXPORT_PER_CPU_SYMBOL(user_places);
static int (*const user_calls[])(int a) = {plain_one, user_asks};
static int (*const user_may_call[2])(int a) = {absent_one};

int user_asks(int a)
{
	this_cpu_inc(user_counts);
	trace_damaged_three(a);
	if (user_may_call[a & 1])
		return user_may_call[a & 1](a);
	return user_calls[a & 1](plain_table[0]);
}
