/*
 * What lab ftrace_caller is graded with: functions that compute sums of their arguments, and users of function tracing
 * that note with what they were called, and then spoil all registers that they may. A command is written to debugfs's
 * lab/caller, and the file then shows what came of it:
 *
 *	on N FLAGS GLOB		register user N for these functions; user 0 is called straight from ftrace_caller
 *	light 0 0 GLOB		the same, of a user 0 that only counts
 *	off N
 *	sum SEED		each of lab_sum_0 to 5, with numbers that follow from the seed
 *	probe SEED		lab_probe with such numbers in all registers
 *	change WORD DELTA	from now on users add DELTA to this word of struct pt_regs; 0: nothing any more
 *	replace			from now on users with FTRACE_OPS_FL_IPMODIFY let lab_other run
 *	pair SEED N		lab_pair, which returns two words, so many times
 *	deep N			lab_deep, so many calls inside of each other
 *	many N			so many calls of lab_leaf
 */
#include <arch/ftrace.h>
#include <asm/ptrace.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <kernel/stacktrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <time/clock.h>
#include <trace/ftrace.h>

#define NR_USERS 6
#define NR_ARGS	 8
#define NR_REGS	 32
#define WORDS	 (sizeof(struct pt_regs) / sizeof(long))
#define MOST	 32
#define noipa	 __attribute__((noipa)) /* neither inlined nor changed for its callers */

/* What a user was called with last. */
struct seen {
	unsigned long calls, ip, parent, misaligned;
	unsigned long pc, slot, sp, args[NR_ARGS]; /* from fregs */
	unsigned long words[WORDS];		   /* struct pt_regs */
	bool regs, odd;				   /* there were some; with the wrong mode, or interrupts off */
	unsigned n;
	unsigned long walk[MOST];
};

static struct lab_user {
	struct ftrace_ops ops;
	struct seen seen;
} lab_users[NR_USERS]; /* [the grader gives one command at a time] */
static unsigned long lab_in[NR_REGS], lab_sums[NR_USERS], lab_truth[MOST];
static unsigned lab_nr_truth;
static unsigned long lab_state, lab_word, lab_delta, lab_result, lab_leaves, lab_light, lab_ns;
static bool lab_replaces;

/* lab_registers.S */
unsigned long lab_after[NR_REGS];
void lab_probe_with(const unsigned long in[]);
void lab_spoil(void);

static unsigned long lab_next(void)
{
	lab_state = lab_state * 6364136223846793005UL + 1442695040888963407UL;
	return lab_state;
}

/* ---- Functions with sites */

typedef unsigned long lab_sum_t(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long,
				unsigned long, unsigned long, unsigned long);

/* Where it returns to, by the compiler's own account. */
static unsigned long lab_return, lab_returns[NR_USERS];

#define SUM(name, n)                                                                                              \
	static noipa unsigned long name(unsigned long a, unsigned long b, unsigned long c, unsigned long d,       \
					unsigned long e, unsigned long f, unsigned long g, unsigned long h)       \
	{                                                                                                         \
		barrier(); /* nothing of the sum is computed ahead of the site */                                 \
		lab_return = (unsigned long)__builtin_return_address(0);                                          \
		return (((((((a * 33 + b) * 33 + c) * 33 + d) * 33 + e) * 33 + f) * 33 + g) * 33 + h) * 33 + (n); \
	}
SUM(lab_sum_0, 0)
SUM(lab_sum_1, 1)
SUM(lab_sum_2, 2)
SUM(lab_sum_3, 3)
SUM(lab_sum_4, 4)
SUM(lab_sum_5, 5)
SUM(lab_other, 17)
static lab_sum_t *const lab_sum[NR_USERS] = {lab_sum_0, lab_sum_1, lab_sum_2, lab_sum_3, lab_sum_4, lab_sum_5};

