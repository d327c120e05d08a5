/*
 * What lab irqsoff is graded with. Two files of debugfs's lab/:
 *
 *	section	Letters written to it are done by the writer's task, and reading shows when each was: "LETTER NS" a
 *		line.
 *		a b	interrupts go off, in lab_off_a() or lab_off_b()
 *		y z	and on, in lab_on_y() or lab_on_z()
 *		p P	preemption goes off (it may be nested) and on
 *		m	call lab_mark(), which the function tracer sees
 *		t T	tracing_off(), tracing_on()
 *		1 to 9	run for so many times 100 us
 *	late	1: a timer of this CPU goes off every LATE_PERIOD from now on, and it is noted by how much it was late:
 *		that is how long interrupts were off, but for the rest of a period. 0: no more. Reading shows the
 *		longest, in ns, and how often the timer went off.
 */
#include <fs/libfs.h>
#include <irq/irqflags.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/trace_boot.h>

#define NR_NOTES    256
#define LATE_PERIOD 20000

static struct {
	char what;
	u64 time;
} notes[NR_NOTES];
static unsigned nr_notes; /* the grader lets one task write at a time */

/* The barriers keep a hook at the end of a function from being a jump. What goes off is noted behind it. */
static notrace void note(char what)
{
	if (nr_notes < NR_NOTES) {
		notes[nr_notes].time = sched_clock();
		notes[nr_notes++].what = what;
	}
}

static void noinline lab_off_a(void)
{
	local_irq_disable();
	note('a');
}

static void noinline lab_off_b(void)
{
	local_irq_disable();
	note('b');
}

static void noinline lab_on_y(void)
{
	note('y');
	local_irq_enable();
	barrier();
}

static void noinline lab_on_z(void)
{
	note('z');
	local_irq_enable();
	barrier();
}

static void noinline lab_preempt_off(void)
{
	preempt_disable();
	note('p');
}

static void noinline lab_preempt_on(void)
{
	note('P');
	preempt_enable();
	barrier();
}

static void noinline lab_mark(void)
{
	note('m');
}

static notrace void run_for(unsigned tenths)
{
	u64 until = sched_clock() + tenths * 100000ULL;

	while (sched_clock() < until)
		;
}

static notrace void step(char what)
{
	if (what >= '1' && what <= '9')
		run_for(what - '0');
	else if (what == 'a')
		lab_off_a();
	else if (what == 'b')
		lab_off_b();
	else if (what == 'y')
		lab_on_y();
	else if (what == 'z')
		lab_on_z();
	else if (what == 'p')
		lab_preempt_off();
	else if (what == 'P')
		lab_preempt_on();
	else if (what == 'm')
		lab_mark();
	else if (what == 't')
		tracing_off();
	else if (what == 'T')
		tracing_on();
}

static int section_store(char *text, void *data)
{
	nr_notes = 0;
	for (; *text; text++)
		step(*text);
	return 0;
}

static int section_show(struct seq_file *m, void *data)
{
	for (unsigned i = 0; i < nr_notes; i++)
		seq_printf(m, "%c %llu\n", notes[i].what, (unsigned long long)notes[i].time);
	return 0;
}

/* ---- How late is an interrupt? */

static struct hrtimer late_timer;
static bool late_on;
static u64 late_most, late_count;

static notrace enum hrtimer_restart late_fires(struct hrtimer *timer)
{
	ktime_t now = sched_clock();

	late_most = max(late_most, (u64)(now - timer->expires));
	late_count++;
	hrtimer_forward(timer, now, LATE_PERIOD);
	return READ_ONCE(late_on) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static int late_store(char *text, void *data)
{
	if (late_on) {
		WRITE_ONCE(late_on, false);
		hrtimer_cancel(&late_timer);
	}
	if (*text != '1')
		return 0;
	late_most = late_count = 0;
	WRITE_ONCE(late_on, true);
	hrtimer_init(&late_timer, late_fires);
	hrtimer_start(&late_timer, sched_clock() + LATE_PERIOD);
	return 0;
}

static int late_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%llu %llu\n", (unsigned long long)late_most, (unsigned long long)late_count);
	return 0;
}

#define LAB_FILE(name)                                                                           \
	static const struct text_file name##_file = {                                            \
		.path = "lab/" #name, .mode = 0600, .show = name##_show, .store = name##_store}; \
	REGISTER_DEBUGFS(name##_file)

LAB_FILE(section);
LAB_FILE(late);
