/*
 * tp_printk on the command line: each record of an event is printed to the console, too. This is for a machine that
 * dies before anybody can read its trace. With events that come often it does little else than print.
 *
 * A line is made in one buffer for the whole machine, under a bare lock, in whatever context the event is. The lock's
 * owner is noted: an event that printing itself causes on the same CPU is left out, as it would wait for its own lock.
 */
#include <fs/libfs.h>
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#include "core/array.h"
#include "events/event_file.h"
#include "output/iter.h"

#define LINE_MAX 900

static bool tp_printk_possible, stop_on_boot; /* [I, the command line] */

/* Guards the line that is made. It is a bare lock, because events happen under any other lock. */
static spinlock_t line_lock = __SPIN_LOCK_UNLOCKED;
static int line_owner = -1;		/* [line_lock] CPU */
static struct trace_iterator line_iter; /* [line_lock] */
static char line[LINE_MAX];		/* [line_lock] */

/* Only says when printing ends; without tp_printk it has no effect. */
static int set_tp_printk_stop_on_boot(const char *value)
{
	stop_on_boot = true;
	return 0;
}
__setup("tp_printk_stop_on_boot", set_tp_printk_stop_on_boot);

/* The same text as in `trace`, made with an iterator that has only what an event's printer looks at. line_lock held. */
static void print_record(const struct trace_event_buffer *buffer)
{
	memset(&line_iter, 0, sizeof(line_iter));
	line_iter.tr = buffer->file->tr;
	line_iter.ent = buffer->entry;
	line_iter.cpu = smp_processor_id();
	line_iter.text.buf = line;
	line_iter.text.size = sizeof(line);
	trace_event_output.trace(&line_iter.text, &line_iter);
	printk("%.*s", (int)min(line_iter.text.count, sizeof(line) - 1), line);
}

/* Prints a record before it is committed. An NMI is left out, because it may interrupt the holder of the lock. */
static void printk_event(const struct trace_event_buffer *buffer)
{
	unsigned long flags;
	int cpu = smp_processor_id();

	if (in_nmi() || READ_ONCE(line_owner) == cpu)
		return;
	raw_local_irq_save(flags);
	arch_spin_lock(&line_lock);
	WRITE_ONCE(line_owner, cpu);
	print_record(buffer);
	WRITE_ONCE(line_owner, -1);
	arch_spin_unlock(&line_lock);
	raw_local_irq_restore(flags);
}

/* tp_printk_possible stays true for good: the file in /proc can only switch what the command line has allowed. */
static int set_tp_printk(const char *value)
{
	tp_printk_possible = strcmp(value, "0") && strcmp(value, "off");
	trace_event_printk = printk_event;
	trace_event_printk_flag = tp_printk_possible ? EVENT_FILE_PRINTK : 0;
	return 0;
}
__setup("tp_printk", set_tp_printk);

/*
 * Each event's flag is set, so that a probe need not look at a global variable. Both mutexes: files of arrays come and
 * go under trace_types_lock, flags change under event_mutex.
 */
static void switch_printk(bool on)
{
	struct trace_event_file *file;
	struct trace_array *tr;

	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	trace_event_printk_flag = on ? EVENT_FILE_PRINTK : 0;
	for_each_trace_array(tr)
		for_each_event(tr->events, file)
			trace_event_set_flag(file, EVENT_FILE_PRINTK, on);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
}

/* tp_printk_stop_on_boot: printing ends when the boot does. */
static int tp_printk_boot_end(void)
{
	if (stop_on_boot && trace_event_printk_flag)
		switch_printk(false);
	return 0;
}
late_initcall(tp_printk_boot_end);

/* ---- /proc/sys/kernel/tracepoint_printk */

/* 0 or 1: are events printed now? */
static int tracepoint_printk_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", !!trace_event_printk_flag);
	return 0;
}

/* Without tp_printk on the command line it stays 0, as in Linux. */
static int tracepoint_printk_store(char *text, void *data)
{
	int val, ret = kstrtoint(text, 10, &val);

	if (!ret)
		switch_printk(val && tp_printk_possible);
	return ret;
}

static const struct text_file tracepoint_printk_proc = {
	.path = "sys/kernel/tracepoint_printk",
	.mode = 0644,
	.show = tracepoint_printk_show,
	.store = tracepoint_printk_store,
};
REGISTER_PROC(tracepoint_printk_proc);
