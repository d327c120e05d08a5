/*
 * trace_options and the directory options/: one bit each, by name.
 *
 * There are two kinds. General options are bits of an array's trace_flags, one for each line of the table below. A
 * tracer's own options are bits of the tracer (struct tracer_flags) and the same in all arrays. trace_options shows the
 * general ones and those of the selected tracer; options/ has a file for each of all tracers. Lock: trace_types_lock
 * for changes; code that prints or records reads the bits without.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracer.h"

/* What the writer does when the buffer is full: drop the oldest page (on), or the new event (off). */
static int set_overwrite(struct trace_array *tr, bool on)
{
	ring_buffer_change_overwrite(tr->buffer, on);
	return 0;
}

/* The table of thread groups is one for all arrays; the arrays that want it are counted. -ENOMEM for the first one. */
static int set_record_tgid(struct trace_array *tr, bool on)
{
	return trace_record_tgids(on);
}

/*
 * Exactly one array has this option. An instance that gives it up gives it to the top array, which cannot give it up.
 */
static int set_printk_dest(struct trace_array *tr, bool on)
{
	struct trace_array *from = printk_trace, *to = on ? tr : &global_trace;

	if (from == to)
		return -EINVAL;
	smp_store_release(&printk_trace, to);
	WRITE_ONCE(from->trace_flags, from->trace_flags & ~TRACE_ITER(PRINTK_DEST));
	WRITE_ONCE(to->trace_flags, to->trace_flags | TRACE_ITER(PRINTK_DEST));
	return 0;
}

/*
 * An option exists when it has a line here. `change` is called before the bit changes, with trace_types_lock held: 0,
 * or -errno, and then the bit does not change. Most options are only looked at by code that prints or records, and need
 * no such function.
 */
static const struct trace_option {
	const char *name;
	int (*change)(struct trace_array *tr, bool on);
} trace_option_table[NR_TRACE_OPTIONS] = {
	[OPT_PRINT_PARENT] = {"print-parent"},
	[OPT_SYM_OFFSET] = {"sym-offset"},
	[OPT_SYM_ADDR] = {"sym-addr"},
	[OPT_VERBOSE] = {"verbose"},
	[OPT_RAW] = {"raw"},
	[OPT_HEX] = {"hex"},
	[OPT_BIN] = {"bin"},
	[OPT_BLOCK] = {"block"},
	[OPT_FIELDS] = {"fields"},
	[OPT_SCHED_TREE] = {"sched-tree"},
	[OPT_PRINTK] = {"trace_printk"},
	[OPT_ANNOTATE] = {"annotate"},
	[OPT_USERSTACKTRACE] = {"userstacktrace"},
	[OPT_SYM_USEROBJ] = {"sym-userobj"},
	[OPT_PRINTK_MSGONLY] = {"printk-msg-only"},
	[OPT_CONTEXT_INFO] = {"context-info"},
	[OPT_LATENCY_FMT] = {"latency-format"},
	[OPT_RECORD_CMD] = {"record-cmd"},
	[OPT_RECORD_TGID] = {"record-tgid", set_record_tgid},
	[OPT_OVERWRITE] = {"overwrite", set_overwrite},
	[OPT_STOP_ON_FREE] = {"disable_on_free"},
	[OPT_IRQ_INFO] = {"irq-info"},
	[OPT_MARKERS] = {"markers"},
	[OPT_EVENT_FORK] = {"event-fork", trace_event_follow_fork},
	[OPT_PRINTK_DEST] = {"trace_printk_dest", set_printk_dest},
	[OPT_PAUSE_ON_TRACE] = {"pause-on-trace"},
	[OPT_FUNCTION] = {"function-trace"},
	[OPT_FUNC_FORK] = {"function-fork", trace_pid_follow_fork},
	[OPT_DISPLAY_GRAPH] = {"display-graph"},
	[OPT_STACKTRACE] = {"stacktrace"},
};

/* Options that concern all arrays; only the top array has them. */
#define TOP_OPTIONS (TRACE_ITER(PRINTK) | TRACE_ITER(RECORD_CMD))
/* Options that a new instance does not take over: it has no pids to follow, and only one array has PRINTK_DEST. */
#define OWN_OPTIONS (TRACE_ITER(EVENT_FORK) | TRACE_ITER(FUNC_FORK) | TRACE_ITER(PRINTK_DEST))

/* An instance has no files for what concerns all arrays together. */
static bool array_has_option(const struct trace_array *tr, unsigned i)
{
	return trace_option_table[i].name && (trace_array_is_top(tr) || !(TOP_OPTIONS & (1ULL << i)));
}

const char *trace_option_name(const struct trace_array *tr, unsigned i)
{
	return i < NR_TRACE_OPTIONS && array_has_option(tr, i) ? trace_option_table[i].name : NULL;
}

int trace_keep_overwrite(u64 mask, bool set)
{
	return (mask & TRACE_ITER(OVERWRITE)) && !set ? -EINVAL : 0;
}