/* The addresses that a walk must find behind lab_call's own are those that it finds from here. */
static noipa void lab_call(unsigned nr)
{
	unsigned long a[NR_ARGS];

	for (unsigned i = 0; i < NR_ARGS; i++)
		a[i] = lab_next();
	lab_nr_truth = stack_trace_save(lab_truth, MOST, 0);
	lab_sums[nr] = lab_sum[nr](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
	lab_returns[nr] = lab_return;
}

struct lab_two {
	unsigned long a, b;
};

static noipa struct lab_two lab_pair(unsigned long a)
{
	barrier();
	return (struct lab_two){a * 3 + 1, a * 5 + 7};
}

static noipa unsigned long lab_deep(unsigned long n)
{
	unsigned long below = n > 1 ? lab_deep(n - 1) : 0;

	barrier();
	return below * 3 + n;
}

static noipa void lab_leaf(void)
{
	lab_leaves++;
}

static noipa void lab_loop(unsigned long n)
{
	u64 begin = sched_clock();

	for (unsigned long i = 0; i < n; i++)
		lab_leaf();
	lab_ns = sched_clock() - begin;
}

/* ---- Users */

static notrace void lab_note_regs(struct seen *seen, struct ftrace_ops *ops, struct pt_regs *regs)
{
	memcpy(seen->words, regs, sizeof(*regs));
	seen->odd = user_mode(regs) || !interrupts_enabled(regs);
	if (lab_word < WORDS)
		((unsigned long *)regs)[lab_word] += lab_delta;
	if (lab_replaces && (ops->flags & FTRACE_OPS_FL_IPMODIFY))
		instruction_pointer_set(regs, (unsigned long)lab_other);
}

static __always_inline void lab_note(struct lab_user *user, unsigned long ip, unsigned long parent_ip,
				     struct ftrace_regs *fregs, struct pt_regs *regs)
{
	struct seen *seen = &user->seen;

	seen->calls++;
	seen->ip = ip;
	seen->parent = parent_ip;
	seen->misaligned = (unsigned long)__builtin_frame_address(0) & 15;
	seen->pc = fregs->pc;
	seen->slot = *ftrace_regs_return_slot(fregs);
	seen->sp = ftrace_regs_sp(fregs);
	for (unsigned i = FTRACE_REGS_ARGS; i-- > 0;)
		seen->args[i] = ftrace_regs_argument(fregs, i);
	seen->n = stack_trace_save(seen->walk, MOST, 0);
	seen->regs = regs;
	if (regs)
		lab_note_regs(seen, &user->ops, regs);
	lab_spoil();
	barrier();
}

static notrace void lab_straight(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *unused,
				 struct ftrace_regs *fregs)
{
	lab_note(&lab_users[0], ip, parent_ip, fregs, NULL);
}

/* By way of C: what is handed over as user is this one. */
static notrace void lab_user(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	lab_note(op->private, ip, parent_ip, fregs, ftrace_get_regs(fregs));
}

static notrace void lab_count(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *unused,
			      struct ftrace_regs *fregs)
{
	lab_light++;
}

static int lab_on(unsigned n, u32 flags, char *glob, ftrace_func_t straight)
{
	struct lab_user *user = &lab_users[n];
	int ret;

	if (n >= NR_USERS || !glob)
		return -EINVAL;
	memset(&user->seen, 0, sizeof(user->seen));
	user->ops = (struct ftrace_ops){.func = n ? lab_user : straight, .name = "lab", .private = user};
	user->ops.flags = FTRACE_OPS_FL_RECURSION | (n ? flags : FTRACE_OPS_FL_CORE);
	user->ops.hooked_func = n ? NULL : straight;
	ret = ftrace_set_filter(&user->ops, (unsigned char *)glob, strlen(glob), 1);
	return ret ?: register_ftrace_function(&user->ops);
}

static int lab_off(unsigned n)
{
	int ret = n < NR_USERS ? unregister_ftrace_function(&lab_users[n].ops) : -EINVAL;

	if (!ret)
		ftrace_free_filter(&lab_users[n].ops);
	return ret;
}

/* ---- The file */

static void lab_do_probe(void)
{
	for (unsigned i = 0; i < NR_REGS; i++)
		lab_in[i] = lab_next();
	lab_nr_truth = stack_trace_save(lab_truth, MOST, 0);
	lab_probe_with(lab_in);
}

static void lab_do_pairs(unsigned long n)
{
	lab_result = 0;
	for (unsigned long i = 0; i < n; i++) {
		struct lab_two two = lab_pair(lab_next());

		lab_result = (lab_result * 33 + two.a) * 33 + two.b;
	}
}

static int lab_do(const char *what, unsigned long first, unsigned long second, char *glob)
{
	lab_state = first;
	if (!strcmp(what, "on"))
		return lab_on(first, second, glob, lab_straight);
	if (!strcmp(what, "off"))
		return lab_off(first);
	if (!strcmp(what, "light"))
		return lab_on(0, 0, glob, lab_count);
	if (!strcmp(what, "change")) {
		lab_word = second ? first : WORDS;
		lab_delta = second;
	} else if (!strcmp(what, "replace")) {
		lab_replaces = true;
	} else if (!strcmp(what, "sum")) {
		for (unsigned i = 0; i < NR_USERS; i++)
			lab_call(i);
	} else if (!strcmp(what, "probe")) {
		lab_do_probe();
	} else if (!strcmp(what, "pair")) {
		lab_do_pairs(second);
	} else if (!strcmp(what, "deep")) {
		lab_result = lab_deep(first);
	} else if (!strcmp(what, "many")) {
		lab_loop(first);
	} else {
		return -EINVAL;
	}
	return 0;
}

static int lab_store(char *text, void *data)
{
	char *what = strsep(&text, " "), *word;
	unsigned long numbers[2] = {};

	for (unsigned i = 0; i < ARRAY_SIZE(numbers) && text; i++) {
		word = strsep(&text, " ");
		if (kstrtoul(word, 0, &numbers[i]))
			return -EINVAL;
	}
	return lab_do(what, numbers[0], numbers[1], text);
}

static void lab_show_list(struct seq_file *m, const char *what, const unsigned long *list, unsigned n)
{
	seq_printf(m, "%s:", what);
	for (unsigned i = 0; i < n; i++)
		seq_printf(m, " %lx", list[i]);
	seq_printf(m, "\n");
}

static void lab_show_user(struct seq_file *m, unsigned nr, const struct seen *seen)
{
	seq_printf(m, "user %u: calls %lu ip %lx parent %lx misaligned %lu pc %lx slot %lx sp %lx odd %d\n", nr,
		   seen->calls, seen->ip, seen->parent, seen->misaligned, seen->pc, seen->slot, seen->sp, seen->odd);
	lab_show_list(m, "args", seen->args, FTRACE_REGS_ARGS);
	lab_show_list(m, "walk", seen->walk, seen->n);
	if (seen->regs)
		lab_show_list(m, "regs", seen->words, WORDS);
}

static int lab_show(struct seq_file *m, void *data)
{
	lab_show_list(m, "sums", lab_sums, NR_USERS);
	lab_show_list(m, "returns", lab_returns, NR_USERS);
	lab_show_list(m, "after", lab_after, NR_REGS);
	lab_show_list(m, "truth", lab_truth, lab_nr_truth);
	seq_printf(m, "result: %lx\nleaves: %lu\nlight: %lu\nns: %lu\n", lab_result, lab_leaves, lab_light, lab_ns);
	for (unsigned i = 0; i < NR_USERS; i++)
		if (lab_users[i].seen.calls)
			lab_show_user(m, i, &lab_users[i].seen);
	return 0;
}

static const struct text_kind lab_kind = {.max = 512};
static const struct text_file lab_file = {
	.path = "lab/caller", .mode = 0600, .show = lab_show, .store = lab_store, .kind = &lab_kind};
REGISTER_DEBUGFS(lab_file);
