/*
 * When something is wrong beyond repair: oops, panic, and the warnings before.
 *
 * A warning prints and the kernel goes on. An oops kills the task in which it happened, and the kernel goes on if that
 * was not an interrupt. A panic stops all CPUs. What prints here may run with any lock held and with other CPUs
 * printing, too, so one CPU at a time is chosen by compare and exchange, the console's locks are broken rather than
 * waited for, and a second fault while printing prints less.
 */
#include <arch/poweroff.h>
#include <arch/processor.h>
#include <arch/stacktrace.h>
#include <asm/bug.h>
#include <asm/ptrace.h>
#include <boot/boot_info.h>
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/utsname.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>
#include <time/clock.h>

#define CREATE_TRACE_POINTS
#include <trace/events/notifier.h>
#include <trace/fgraph.h>

DECLARE_TABLE(panic_notifiers, const struct panic_notifier);

int panic_on_oops;
int oops_in_progress;
bool traceoff_on_warning;
int panic_timeout;
static int panic_cpu = -1;  /* [cmpxchg] the first one to panic; it alone prints */
static int die_owner = -1;  /* [cmpxchg] CPU that prints an oops, so that two do not mix */
static unsigned oops_count; /* [die_owner] */
static bool warned;	    /* a WARN happened: "Tainted: G W" */

/* Linux's bits. */
#define TAINT_DIE  7
#define TAINT_WARN 9

unsigned long get_taint(void)
{
	return (READ_ONCE(oops_count) ? 1UL << TAINT_DIE : 0) | (READ_ONCE(warned) ? 1UL << TAINT_WARN : 0);
}

/*
 * Those who have registered: the trace is dumped, or recording ends. In any context, perhaps with a broken kernel: they
 * take no locks.
 */
void notify_trouble(enum trouble what)
{
	const struct panic_notifier *nb;

	for_each_in_table(panic_notifiers, nb) {
		trace_notifier_run((void *)nb->notify);
		nb->notify(what);
	}
}

/* Linux's letters, each in its place: G (no module that is not free), D after an oops, W after a warning. */
static const char *taint_text(void)
{
	if (oops_count)
		return warned ? "Tainted: G      D W" : "Tainted: G      D";
	return warned ? "Tainted: G        W" : "Not tainted";
}

/* The headline of every report: where, who, and whether the kernel was in order before. */
static void show_task_line(void)
{
	/* Without preemption off the CPU is that of this moment; good enough for a headline. */
	pr_emerg("CPU: %u UID: %u PID: %d Comm: %.15s %s %s %.*s\n", smp_processor_id(), current->uid, current->pid,
		 current->comm, taint_text(), UTS_RELEASE, (int)strcspn(UTS_VERSION, " "), UTS_VERSION);
	if (boot_info.machine)
		pr_emerg("Hardware name: %s\n", boot_info.machine);
}

void dump_stack(void)
{
	show_task_line();
	show_stack(NULL, NULL);
}
EXPORT_SYMBOL(dump_stack);

/* Wait as a busy loop: timers and the scheduler may be what broke. */
static void panic_wait(int seconds)
{
	pr_emerg("Rebooting in %d seconds..\n", seconds);
	for (int i = 0; i < seconds * 10; i++)
		ndelay(100 * NSEC_PER_MSEC);
}

/* panic=: off at once when negative, restart after so many seconds, or halt. */
static void __noreturn panic_end(void)
{
	if (panic_timeout < 0)
		arch_power_off(PANIC_EXIT_STATUS);
	if (panic_timeout > 0) {
		panic_wait(panic_timeout);
		arch_restart();
	}
	arch_halt();
}

/*
 * The first CPU to panic prints; others halt where they are. The other CPUs are stopped only after the message, so
 * that it comes out even if stopping them fails. A console's lock may be held by a CPU that was stopped, so it is
 * broken.
 */
