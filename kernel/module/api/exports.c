/*
 * What modules use without naming it, and what is defined in assembly, where EXPORT_SYMBOL cannot stand: functions that
 * the compiler calls by itself, and the parts of inline functions.
 */
#include <kernel/export.h>
#include <lib/string.h>
#include <mm/uaccess.h>
#include <trace/preemptirq.h>

/* The compiler copies and clears structures with them. */
EXPORT_SYMBOL(memcpy);
EXPORT_SYMBOL(memmove);
EXPORT_SYMBOL(memset);

/* copy_to_user() and its like. */
EXPORT_SYMBOL(__copy_user);
EXPORT_SYMBOL(__get_user_1);
EXPORT_SYMBOL(__get_user_2);
EXPORT_SYMBOL(__get_user_4);
EXPORT_SYMBOL(__get_user_8);
EXPORT_SYMBOL(__put_user_1);
EXPORT_SYMBOL(__put_user_2);
EXPORT_SYMBOL(__put_user_4);
EXPORT_SYMBOL(__put_user_8);

/* local_irq_disable(), preempt_disable() and their like, which tell tracers. */
#define EXPORT_HOOK(name)        \
	void name##_thunk(void); \
	EXPORT_SYMBOL(name##_thunk)
EXPORT_HOOK(trace_hardirqs_off);
EXPORT_HOOK(trace_hardirqs_disable);
EXPORT_HOOK(trace_hardirqs_on);
EXPORT_HOOK(trace_preempt_off);
EXPORT_HOOK(trace_preempt_on);
EXPORT_SYMBOL(trace_irqs_key);
EXPORT_SYMBOL(trace_preempt_key);