/*
 * The tracer may refuse, and so may the option's own `change`. The tracer is asked first and, when the option then
 * refuses, told that all stays as it was. Parts of the array that keep something derived from the flags are told last,
 * when the bit has its new value.
 */
int set_tracer_flag(struct trace_array *tr, enum trace_option_bit opt, bool on)
{
	const struct trace_option *option = &trace_option_table[opt];
	u64 mask = 1ULL << opt;
	int ret = 0;

	if (!!(tr->trace_flags & mask) == on)
		return 0;
	if (tr->current_trace->flag_changed)
		ret = tr->current_trace->flag_changed(tr, mask, on);
	if (ret)
		return ret;
	if (option->change)
		ret = option->change(tr, on);
	if (!ret) {
		WRITE_ONCE(tr->trace_flags, on ? tr->trace_flags | mask : tr->trace_flags & ~mask);
		trace_array_changed(tr, TRACE_CHANGED_OPTIONS);
	} else if (tr->current_trace->flag_changed)
		tr->current_trace->flag_changed(tr, mask, !on); /* it stays as it was */
	return ret;
}

/*
 * A new instance begins with the options of the top array, but for those that only one array can have. 0, or the first
 * error.
 */
int trace_options_inherit(struct trace_array *tr)
{
	int ret = 0;

	for (unsigned i = 0; i < NR_TRACE_OPTIONS && !ret; i++)
		if (array_has_option(tr, i) && !(OWN_OPTIONS & (1ULL << i)))
			ret = set_tracer_flag(tr, i, global_trace.trace_flags & (1ULL << i));
	return ret;
}

/*
 * Options that hold something beyond the array are switched off before it goes: counts, probes, where trace_printk
 * writes.
 */
void trace_options_free(struct trace_array *tr)
{
	set_tracer_flag(tr, OPT_FUNC_FORK, false);
	set_tracer_flag(tr, OPT_EVENT_FORK, false);
	set_tracer_flag(tr, OPT_RECORD_TGID, false);
	set_tracer_flag(tr, OPT_PRINTK_DEST, false);
}

/* ---- An option of either kind, found by name */

/* Of a tracer's own option `tracer` and `opt` are set; of a general one `opt` is NULL and `general` is its number. */
struct found_option {
	enum trace_option_bit general;
	const struct tracer *tracer;
	const struct tracer_opt *opt;
};

/* The option of that name among those that every array has, or only the top one. */
static bool find_general(const struct trace_array *tr, const char *name, struct found_option *found)
{
	for (unsigned i = 0; i < NR_TRACE_OPTIONS; i++) {
		if (array_has_option(tr, i) && !strcmp(trace_option_table[i].name, name)) {
			*found = (struct found_option){.general = i};
			return true;
		}
	}
	return false;
}

/* A tracer without options of its own has no flags at all. */
static bool find_own(const struct tracer *tracer, const char *name, struct found_option *found)
{
	if (!tracer->flags)
		return false;
	for (const struct tracer_opt *opt = tracer->flags->opts; opt->name; opt++) {
		if (!strcmp(opt->name, name)) {
			*found = (struct found_option){.tracer = tracer, .opt = opt};
			return true;
		}
	}
	return false;
}

static bool option_is_on(const struct trace_array *tr, const struct found_option *o)
{
	return o->opt ? o->tracer->flags->val & o->opt->bit : tr->trace_flags & (1ULL << o->general);
}

/* No option's own name begins with "no", so the prefix is never a part of it. */
bool trace_option_of(const char *text, const struct tracer *tracer)
{
	const char *name = strncmp(text, "no", 2) ? text : text + 2;
	struct found_option option;

	return tracer ? find_own(tracer, name, &option) : find_general(&global_trace, name, &option);
}

/*
 * Change an option of either kind. A tracer's own option is changed even when the tracer is not selected; set_flag
 * may refuse it. 0 also when nothing changes. trace_types_lock held.
 */
static int set_option(struct trace_array *tr, const struct found_option *o, bool on)
{
	struct tracer_flags *flags;
	int ret = 0;

	if (!o->opt)
		return set_tracer_flag(tr, o->general, on);
	flags = o->tracer->flags;
	if (option_is_on(tr, o) == on)
		return 0;
	if (o->tracer->set_flag)
		ret = o->tracer->set_flag(tr, o->opt->bit, on);
	if (!ret)
		WRITE_ONCE(flags->val, on ? flags->val | o->opt->bit : flags->val & ~o->opt->bit);
	return ret;
}

/* ---- trace_options */

#define CANNOT_CHANGE "the tracer does not allow this change now"

