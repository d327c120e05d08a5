/*
 * trace_printk() to try out: debugfs's trace_printk/hello takes the name of a context, and a message is put into the
 * trace from there. Also the shortest example of how trace_printk is used.
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

static void noinline hello_task(void)
{
	trace_printk("hello from a task on CPU %u, preempt_count %x\n", smp_processor_id(), preempt_count());
}

static void noinline hello_puts(void)
{
	trace_puts("hello without a format\n");
}

static enum hrtimer_restart noinline hello_timer(struct hrtimer *timer)
{
	trace_printk("hello from an interrupt on CPU %u, preempt_count %x\n", smp_processor_id(), preempt_count());
	complete(&said);
	return HRTIMER_NORESTART;
}

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

static void hello_softirq(void)
{
	open_softirq(HI_SOFTIRQ, hello_action);
	raise_softirq(HI_SOFTIRQ);
	wait_for_completion(&said);
}

/* What is kept as values till somebody reads it. */
static void noinline hello_kept(void)
{
	trace_printk("%d %05u %lx %llu %s|%.3s|%*d %ps 100%%\n", -5, 17u, 0xfeedUL, 1ULL << 40, "kept", "shorter", 6,
		     42, (void *)hello_kept);
}

/* And what only the text itself can keep. */
static void noinline hello_text(void)
{
	trace_printk("%c %-5d| %#x %pS\n", 'c', 5, 17, (void *)hello_text);
}

/* For measuring: the two ways, again and again. */
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

/* More than fits: the message is cut off, and the newline is added. */
static void noinline hello_long(void)
{
	trace_printk("%*d", 2 * TRACE_PRINTK_MAX, 1);
}

static const struct hello_context {
	const char *name;
	void (*say)(void);
} hello_contexts[] = {
	{"task", hello_task}, {"puts", hello_puts}, {"irq", hello_irq},	  {"softirq", hello_softirq},
	{"long", hello_long}, {"kept", hello_kept}, {"text", hello_text}, {"many", hello_many},
};

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

static int hello_show(struct seq_file *m, void *unused)
{
	for (unsigned i = 0; i < ARRAY_SIZE(hello_contexts); i++)
		seq_printf(m, "%s\n", hello_contexts[i].name);
	return 0;
}

static const struct text_file hello_file = {
	.path = "trace_printk/hello", .mode = 0600, .show = hello_show, .store = hello_store};
REGISTER_DEBUGFS(hello_file);
