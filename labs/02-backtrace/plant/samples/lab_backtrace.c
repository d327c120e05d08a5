/*
 * What lab backtrace is graded with: chains of calls that follow from a number, and the return addresses that the
 * compiler itself gives for them, to compare with those that a walk of the stack finds. A command is written to
 * debugfs's lab/backtrace, and the file then shows what came of it, a line for each list of addresses:
 *
 *	chain SEED DEPTH SIZE SKIP	stack_trace_save() at the bottom of so many links
 *	print SEED DEPTH		show_stack() there, between two lines of the log
 *	irq SEED DEPTH			both from a timer's interrupt that comes there
 *	sleep SEED DEPTH		a thread that goes to sleep there for ever: stack_trace_save_tsk()
 *	damage KIND ADDRESS...		frame records with these return addresses behind our own, and then a bad link
 *	look ADDRESS...			sprint_symbol() of each
 *	time				ns of 1,000 lookups, of 100 walks over 10 links, and of 100 over 40
 */
#include <arch/irq.h>
#include <arch/thread.h>
#include <fs/libfs.h>
#include <irq/irq.h>
#include <irq/irqflags.h>
#include <kernel/ksyms.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/stacktrace.h>
#include <arch/stacktrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <linux/err.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/jiffies.h>

#include <asm/ptrace.h>

#define MOST	    64
#define NR_LINKS    8
#define NR_RECORDS  16
#define DECOY	    0xdec0deUL		   /* a return address that no walk may come to */
#define noipa	    __attribute__((noipa)) /* neither inlined nor changed for its callers */
#define return_to() ((unsigned long)__builtin_return_address(0))

struct lab_list {
	unsigned long at[MOST];
	unsigned n;
};

static struct lab_list got, from_regs, truth, words; /* [the grader gives one command at a time] */
static unsigned long lab_state;
static char lab_what[8];
static bool lab_ticked;
static struct hrtimer lab_timer;
static struct task_struct *lab_parked;
static u64 lab_ns[3];
static DECLARE_WAIT_QUEUE_HEAD(lab_for_ever);
static unsigned long lab_elsewhere[4] = {0, DECOY, 0, DECOY};

static void lab_note(unsigned long address)
{
	if (truth.n < MOST)
		truth.at[truth.n++] = address;
}

/* ---- What happens at the bottom of a chain */

static enum hrtimer_restart lab_tick(struct hrtimer *timer)
{
	got.n = stack_trace_save(got.at, MOST, 0);
	from_regs.n = stack_trace_save_regs(get_irq_regs(), from_regs.at, MOST);
	pr_info("lab: begin\n");
	show_stack(NULL, get_irq_regs());
	pr_info("lab: end\n");
	WRITE_ONCE(lab_ticked, true);
	return HRTIMER_NORESTART;
}

static noipa void lab_wait(void)
{
	lab_note(return_to());
	lab_ticked = false;
	preempt_disable();
	hrtimer_init(&lab_timer, lab_tick);
	hrtimer_start(&lab_timer, sched_clock() + 50000);
	while (!READ_ONCE(lab_ticked))
		;
	preempt_enable();
	barrier();
}

static noipa void lab_bottom(void)
{
	lab_note(return_to());
	switch (lab_what[0]) {
	case 'c':
		got.n = stack_trace_save(got.at, words.at[2], words.at[3]);
		break;
	case 'p':
		pr_info("lab: begin\n");
		show_stack(NULL, NULL);
		pr_info("lab: end\n");
		break;
	case 'i':
		lab_wait();
		break;
	case 's':
		wait_event(&lab_for_ever, false);
		break;
	default:
		for (unsigned i = 0; i < 100; i++)
			got.n = stack_trace_save(got.at, MOST, 0);
	}
	barrier();
}

/* ---- Chains. The name of the next link, and from where it is called, follow from lab_state. */

typedef unsigned long lab_link_t(unsigned depth);
static lab_link_t *const lab_links[NR_LINKS];

