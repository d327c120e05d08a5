/*
 * Two users of function tracing, written as a reader would write them (docs/ftrace-ops.md): one looks at calls, the
 * other replaces a function. Files of debugfs's ftrace_sample/:
 *
 *	watch	a function's name: count its calls and keep registers of the last; nothing: stop. Reading shows them.
 *	replace	1: sample_multiply runs in place of sample_add; 0: no more
 *	call	three numbers, with which sample_add is called; reading shows what it returned
 *
 * The pattern of both: a struct ftrace_ops with a callback and flags, a filter that is set first, then
 * register_ftrace_function().
 */
#include <arch/ftrace.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <trace/ftrace.h>

static DEFINE_MUTEX(sample_mutex); /* users are switched, sample_result */

/* ---- The functions that are called */

static long sample_result; /* [sample_mutex] */

/* noinline, so that there is a call and a site. Three arguments, so that multiplying and adding differ. */
static noinline long sample_add(long a, long b, long c)
{
	return a + b + c;
}

static noinline long sample_multiply(long a, long b, long c)
{
	return a * b * c;
}

/* ---- A user that looks */

/* What is known of one call. When two calls come at the same time, a reader may see them mixed: it is a sample. */
static struct {
	unsigned long calls, ip, parent_ip, pc, sp, arg[3];
} watched; /* [a] */

/*
 * The callback: any context, preemption off. The flag SAVE_REGS makes ftrace_get_regs() good. The three arguments are
 * only good on machines whose entry keeps them (FTRACE_REGS_ARGS).
 */
static void notrace watch_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	__atomic_fetch_add(&watched.calls, 1, __ATOMIC_RELAXED);
	watched.ip = ip;
	watched.parent_ip = parent_ip;
	watched.pc = instruction_pointer(regs);
	watched.sp = kernel_stack_pointer(regs);
	for (unsigned i = 0; i < ARRAY_SIZE(watched.arg); i++)
		watched.arg[i] = ftrace_regs_argument(fregs, i);
}

static struct ftrace_ops watch_ops = {
	.func = watch_call,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION, /* it calls nothing that is traced */
	.name = "sample_watch",
};

/*
 * The user is unregistered before its filter changes to another function. sample_mutex held, as in the other writers.
 */
static int sample_watch(char *name)
{
	int ret;

	unregister_ftrace_function(&watch_ops); /* -EBUSY: it was not on */
	if (!*name)
		return 0;
	ret = ftrace_set_filter(&watch_ops, (unsigned char *)name, strlen(name), 1);
	if (ret)
		return ret;
	memset(&watched, 0, sizeof(watched));
	return register_ftrace_function(&watch_ops);
}

static void show_watch(struct seq_file *m)
{
	unsigned args = min((unsigned)FTRACE_REGS_ARGS, (unsigned)ARRAY_SIZE(watched.arg));

	seq_printf(m, "calls %lu\n", READ_ONCE(watched.calls));
	if (!watched.calls)
		return;
	seq_printf(m, "ip %pS\nparent_ip %pS\npc %pS\nsp %lx\n", (void *)watched.ip, (void *)watched.parent_ip,
		   (void *)watched.pc, watched.sp);
	for (unsigned i = 0; i < args; i++)
		seq_printf(m, "argument %u: %ld\n", i, watched.arg[i]);
}

/* ---- A user that replaces */

/*
 * The traced function is at its first instruction, so its caller and arguments are still in place: the call goes on as
 * one of sample_multiply.
 */
static void notrace replace_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				 struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)sample_multiply);
}

static struct ftrace_ops replace_ops = {
	.func = replace_call,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION,
	.name = "sample_replace",
};

/* By address, so that no other function of the same name is replaced. -EBUSY: it was on, or off, already. */
static int sample_replace(char *text)
{
	int on, ret = kstrtoint(text, 10, &on);

	if (ret)
		return ret;
	if (!on)
		return unregister_ftrace_function(&replace_ops);
	ret = ftrace_set_filter_ip(&replace_ops, (unsigned long)sample_add, 0, 1);
	return ret ?: register_ftrace_function(&replace_ops);
}

static void show_replace(struct seq_file *m)
{
	seq_printf(m, "%d\n", !!(replace_ops.flags & FTRACE_OPS_FL_ENABLED));
}

/* ---- Calls */

/* Three numbers; what stands behind them is ignored. */
static int sample_call(char *text)
{
	long number[3];

	for (unsigned i = 0; i < ARRAY_SIZE(number); i++) {
		char *word = strsep(&text, " ");
		int ret = word ? kstrtol(word, 10, &number[i]) : -EINVAL;

		if (ret)
			return ret;
	}
	sample_result = sample_add(number[0], number[1], number[2]);
	return 0;
}

static void show_call(struct seq_file *m)
{
	seq_printf(m, "%ld\n", sample_result);
}

/* ---- Files */

/* What a file does; both functions run with sample_mutex held. */
struct sample_file {
	int (*write)(char *text);
	void (*show)(struct seq_file *m);
};

static int sample_show(struct seq_file *m, void *data)
{
	const struct sample_file *sample = data;

	mutex_lock(&sample_mutex);
	sample->show(m);
	mutex_unlock(&sample_mutex);
	return 0;
}

static int sample_store(char *text, void *data)
{
	const struct sample_file *sample = data;
	int ret;

	mutex_lock(&sample_mutex);
	ret = sample->write(text);
	mutex_unlock(&sample_mutex);
	return ret;
}

/* File NAME, written by sample_NAME() and shown by show_NAME(). */
#define SAMPLE_FILE(name)                                                             \
	static const struct sample_file name##_sample = {sample_##name, show_##name}; \
	static const struct text_file name##_file = {.path = "ftrace_sample/" #name,  \
						     .mode = 0600,                    \
						     .show = sample_show,             \
						     .store = sample_store,           \
						     .data = (void *)&name##_sample}; \
	REGISTER_DEBUGFS(name##_file)

SAMPLE_FILE(watch);
SAMPLE_FILE(replace);
SAMPLE_FILE(call);
