/*
 * Messages into the trace, from anywhere in the kernel: for a reader who wants to see values of the code between the
 * records.
 *
 *     trace_printk("slot %d of %pS\n", slot, fn);
 *
 * A constant format costs its numbers, not its text (docs/raw.md). All of it costs about a thousandth of what printk
 * costs, and works where printk must not be used: with any lock held, with interrupts off, in an nmi, in the scheduler.
 * Nothing is recorded while the option trace_printk is cleared, while recording is off, and before the buffers are
 * there. Not traced.
 */
#pragma once

#include <lib/types.h>

#define TRACE_PRINTK_MAX 1024 /* bytes of text with its ending zero; what is longer is cut off */

/* The address of the message in the code, which the record names. */
#define trace_this_ip()                \
	({                             \
		__label__ here;        \
	here:                          \
		(unsigned long)&&here; \
	})
/*
 * Where the address of a constant text is kept. A module's goes with the module, and records stay: the loader puts the
 * address of a lasting copy there (trace/records/printk_text.c), so the module must read it each time.
 */
#ifdef MODULE
#define __printk_format static const char *kept __used __section("ptrs_printk_formats")
#else
#define __printk_format static const char *const kept __used __section("ptrs_printk_formats")
#endif
/*
 * A constant format or text is recorded by its address, and listed in the file printk_formats; of the arguments their
 * values are, and text is made when somebody reads it. Any context. Not 0: recorded. A message without a newline at its
 * end gets one. The barrier keeps the call from becoming a jump: the stack record of the option stacktrace begins with
 * the function that wrote this.
 */
#define trace_printk(fmt, ...)                                                                                   \
	({                                                                                                       \
		__printk_format = __builtin_constant_p(fmt) ? (fmt) : NULL;                                      \
		int recorded = __builtin_constant_p(fmt) ? __trace_bprintk(trace_this_ip(), kept, ##__VA_ARGS__) \
							 : __trace_printk(trace_this_ip(), fmt, ##__VA_ARGS__);  \
		if (0)                                                                                           \
			trace_printk_check(fmt, ##__VA_ARGS__);                                                  \
		barrier();                                                                                       \
		recorded;                                                                                        \
	})
#define trace_puts(text)                                                                         \
	({                                                                                       \
		__printk_format = __builtin_constant_p(text) ? (text) : NULL;                    \
		int recorded = __builtin_constant_p(text) ? __trace_bputs(trace_this_ip(), kept) \
							  : __trace_puts(trace_this_ip(), text); \
		barrier();                                                                       \
		recorded;                                                                        \
	})

/* fmt, str: constants, which live as long as the trace does. */
int __trace_bprintk(unsigned long ip, const char *fmt, ...);
int __trace_bputs(unsigned long ip, const char *str);
int __trace_printk(unsigned long ip, const char *fmt, ...) __printf(2, 3);
int __trace_puts(unsigned long ip, const char *text);

struct trace_array;
/* The same into any array. */
int __trace_array_puts(struct trace_array *tr, unsigned long ip, const char *text);
static inline __printf(1, 2) void trace_printk_check(const char *fmt, ...)
{
}
