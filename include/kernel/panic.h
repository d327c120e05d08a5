/* Broken invariants: WARN, BUG, oops and panic. */
#pragma once

#include <lib/types.h>

struct pt_regs;

/* Stops every CPU, prints message and backtrace, dumps the trace if asked, ends QEMU with a failure status. */
void panic(const char *fmt, ...) __printf(1, 2) __noreturn;
extern int panic_on_oops;
/* Seconds from a panic to a restart; 0: stay as it is; below 0: end the machine at once. */
extern int panic_timeout;
unsigned long get_taint(void); /* Linux's bits: 7, a task has died of a fault in the kernel; 9, it has warned */
extern int oops_in_progress;   /* non-zero: locks of the output path may be broken */

/* Exit status of the machine after a panic with panic=-1 (tools/vrun's code for a guest that panicked). */
#define PANIC_EXIT_STATUS 125

/* A callback for when the kernel is in trouble: to dump or stop a trace. */
enum trouble {
	TROUBLE_WARNING, /* before anything is printed; any context */
	TROUBLE_DYING,	 /* an oops has said what it is, registers and backtrace follow; interrupts off */
	TROUBLE_OOPS,	 /* after the backtrace; interrupts off, the task is about to be killed */
	TROUBLE_PANIC,	 /* the other CPUs are stopped; interrupts off for good */
};
struct panic_notifier {
	const char *name;
	void (*notify)(enum trouble what); /* takes no lock that may be held by who failed; returns */
};
#define REGISTER_PANIC_NOTIFIER(nb) REGISTER_IN(panic_notifiers, nb)
void notify_trouble(enum trouble what); /* call all of them. Any context, nmi too */

/*
 * A fault in the kernel: prints registers, backtrace and task, then kills the current task where that is safe
 * (thread context, not init, not idle) or panics. Context: exception.
 */
void die(const char *what, struct pt_regs *regs, long err) __noreturn;
/* The rest of a trap on BUG() (die) or WARN() (print and go on; returns). Context: exception. */
void report_bug(struct pt_regs *regs);

void dump_stack(void); /* the caller's backtrace, to the log */
struct task_struct;
void show_stack(struct task_struct *task, struct pt_regs *regs); /* NULL, NULL: ours */

/* WARN prints file and line with a backtrace and goes on; traceoff_on_warning stops tracing there. */
void __warn(const char *file, int line, const char *cond);
/* "kernel BUG at FILE:LINE!", and BUG_ON() says in a line of its own which condition was true (NULL: BUG()). */
void __bug(const char *file, int line, const char *cond) __noreturn;
extern bool traceoff_on_warning;

#define BUG() __bug(__FILE__, __LINE__, NULL)
#define BUG_ON(c)                                      \
	do {                                           \
		if (unlikely(c))                       \
			__bug(__FILE__, __LINE__, #c); \
	} while (0)
#define WARN_ON(c)                                      \
	({                                              \
		bool _warn = !!(c);                     \
		if (unlikely(_warn))                    \
			__warn(__FILE__, __LINE__, #c); \
		unlikely(_warn);                        \
	})
#define WARN_ON_ONCE(c)                                                                        \
	({                                                                                     \
		static bool _warned;                                                           \
		bool _once = !!(c);                                                            \
		if (unlikely(_once) && !__atomic_exchange_n(&_warned, true, __ATOMIC_RELAXED)) \
			__warn(__FILE__, __LINE__, #c);                                        \
		unlikely(_once);                                                               \
	})