static __always_inline unsigned long lab_go_on(unsigned depth, unsigned long me)
{
	volatile unsigned char room[24 * (me + 1)];
	lab_link_t *next;
	unsigned long sum;

	room[me] = me;
	if (!depth) {
		lab_bottom();
		return room[me];
	}
	lab_state = lab_state * 6364136223846793005UL + 1442695040888963407UL;
	next = lab_links[lab_state >> 33 & (NR_LINKS - 1)];
	/* Two places of a call in each link. */
	if (lab_state >> 40 & 1)
		sum = next(depth - 1) + 3;
	else
		sum = next(depth - 1) * 5;
	return sum + room[me];
}

/* The list of the compiler's addresses begins with the innermost, so a link notes its own when it returns. */
#define LINK(n)                                                 \
	static noipa unsigned long lab_link_##n(unsigned depth) \
	{                                                       \
		unsigned long mine = return_to();               \
		unsigned long sum = lab_go_on(depth, n);        \
		lab_note(mine);                                 \
		return sum;                                     \
	}
LINK(0)
LINK(1)
LINK(2)
LINK(3)
LINK(4)
LINK(5)
LINK(6)
LINK(7)
static lab_link_t *const lab_links[NR_LINKS] = {lab_link_0, lab_link_1, lab_link_2, lab_link_3,
						lab_link_4, lab_link_5, lab_link_6, lab_link_7};

static noipa void lab_chain(unsigned long seed, unsigned depth)
{
	lab_state = seed;
	truth.n = 0;
	lab_links[seed & (NR_LINKS - 1)](depth);
	lab_note(return_to());
}

/* ---- Sleepers */

static int lab_sleeper(void *data)
{
	lab_chain(words.at[0], words.at[1]);
	return 0;
}

static int lab_park(void)
{
	lab_parked = kthread_run(lab_sleeper, NULL, "lab_sleeper");
	if (IS_ERR(lab_parked))
		return PTR_ERR(lab_parked);
	/* One that says it sleeps may be preempted before it does: it is still on its queue then. */
	while (READ_ONCE(lab_parked->on_rq) || READ_ONCE(lab_parked->on_cpu))
		msleep(1);
	got.n = stack_trace_save_tsk(lab_parked, got.at, MOST, 0);
	from_regs.n = stack_trace_save_tsk(lab_parked, from_regs.at, 5, 2);
	return 0;
}

/* ---- Damage. Our own record leads to the records in `area`, the last of them to where no walk may go. */

static unsigned long lab_bad_link(const char *kind, unsigned long *area, unsigned n)
{
	unsigned long *last = area + 4 * (n - 1), *next = area + 4 * n;
	unsigned long stack = (unsigned long)current->stack;
	unsigned long *low = (unsigned long *)(stack + 2048);
	unsigned long *irq = (unsigned long *)(this_cpu(irq_stack_end) - 512);

	next[0] = 0;
	next[1] = low[1] = irq[1] = DECOY;
	low[0] = irq[0] = 0;
	if (!strcmp(kind, "zero")) {
		last[1] = 0;
		return (unsigned long)next;
	}
	return !strcmp(kind, "self")	    ? (unsigned long)last
	       : !strcmp(kind, "back")	    ? (unsigned long)area
	       : !strcmp(kind, "near")	    ? (unsigned long)(last + 1)
	       : !strcmp(kind, "odd")	    ? (unsigned long)next + 4
	       : !strcmp(kind, "low")	    ? (unsigned long)low
	       : !strcmp(kind, "edge")	    ? stack + THREAD_SIZE - 8
	       : !strcmp(kind, "end")	    ? stack + THREAD_SIZE
	       : !strcmp(kind, "elsewhere") ? (unsigned long)lab_elsewhere
	       : !strcmp(kind, "irq")	    ? (unsigned long)irq
	       : !strcmp(kind, "user")	    ? 0x10000
	       : !strcmp(kind, "hole")	    ? 0x4141414141414140
					    : 0;
}

