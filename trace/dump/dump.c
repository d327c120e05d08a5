/*
 * ftrace_dump(): the trace through printk, from a kernel in trouble.
 *
 * It runs when the kernel may be broken: with any lock held by a CPU that will never let go, with no memory, with
 * interrupts off. So it allocates nothing, takes no mutex, stops all recording first, and the lines go out as printk's
 * own. It takes two kinds of bare locks, reader_lock of each ring and cmdline_lock, and does not wait for long, since a
 * holder that has stopped never lets go (ring_buffer_dump_begin). Only one CPU dumps (`dumping`); a second one that
 * comes meanwhile returns at once.
 *
 * It is called by an oops or a panic when ftrace_dump_on_oops asks for it, by the commands dump and cpudump of
 * set_ftrace_filter, by sysrq-z, and by code that hunts a bug.
 */
#include <drivers/tty.h>
#include <fs/libfs.h>
#include <kernel/cmdline.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "output/iter.h"
#include "tracefs/tracefs.h"
#include "tracers/graph/graph.h"

/* Linux's parameter, read by dump_as_told(). [any] The text may change while it is read; it always ends. */
static char dump_on_oops[100] = "0";

#define DUMP_TEXT_MAX 4096 /* of a record: a stack has many lines */

/* Nothing may be allocated here, so there is one iterator and one text. [the CPU that has set `dumping`] */
static struct trace_iterator dump_iter;
static char dump_text[DUMP_TEXT_MAX], dump_copy[TRACE_ITER_COPY] __attribute__((aligned(8)));
static bool dumping; /* [atomic] */

/*
 * A record may have several lines (a stack). Each becomes a printk of its own, since one printk takes no more than
 * a line of the log and would cut the rest off.
 */
static void print_lines(const char *text, size_t len)
{
	while (len) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;

		printk(KERN_EMERG "%.*s\n", (int)n, text);
		n += n < len; /* the newline */
		text += n;
		len -= n;
	}
}

/* Records are taken out as they are printed: a second dump shows what has come since. */
static void dump_records(struct trace_iterator *iter)
{
	u64 count = 0;

	if (iter->tr->name)
		printk(KERN_EMERG "Dumping ftrace instance %s buffer:\n", iter->tr->name);
	else
		printk(KERN_EMERG "Dumping ftrace buffer:\n");
	while (trace_find_next_entry(iter)) {
		if (!count++)
			printk(KERN_EMERG "---------------------------------\n");
		iter->idx++;
		iter->text.count = 0;
		trace_print_line(&iter->text, iter);
		print_lines(dump_text, min(iter->text.count, sizeof(dump_text) - 1));
		trace_consume_entry(iter);
	}
	printk(KERN_EMERG "%s\n", count ? "---------------------------------" : "   (ftrace buffer empty)");
}

/*
 * When the iterator cannot be prepared (function_graph never ran, so its state is not there) records are printed all
 * the same, without a copy to look ahead in. Context: preemption off, `dumping` set.
 */
static void dump_array(struct trace_array *tr, enum ftrace_dump_mode mode)
{
	if (!tr->buffer)
		return;
	tracer_tracing_off(tr);
	ring_buffer_dump_begin();
	memset(&dump_iter, 0, sizeof(dump_iter));
	dump_iter.tr = tr;
	dump_iter.atomic = true;
	dump_iter.trace = tr->current_trace;
	dump_iter.buffer = tr->buffer;
	dump_iter.cpu_file = mode == DUMP_ORIG ? (int)smp_processor_id() : RING_BUFFER_ALL_CPUS_FILE;
	dump_iter.text.buf = dump_text;
	dump_iter.text.size = sizeof(dump_text);
	dump_iter.copy = dump_copy;
	if (trace_iter_prepare(&dump_iter) || !dump_iter.graph)
		dump_iter.copy = NULL;
	dump_records(&dump_iter);
	trace_iter_release(&dump_iter);
	/* What was read without its lock may be damaged, and no writer may come upon it. */
	if (ring_buffer_dump_end())
		ring_buffer_record_disable(dump_iter.buffer);
}

/* One CPU at a time dumps; the one that does not wait for the rings' locks stays this one. */
static bool dump_begin(void)
{
	if (__atomic_exchange_n(&dumping, true, __ATOMIC_ACQUIRE))
		return false;
	preempt_disable_notrace();
	return true;
}

static void dump_end(void)
{
	preempt_enable_notrace();
	__atomic_store_n(&dumping, false, __ATOMIC_RELEASE);
}

/*
 * The instance of this name; NULL. No lock may be waited for here. An instance that is being removed at this moment has
 * no next one (list_del), which ends the search. Its memory stays, as preemption is off: a grace period comes between
 * the list and kfree(). A name is complete before the instance is in the list.
 */
static struct trace_array *instance_named(const char *name)
{
	const struct list_head *at = READ_ONCE(global_trace.list.next);

	for (; at && at != &global_trace.list; at = READ_ONCE(at->next)) {
		struct trace_array *tr = list_entry(at, struct trace_array, list);

		if (!strcmp(tr->name, name))
			return tr;
	}
	return NULL;
}