/* A word of trace_options: "NAME" or "noNAME". The name of a general option comes before that of the tracer's. */
int trace_set_option(struct trace_array *tr, const char *text, const char **why)
{
	bool on = strncmp(text, "no", 2) != 0;
	const char *name = on ? text : text + 2;
	struct found_option option;
	int ret = -EINVAL;

	mutex_lock(&trace_types_lock);
	if (find_general(tr, name, &option) || find_own(tr->current_trace, name, &option)) {
		ret = set_option(tr, &option, on);
		*why = ret && ret != -ENOMEM ? CANNOT_CHANGE : NULL;
	}
	mutex_unlock(&trace_types_lock);
	return ret;
}

/* An option that is off is shown with "no" in front, which is also how it is written. */
static void show_option(struct seq_file *m, const char *name, bool on)
{
	seq_printf(m, "%s%s\n", on ? "" : "no", name);
}

/* General options in the order of the table, and behind them the selected tracer's. */
static int trace_options_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	const struct tracer_flags *own;

	mutex_lock(&trace_types_lock);
	own = tr->current_trace->flags;
	for (int i = 0; i < NR_TRACE_OPTIONS; i++)
		if (array_has_option(tr, i))
			show_option(m, trace_option_table[i].name, tr->trace_flags & (1ULL << i));
	for (const struct tracer_opt *opt = own ? own->opts : NULL; opt && opt->name; opt++)
		show_option(m, opt->name, own->val & opt->bit);
	mutex_unlock(&trace_types_lock);
	return 0;
}

static int trace_options_store(char *text, void *data, const char **why)
{
	return trace_set_option(trace_file_array(data), text, why);
}
TRACEFS_REASON_FILE(trace_options, "trace_options", 0640, TRACEFS_ARRAY, trace_options_show, trace_options_store);

/* ---- options/NAME holds 0 or 1. i_private is the array; the option is known by the file's name. */

/* The file exists, so one of the two searches finds it. */
static struct found_option file_option(const struct file *file)
{
	const char *name = file->f_dentry->d_name.name;
	struct found_option option = {};
	const struct tracer *t;

	if (find_general(file->f_inode->i_private, name, &option))
		return option;
	for_each_in_table(tracers, t)
		if (find_own(t, name, &option))
			break;
	return option;
}

/* One bit is read, so no lock is needed. */
static ssize_t option_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct found_option option = file_option(file);
	bool on = option_is_on(file->f_inode->i_private, &option);

	return simple_read_from_buffer(buf, n, pos, on ? "1\n" : "0\n", 2);
}

/* options/NAME takes 0 or 1. 0, -EINVAL, or what the tracer says of its own option. */
static int option_store(const struct file *file, const char *text, const char **why)
{
	struct found_option option = file_option(file);
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	if (val > 1)
		return -EINVAL;
	mutex_lock(&trace_types_lock);
	ret = set_option(file->f_inode->i_private, &option, val);
	mutex_unlock(&trace_types_lock);
	*why = ret && ret != -ENOMEM ? CANNOT_CHANGE : NULL;
	return ret;
}

/* The write of an options file; a refusal is explained in error_log. */
static ssize_t option_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	char text[32];
	ssize_t ret = copy_text_from_user(text, sizeof(text), buf, n);
	const char *why = NULL;

	if (ret < 0)
		return tracefs_refused_why(file, OPTION_FILE, "", "the text is too long for a number", ret);
	ret = option_store(file, text, &why);
	text[strcspn(text, "\n")] = '\0';
	return ret ? tracefs_refused_why(file, OPTION_FILE, text, why, ret) : (ssize_t)n;
}

static const struct file_operations option_fops = {
	.read = option_read,
	.write = option_write,
	.llseek = default_llseek,
};

static int create_option_file(struct trace_array *tr, const char *name)
{
	struct dentry *d = simple_create_file(tr->options_dir, name, S_IFREG | 0640, &option_fops, tr);

	return IS_ERR(d) ? (int)PTR_ERR(d) : 0;
}

/*
 * A tracer's own options have files all the time, as in Linux, so that they can be set before the tracer is
 * selected.
 */
static int create_own_option_files(struct trace_array *tr, const struct tracer *t)
{
	int ret = 0;

	for (const struct tracer_opt *opt = t->flags ? t->flags->opts : NULL; opt && opt->name && !ret; opt++)
		ret = create_option_file(tr, opt->name);
	return ret;
}

/* After an error the caller removes the array's directory with what was made of this. */
int create_options_dir(struct trace_array *tr)
{
	const struct tracer *t;
	int ret = 0;

	tr->options_dir = simple_create_dir(tr->dir, "options", 0750, NULL);
	if (IS_ERR(tr->options_dir))
		return PTR_ERR(tr->options_dir);
	for (int i = 0; i < NR_TRACE_OPTIONS && !ret; i++)
		if (array_has_option(tr, i))
			ret = create_option_file(tr, trace_option_table[i].name);
	for_each_in_table(tracers, t)
		if (!ret && tracer_is_for(t, tr))
			ret = create_own_option_files(tr, t);
	return ret;
}