void panic(const char *fmt, ...)
{
	static char text[512]; /* [panic_cpu] */
	int cpu, none = -1;
	va_list args;

	raw_local_irq_disable(); /* for good: no interrupt, no migration, and no event about it in the trace */
	__preempt_count_add(PREEMPT_OFFSET);
	cpu = smp_processor_id();
	if (!__atomic_compare_exchange_n(&panic_cpu, &none, cpu, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
	    none != cpu)
		arch_halt(); /* another CPU panics already, and would stop this one */
	if (none == cpu)     /* a panic in a panic: say no more */
		panic_end();
	WRITE_ONCE(oops_in_progress, 1);
	console_verbose();
	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	pr_emerg("Kernel panic - not syncing: %s\n", text);
	if (!oops_count) /* an oops has just printed it */
		dump_stack();
	smp_send_stop();
	console_break_lock(); /* a stopped CPU may have held it */
	notify_trouble(TROUBLE_PANIC);
	pr_emerg("---[ end Kernel panic - not syncing: %s ]---\n", text);
	console_flush();
	panic_end();
}
EXPORT_SYMBOL(panic);

/*
 * Wait until no other CPU prints an oops, and become the one that does. True: this CPU is printing one already, so
 * the printing itself has failed.
 */
static bool oops_enter(void)
{
	int cpu = smp_processor_id(), none = -1;

	while (!__atomic_compare_exchange_n(&die_owner, &none, cpu, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (none == cpu)
			return true;
		none = -1;
		cpu_relax();
	}
	return false;
}

/* In this order: the next CPU that oopses must find the consoles as usual. */
static void oops_exit(void)
{
	WRITE_ONCE(oops_in_progress, 0);
	__atomic_store_n(&die_owner, -1, __ATOMIC_RELEASE);
}

/*
 * `regs` is where it happened. Does not return: the task ends, or the kernel panics (in an interrupt there is no task
 * to blame, a nested oops means that printing failed, and panic_on_oops asks for it). Context: any, also NMI.
 */
void die(const char *what, struct pt_regs *regs, long err)
{
	bool in_irq = in_interrupt(), nested;

	raw_local_irq_disable();
	nested = oops_enter();
	WRITE_ONCE(oops_in_progress, 1);
	console_verbose();
	arch_oops_head(what, err, oops_count + 1);
	if (!nested) { /* printing the registers or the stack may be what failed */
		notify_trouble(TROUBLE_DYING);
		show_task_line();
		show_regs(regs);
		show_stack(NULL, regs);
	}
	oops_count++;
	pr_emerg("---[ end trace %016x ]---\n", 0);
	if (!nested)
		notify_trouble(TROUBLE_OOPS);
	oops_exit();
	if (in_irq)
		panic("Fatal exception in interrupt");
	if (nested || panic_on_oops)
		panic("Fatal exception");
	make_task_dead(11); /* SIGSEGV */
}

/* A failed WARN_ON(). The trace ends first, if traceoff_on_warning asks for it, so that it shows what led here. */
void __warn(const char *file, int line, const char *cond)
{
	unsigned long flags;

	notify_trouble(TROUBLE_WARNING); /* first: a trace that ends must not be full of our printing */
	pr_warn("------------[ cut here ]------------\n");
	pr_warn("WARNING: CPU: %u PID: %d at %s:%d %pS: %s\n", smp_processor_id(), current->pid, file, line,
		(void *)TRUE_RET_ADDR(), cond);
	warned = true;
	raw_local_irq_save(flags); /* the lines of one backtrace together */
	dump_stack();
	raw_local_irq_restore(flags);
	pr_warn("---[ end trace %016x ]---\n", 0);
}
EXPORT_SYMBOL(__warn);

void __bug(const char *file, int line, const char *cond)
{
	pr_emerg("------------[ cut here ]------------\n");
	pr_emerg("kernel BUG at %s:%d!\n", file, line);
	if (cond)
		pr_emerg("BUG_ON(%s)\n", cond);
	arch_bug(); /* a trap: the registers are those of the moment */
}
EXPORT_SYMBOL(__bug);

void report_bug(struct pt_regs *regs)
{
	die(BUG_OOPS, regs, 0);
}

static int set_panic_timeout(const char *value)
{
	return kstrtoint(value, 0, &panic_timeout);
}
early_param("panic=", set_panic_timeout);

/* Linux's word is oops=panic; a number is taken, too, as in panic_on_oops. */
static int set_panic_on_oops(const char *value)
{
	int err, on;

	if (!strcmp(value, "panic")) {
		panic_on_oops = 1;
		return 0;
	}
	err = kstrtoint(value, 0, &on);
	if (!err)
		panic_on_oops = on != 0;
	return err;
}
early_param("oops=", set_panic_on_oops);

static int set_traceoff_on_warning(const char *value)
{
	bool on = true;
	int err = *value ? kstrtobool(value, &on) : 0;

	if (!err)
		traceoff_on_warning = on;
	return err;
}
early_param("traceoff_on_warning", set_traceoff_on_warning);
