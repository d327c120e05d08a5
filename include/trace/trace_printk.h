/*
 * Messages into the trace, from anywhere in the kernel: for whoever wants to see his own values between the records.
 *
 *     trace_printk("slot %d of %pS\n", slot, fn);
 *
 * Costs about a thousandth of what printk costs, and works where printk must not be used: with any lock held, with
 * interrupts off, in an nmi, in the scheduler. Nothing is recorded while the option trace_printk is cleared, while
 * recording is off, and before the buffers are there. Not traced.
 */
#pragma once

#include <lib/types.h>

#define TRACE_PRINTK_MAX 1024 /* bytes of text with its ending zero; what is longer is cut off */

/* The address of the message in the code, which the record names. */
#define trace_this_ip()                                 \
	({                                              \
		__label__ here;                         \
here:                                                   \
		(unsigned long)&&here;                  \
	})
/*
 * A message without a newline at its end gets one. Any context. The length recorded, 0: not recorded. The barrier
 * keeps the call from becoming a jump: the stack record of the option stacktrace shall begin with who wrote this.
 */
#define trace_printk(...)                                                  \
	({                                                                 \
		int recorded = __trace_printk(trace_this_ip(), __VA_ARGS__); \
		barrier();                                                 \
		recorded;                                                  \
	})
#define trace_puts(text)                                            \
	({                                                          \
		int recorded = __trace_puts(trace_this_ip(), text); \
		barrier();                                          \
		recorded;                                           \
	})

int __trace_printk(unsigned long ip, const char *fmt, ...) __printf(2, 3);
int __trace_puts(unsigned long ip, const char *text);

struct trace_array;
/* The same into any array. */
int __trace_array_puts(struct trace_array *tr, unsigned long ip, const char *text);