/* "2" or "orig_cpu", in both places. */
static bool says_orig_cpu(const char *word)
{
	return !strcmp(word, "2") || !strcmp(word, "orig_cpu");
}

/*
 * As ftrace_dump_on_oops says: words between commas. The first may be about the top buffer: 0 nothing, 1 all CPUs, 2 or
 * orig_cpu this one. Any other word is the name of an instance, all CPUs of it, or this one with =2 or =orig_cpu.
 * Context: as of dump_array().
 */
static void dump_as_told(void)
{
	static char told[sizeof(dump_on_oops)]; /* [the CPU that has set `dumping`] */
	char *rest = told, *word;

	strscpy(told, dump_on_oops, sizeof(told));
	while ((word = strsep(&rest, ","))) {
		bool first = word == told;
		const char *name = strsep(&word, "=");
		struct trace_array *tr;

		if (first && !word && !strcmp(name, "0"))
			continue;
		if (first && !word && (!strcmp(name, "1") || says_orig_cpu(name))) {
			dump_array(&global_trace, *name == '1' ? DUMP_ALL : DUMP_ORIG);
			continue;
		}
		tr = instance_named(name);
		if (tr)
			dump_array(tr, word && says_orig_cpu(word) ? DUMP_ORIG : DUMP_ALL);
		else
			printk(KERN_ERR "Instance %s not found\n", name);
	}
}

void ftrace_dump(enum ftrace_dump_mode mode)
{
	if (mode == DUMP_NONE || !dump_begin())
		return;
	if (mode == DUMP_PARAM)
		dump_as_told();
	else
		dump_array(&global_trace, mode);
	dump_end();
}
EXPORT_SYMBOL(ftrace_dump);

/* Which instances there will be is not known at boot, so any text is good that has room. 0, -EINVAL. */
static int set_dump_on_oops(const char *value)
{
	if (strlen(value) >= sizeof(dump_on_oops))
		return -EINVAL;
	strscpy(dump_on_oops, *value ? value : "1", sizeof(dump_on_oops));
	return 0;
}
__setup("ftrace_dump_on_oops", set_dump_on_oops);

/* ftrace_dump_on_oops,NAME: the top buffer, and that instance. */
static int add_dump_on_oops(const char *value)
{
	if (strlen(value) + 2 >= sizeof(dump_on_oops))
		return -EINVAL;
	strscpy(dump_on_oops, "1,", sizeof(dump_on_oops));
	strscpy(dump_on_oops + 2, value, sizeof(dump_on_oops) - 2);
	return 0;
}
__setup("ftrace_dump_on_oops,", add_dump_on_oops);

/* ---- /proc/sys/kernel: the same while it runs */

static int dump_on_oops_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", dump_on_oops);
	return 0;
}

/* The parameter takes an empty value; a file does not, since writing nothing must not switch anything. */
static int dump_on_oops_store(char *text, void *data)
{
	text = strim(text);
	return *text ? set_dump_on_oops(text) : -EINVAL;
}

static const struct text_file dump_on_oops_proc = {
	.path = "sys/kernel/ftrace_dump_on_oops",
	.mode = 0644,
	.show = dump_on_oops_show,
	.store = dump_on_oops_store,
};
REGISTER_PROC(dump_on_oops_proc);

static int off_on_warning_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(traceoff_on_warning));
	return 0;
}

/* Any number but 0 switches it on, as in Linux. */
static int off_on_warning_store(char *text, void *data)
{
	int val, ret = kstrtoint(text, 10, &val);

	if (!ret)
		WRITE_ONCE(traceoff_on_warning, val != 0);
	return ret;
}

static const struct text_file off_on_warning_proc = {
	.path = "sys/kernel/traceoff_on_warning",
	.mode = 0644,
	.show = off_on_warning_show,
	.store = off_on_warning_store,
};
REGISTER_PROC(off_on_warning_proc);

/* Break and z on the console: for a kernel that hangs and takes no commands any more. */
static void sysrq_dump(void)
{
	ftrace_dump(DUMP_ALL);
}
static const struct sysrq_key dump_key = {'z', "dump-ftrace-buffer", sysrq_dump};
REGISTER_SYSRQ(dump_key);

/* ---- In trouble */

/*
 * Called by the kernel for a warning, an oops and a panic. A warning only stops recording, if that is wanted, so
 * that what led to it stays in the buffer. An oops that becomes a panic comes by twice: the second time there is
 * nothing left to show, so it shows nothing. Context: any, interrupts off.
 */
static void trace_in_trouble(enum trouble what)
{
	static bool dumped;

	if (what == TROUBLE_WARNING) {
		if (traceoff_on_warning)
			tracing_off();
		return;
	}
	if (what != TROUBLE_DYING && strcmp(dump_on_oops, "0") && !dumped) {
		dumped = what == TROUBLE_OOPS;
		ftrace_dump(DUMP_PARAM);
	}
}

static const struct panic_notifier trace_panic_notifier = {"ftrace", trace_in_trouble};
REGISTER_PANIC_NOTIFIER(trace_panic_notifier);