/* The records must lie further out than our own: in our caller's frame. */
static noipa void lab_splice(const char *kind, unsigned long *area)
{
	unsigned long *mine = __builtin_frame_address(0), old = *mine, flags;

	lab_note(return_to());
	local_irq_save(flags);
	area[4 * (words.n - 1)] = lab_bad_link(kind, area, words.n);
	WRITE_ONCE(*mine, (unsigned long)area);
	got.n = stack_trace_save(got.at, MOST, 0);
	pr_info("lab: begin\n");
	show_stack(NULL, NULL);
	pr_info("lab: end\n");
	WRITE_ONCE(*mine, old);
	local_irq_restore(flags);
}

static noipa void lab_damage(const char *kind)
{
	unsigned long area[4 * (NR_RECORDS + 2)];

	for (unsigned i = 0; i < ARRAY_SIZE(area); i++)
		area[i] = 0x5a5a5a5a5a5a5a50;
	for (unsigned i = 0; i < words.n; i++) {
		area[4 * i] = (unsigned long)(area + 4 * (i + 1));
		area[4 * i + 1] = words.at[i];
	}
	lab_splice(kind, area);
	barrier();
}

/* ---- Costs */

extern const char _stext[], _etext[];

static void lab_cost(void)
{
	unsigned long size, offset, state = 1;
	char name[KSYM_NAME_LEN];
	u64 begin = sched_clock();

	for (unsigned i = 0; i < 1000; i++) {
		state = state * 6364136223846793005UL + 1442695040888963407UL;
		kallsyms_lookup((unsigned long)_stext + (state >> 20) % (_etext - _stext), &size, &offset, name);
	}
	lab_ns[0] = sched_clock() - begin;
	for (unsigned i = 1; i < 3; i++) {
		begin = sched_clock();
		lab_chain(1, i == 1 ? 10 : 40);
		lab_ns[i] = sched_clock() - begin;
	}
}

/* ---- The file */

static int lab_store(char *text, void *data)
{
	char *kind = NULL, *word;

	strscpy(lab_what, strsep(&text, " "), sizeof(lab_what));
	if (lab_what[0] == 'd')
		kind = strsep(&text, " ");
	words.n = got.n = from_regs.n = truth.n = 0;
	while (text && (word = strsep(&text, " ")))
		if (words.n == MOST || kstrtoul(word, 0, &words.at[words.n++]))
			return -EINVAL;
	switch (lab_what[0]) {
	case 'l':
		return 0;
	case 'd':
		if (!words.n || words.n > NR_RECORDS)
			return -EINVAL;
		lab_damage(kind);
		return 0;
	case 's':
		return lab_park();
	case 't':
		lab_cost();
		return 0;
	}
	lab_chain(words.at[0], words.at[1]);
	return 0;
}

static void lab_show_list(struct seq_file *m, const char *what, const struct lab_list *list)
{
	seq_printf(m, "%s:", what);
	for (unsigned i = 0; i < list->n; i++)
		seq_printf(m, " %lx", list->at[i]);
	seq_printf(m, "\n");
}

static int lab_show(struct seq_file *m, void *data)
{
	char text[KSYM_SYMBOL_LEN];

	if (lab_what[0] == 'l')
		for (unsigned i = 0; i < words.n; i++) {
			sprint_symbol(text, words.at[i]);
			seq_printf(m, "symbol: %lx %s\n", words.at[i], text);
		}
	lab_show_list(m, "got", &got);
	lab_show_list(m, "regs", &from_regs);
	lab_show_list(m, "truth", &truth);
	if (lab_parked)
		seq_printf(m, "parked: %lx %lx %lx\n", arch_task_pc(lab_parked), arch_task_fp(lab_parked),
			   (unsigned long)lab_parked->stack + THREAD_SIZE);
	seq_printf(m, "ns: %lu %lu %lu\n", lab_ns[0], lab_ns[1], lab_ns[2]);
	return 0;
}

static const struct text_kind lab_kind = {.max = 2048};
static const struct text_file lab_file = {
	.path = "lab/backtrace", .mode = 0600, .show = lab_show, .store = lab_store, .kind = &lab_kind};
REGISTER_DEBUGFS(lab_file);
