/*
 * trace_printk() to try out: debugfs's trace_printk/hello takes the name of a context, and a message is put into the
 * trace from there. It is also the shortest example of how trace_printk is used:
 *
 *	echo irq > /sys/kernel/debug/trace_printk/hello
 *	cat /sys/kernel/tracing/trace
 *
 * Each message has a function of its own, since the trace shows which function has printed it.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <irq/softirq.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/trace_printk.h>

static DEFINE_MUTEX(hello_lock); /* one message at a time */
static DECLARE_COMPLETION(said);

/* Plain numbers: the format and two words are stored, and the text is made when the trace is read. */
static void noinline hello_task(void)
{
	trace_printk("hello from a task on CPU %u, preempt_count %x\n", smp_processor_id(), preempt_count());
}

/* A constant text without arguments: only its address is stored. */
static void noinline hello_puts(void)
{
	trace_puts("hello without a format\n");
}

/* Hard interrupt. */
static enum hrtimer_restart noinline hello_timer(struct hrtimer *timer)
{
	trace_printk("hello from an interrupt on CPU %u, preempt_count %x\n", smp_processor_id(), preempt_count());
	complete(&said);
	return HRTIMER_NORESTART;
}

/* A timer that is due at once. The cancel waits until the callback has returned, as the timer is on this stack. */
static void hello_irq(void)
{
	struct hrtimer timer;

	hrtimer_init(&timer, hello_timer);
	hrtimer_start(&timer, sched_clock());
	wait_for_completion(&said);
	hrtimer_cancel(&timer);
}

static void noinline hello_action(void)
{
	trace_printk("hello from a softirq on CPU %u, preempt_count %x\n", smp_processor_id(), preempt_count());
	complete(&said);
}

/* HI_SOFTIRQ has no other user, so its handler may be set here each time. */
static void hello_softirq(void)
{
	open_softirq(HI_SOFTIRQ, hello_action);
	raise_softirq(HI_SOFTIRQ);
	wait_for_completion(&said);
}

/* A format whose arguments are all kept as values until the trace is read. */
static void noinline hello_kept(void)
{
	trace_printk("%d %05u %lx %llu %s|%.3s|%*d %ps 100%%\n", -5, 17u, 0xfeedUL, 1ULL << 40, "kept", "shorter", 6,
		     42, (void *)hello_kept);
}

/* A format that only the text itself can keep (%c, flags, %pS): it is formatted here and stored as text. */
static void noinline hello_text(void)
{
	trace_printk("%c %-5d| %#x %pS\n", 'c', 5, 17, (void *)hello_text);
}

/*
 * For measuring the ways against each other: a constant format, a format that is not known when this is compiled, and a
 * constant text.
 */
static void noinline hello_many(void)
{
	static const char *volatile format = "one of many: %d, %lu\n"; /* not known to the compiler */

	for (int i = 0; i < 100; i++)
		trace_printk("one of many: %d, %lu\n", i, 5UL);
	for (int i = 0; i < 100; i++)
		trace_printk(format, i, 5UL);
	for (int i = 0; i < 100; i++)
		trace_puts("one of many\n");
}

/* More than fits: the message is cut off, and a newline is added. */
static void noinline hello_long(void)
{
	trace_printk("%*d", 2 * TRACE_PRINTK_MAX, 1);
}

/* The words that the file takes. */
static const struct hello_context {
	const char *name;
	void (*say)(void);
} hello_contexts[] = {
	{"task", hello_task}, {"puts", hello_puts}, {"irq", hello_irq},	  {"softirq", hello_softirq},
	{"long", hello_long}, {"kept", hello_kept}, {"text", hello_text}, {"many", hello_many},
};

/* One message at a time: `said` is shared. -EINVAL: no such context. */
static int hello_store(char *text, void *data)
{
	for (unsigned i = 0; i < ARRAY_SIZE(hello_contexts); i++)
		if (!strcmp(text, hello_contexts[i].name)) {
			mutex_lock(&hello_lock);
			hello_contexts[i].say();
			mutex_unlock(&hello_lock);
			return 0;
		}
	return -EINVAL;
}

/* Reading lists the words. */
static int hello_show(struct seq_file *m, void *unused)
{
	for (unsigned i = 0; i < ARRAY_SIZE(hello_contexts); i++)
		seq_printf(m, "%s\n", hello_contexts[i].name);
	return 0;
}

static const struct text_file hello_file = {
	.path = "trace_printk/hello", .mode = 0600, .show = hello_show, .store = hello_store};
REGISTER_DEBUGFS(hello_file);
