/*
 * The timerlat tracer: how late a timer's interrupt comes, and how late the thread that it wakes.
 *
 * A thread on each CPU of osnoise/cpus, SCHED_FIFO 95, sleeps until the next multiple of timerlat_period_us. Each
 * period makes two lines, which measure from the moment that was asked for:
 *
 *	#5  context    irq timer_latency   1786752 ns	in the timer's interrupt
 *	#5  context thread timer_latency   1999904 ns	in the thread, when it runs
 *
 * With the option NO_OSNOISE_WORKLOAD a program takes the thread's place: it opens osnoise/per_cpu/cpuN/timerlat_fd,
 * on that CPU alone, and each read() waits for the next period. When it comes back to read() there is a third line,
 * "user-ret".
 *
 * Each of them, thread or program, has a struct timerlat of its own. The timer's interrupt, the sleeper and the task
 * that ends the tracer meet there:
 *
 *	fired		the interrupt says so before it wakes; the sleeper sleeps until then, or its end
 *	detached	a program's: the tracer has ended. Nothing is recorded any more, and the program gets a SIGKILL
 *
 * The events osnoise:* tell what delayed the thread between the two lines (interference.c).
 */
#include <kernel/stacktrace.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include "core/aside.h"
#include "output/iter.h"
#include "tracefs/tracefs.h"
#include "workload.h"

#define TIMERLAT_PRIORITY 95
#define TIMERLAT_STACK	  32 /* frames of print_stack */

enum timerlat_context {
	TIMERLAT_IRQ,
	TIMERLAT_THREAD,
	TIMERLAT_USER_RET,
};

/*
 * One thread or program that is measured. Locks: s only the sleeper; i its timer's interrupt, and the sleeper once that
 * has fired; a any context; t trace_types_lock; I immutable.
 */
struct timerlat {
	struct hrtimer timer;
	struct task_struct *thread;	       /* [I] the sleeper; a program's task is referenced */
	int cpu;			       /* [I] */
	u64 abs_period;			       /* [s, i] ns, when the timer was to fire */
	unsigned seqnum;		       /* [i] */
	bool fired;			       /* [a] */
	bool begun;			       /* [s] a program has read once */
	bool detached;			       /* [t, a] */
	unsigned nr_callers;		       /* [i] */
	unsigned long callers[TIMERLAT_STACK]; /* [i] of the interrupt */
};
static struct timerlat *timerlat_users[NR_CPUS]; /* [t] programs that have a timerlat_fd open */

/* ---- Records */

struct timerlat_sample {
	unsigned seqnum;
	enum timerlat_context context;
	u64 latency;
};

static void make_timerlat_entry(void *to, const void *data)
{
	const struct timerlat_sample *s = data;
	struct timerlat_entry *entry = to;

	entry->seqnum = s->seqnum;
	entry->context = s->context;
	entry->timer_latency = s->latency;
}

static void timerlat_record(const struct timerlat *t, enum timerlat_context context, u64 latency)
{
	struct timerlat_sample s = {t->seqnum, context, latency};

	noise_record(TRACE_TIMERLAT, sizeof(struct timerlat_entry), make_timerlat_entry, &s);
}

static void make_stack(void *to, const void *data)
{
	const struct timerlat *t = data;
	struct stack_entry *entry = to;

	entry->size = t->nr_callers;
	memcpy(entry->caller, t->callers, t->nr_callers * sizeof(t->callers[0]));
}

/* The stack that the interrupt found, when the latency is as long as print_stack asks for. */
static void timerlat_print_stack(const struct timerlat *t, u64 latency)
{
	u64 wanted = READ_ONCE(noise_settings.print_stack);

	if (wanted && latency / NSEC_PER_USEC >= wanted && t->nr_callers)
		noise_record(TRACE_STACK, sizeof(struct stack_entry) + t->nr_callers * sizeof(t->callers[0]),
			     make_stack, t);
}

/* Is the latency as long as the one of the two settings that belongs to this context? */
static bool timerlat_too_long(const u64 *setting, u64 latency)
{
	u64 us = READ_ONCE(*setting);

	return us && latency / NSEC_PER_USEC >= us;
}

/* ---- The period */

/*
 * The timer's interrupt, on the sleeper's CPU, interrupts off. When stop_tracing_us is not beyond print_stack, the
 * thread would come too late to print the stack, so it is printed here.
 */
static enum hrtimer_restart timerlat_irq(struct hrtimer *timer)
{
	struct timerlat *t = timer->data;
	u64 latency = sched_clock() - t->abs_period;

	if (READ_ONCE(t->detached))
		return HRTIMER_NORESTART;
	noise_timer_fired(this_cpu_ptr(&noise_cpu));
	t->seqnum++;
	timerlat_record(t, TIMERLAT_IRQ, latency);
	if (READ_ONCE(noise_settings.print_stack))
		t->nr_callers = stack_trace_save(t->callers, TIMERLAT_STACK, 0);
	if (timerlat_too_long(&noise_settings.stop_tracing, latency)) {
		if (READ_ONCE(noise_settings.stop_tracing) <= READ_ONCE(noise_settings.print_stack))
			timerlat_print_stack(t, latency);
		noise_raise_max(latency);
		noise_stop_tracing((unsigned long)timerlat_irq, "");
	}
	smp_store_release(&t->fired, true);
	wake_up_process(t->thread);
	return HRTIMER_NORESTART;
}

/* May it go on sleeping? Not if it is a thread that must stop, or a program that has a signal. */
static bool timerlat_waits(const struct timerlat *t)
{
	if (smp_load_acquire(&t->fired) || READ_ONCE(t->detached))
		return false;
	return current->flags & PF_KTHREAD ? !kthread_should_stop() : !signal_pending(current);
}

/*
 * Sleep until the next period that is still to come; periods that are over are left out. No class of tasks comes before
 * the thread's, so a thread that takes longer than its period would leave the CPU to nobody: it also leaves out periods
 * that would give it less rest than a sixteenth of the time that it has taken. The state is set before each look, so no
 * wake-up is lost. False: the wait was ended before the timer fired.
 */
static bool timerlat_wait(struct timerlat *t)
{
	u64 period = READ_ONCE(noise_settings.timerlat_period) * NSEC_PER_USEC, now = sched_clock();
	u64 least = now + (now - t->abs_period) / 16;

	t->abs_period += period;
	if (t->abs_period < least)
		t->abs_period += (least - t->abs_period + period - 1) / period * period;
	t->fired = false;
	hrtimer_start(&t->timer, t->abs_period);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!timerlat_waits(t))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	hrtimer_cancel(&t->timer);
	return t->fired;
}

static void timerlat_setup(struct timerlat *t)
{
	t->thread = current;
	hrtimer_init(&t->timer, timerlat_irq);
	t->timer.data = t;
}

/*
 * From here on all that takes this CPU from the current task is counted. Not if the tracer or the CPU has ended it
 * (timerlat_kill), nor on another CPU, to which a program may have been moved since it was looked at.
 */
static void timerlat_begin(struct timerlat *t)
{
	local_irq_disable();
	if (!READ_ONCE(t->detached) && t->cpu == (int)smp_processor_id())
		noise_begin(this_cpu_ptr(&noise_cpu), current->pid);
	local_irq_enable();
	t->abs_period = sched_clock();
}

/* The thread, or the program, runs: record how late it is. Returns that latency in ns. */
static u64 timerlat_arrived(struct timerlat *t, enum timerlat_context context)
{
	u64 latency = sched_clock() - t->abs_period;

	timerlat_record(t, context, latency);
	noise_raise_max(latency);
	return latency;
}

/* timerlat/N. `t` lies on the stack, which is safe: each wait cancels the timer, so none is left at the end. */
static int timerlat_main(void *unused)
{
	struct timerlat t = {.cpu = smp_processor_id()};
	u64 latency;

	sched_set_fifo_priority(current, TIMERLAT_PRIORITY);
	timerlat_setup(&t);
	timerlat_begin(&t);
	while (timerlat_wait(&t)) {
		latency = timerlat_arrived(&t, TIMERLAT_THREAD);
		timerlat_print_stack(&t, latency);
		WRITE_ONCE(this_cpu_ptr(&noise_cpu)->timer_fired, false);
		if (timerlat_too_long(&noise_settings.stop_tracing_total, latency))
			noise_stop_tracing((unsigned long)timerlat_main, "");
	}
	WRITE_ONCE(this_cpu_ptr(&noise_cpu)->sampling, false);
	return 0;
}

/* ---- Programs */

/*
 * The tracer has ended, or its settings change: the programs end, as nothing else would make them close the file. One
 * of them may be in timerlat_begin() and have seen that it is not detached: it has interrupts off there, so it is out
 * of it after a grace period.
 */
static void timerlat_kill(const struct cpumask *cpus)
{
	struct cpumask killed = {};
	unsigned cpu;

	for_each_cpu(cpu, cpus) {
		struct timerlat *t = timerlat_users[cpu];

		if (!t)
			continue;
		timerlat_users[cpu] = NULL;
		WRITE_ONCE(t->detached, true);
		send_sig(SIGKILL, t->thread, 1);
		cpumask_set_cpu(cpu, &killed);
	}
	if (cpumask_empty(&killed))
		return;
	synchronize_rcu();
	for_each_cpu(cpu, &killed)
		WRITE_ONCE(per_cpu(noise_cpu, cpu).sampling, false);
}

static void timerlat_kill_users(void)
{
	timerlat_kill(&cpu_possible_mask);
}

static void timerlat_cpu_goes(unsigned cpu)
{
	timerlat_kill(&cpu_bit_masks[cpu]);
}

static const struct noise_workload timerlat_workload = {
	.timerlat = true,
	.thread_name = "timerlat/%u",
	.thread = timerlat_main,
	.stopped = timerlat_kill_users,
	.cpu_goes = timerlat_cpu_goes,
};

/* 0, or an error of timerlat_fd_open(). A task that may run on one CPU only is asked for its CPU. [t] */
static int timerlat_may_open(int cpu)
{
	if (!noise_selected(&timerlat_workload) || noise_option(NOISE_OPT_WORKLOAD))
		return -EINVAL;
	if (timerlat_users[cpu])
		return -EBUSY;
	if (current->nr_cpus_allowed > 1 || cpu != (int)smp_processor_id())
		return -EPERM;
	/* On a CPU that is leaving, timerlat_cpu_goes() may be over already. */
	return cpumask_test_cpu(cpu, &cpu_active_mask) ? 0 : -EINVAL;
}

/*
 * 0; -EINVAL: timerlat is not selected, or has threads of its own, or the CPU is leaving; -EBUSY: a program has this
 * file open; -EPERM: the caller may run elsewhere than on this file's CPU; -ENOMEM.
 */
static int timerlat_fd_open(struct inode *inode, struct file *file)
{
	struct timerlat *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int ret;

	if (!t)
		return -ENOMEM;
	t->cpu = trace_file_cpu(inode->i_private);
	timerlat_setup(t);
	mutex_lock(&trace_types_lock);
	ret = timerlat_may_open(t->cpu);
	if (!ret) {
		get_task_struct(current);
		timerlat_users[t->cpu] = t;
		file->private_data = t;
	}
	mutex_unlock(&trace_types_lock);
	if (ret)
		kfree(t);
	return ret;
}

/* The program has come back from its work in the period. Before the first read there was no such work. */
static void timerlat_user_returns(struct timerlat *t)
{
	u64 latency;

	if (!t->begun) {
		t->begun = true;
		timerlat_begin(t);
		return;
	}
	latency = timerlat_arrived(t, TIMERLAT_USER_RET);
	WRITE_ONCE(this_cpu_ptr(&noise_cpu)->timer_fired, false);
	if (timerlat_too_long(&noise_settings.stop_tracing_total, latency))
		noise_stop_tracing((unsigned long)timerlat_fd_open, "");
}

/*
 * Waits for the next period. 0, also when a signal came first; -EINTR: the tracer has ended; -EINVAL: the caller is not
 * the task that has opened the file, or it may run elsewhere than on the file's CPU. The latter ends recording as well,
 * since what was counted for it means nothing.
 */
static ssize_t timerlat_fd_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct timerlat *t = file->private_data;
	u64 latency;

	if (current != t->thread)
		return -EINVAL;
	if (READ_ONCE(t->detached))
		return -EINTR;
	if (current->nr_cpus_allowed > 1 || t->cpu != (int)smp_processor_id()) {
		noise_stop_tracing((unsigned long)timerlat_fd_read, " due to exception: timerlat user-thread migrated");
		return -EINVAL;
	}
	timerlat_user_returns(t);
	if (!timerlat_wait(t))
		return 0;
	latency = timerlat_arrived(t, TIMERLAT_THREAD);
	if (timerlat_too_long(&noise_settings.stop_tracing_total, latency)) {
		timerlat_print_stack(t, latency);
		noise_stop_tracing((unsigned long)timerlat_fd_read, "");
	}
	return 0;
}

/* Closed, or the program has died. The timer is off: each wait cancels it. */
static int timerlat_fd_release(struct inode *inode, struct file *file)
{
	struct timerlat *t = file->private_data;

	mutex_lock(&trace_types_lock);
	if (timerlat_users[t->cpu] == t) {
		timerlat_users[t->cpu] = NULL;
		WRITE_ONCE(per_cpu(noise_cpu, t->cpu).sampling, false);
	}
	mutex_unlock(&trace_types_lock);
	put_task_struct(t->thread);
	kfree(t);
	return 0;
}

static const struct file_operations timerlat_fd_fops = {
	.open = timerlat_fd_open,
	.read = timerlat_fd_read,
	.release = timerlat_fd_release,
	.llseek = noop_llseek,
};
static const struct text_file timerlat_fd_file = {.path = "timerlat_fd", .mode = 0440, .fop = &timerlat_fd_fops};

/* In the top directory alone: osnoise/per_cpu/cpuN/timerlat_fd. 0 or -errno. */
static int timerlat_make_files(struct trace_array *tr)
{
	char dir[40];
	unsigned cpu;
	int ret = 0;

	if (!trace_array_is_top(tr))
		return 0;
	for_each_possible_cpu(cpu) {
		scnprintf(dir, sizeof(dir), "osnoise/per_cpu/cpu%u/", cpu);
		if (!ret)
			ret = text_file_create_in(tr->dir, dir, &timerlat_fd_file, &tr->files[cpu], 0750);
	}
	return ret;
}
static const struct trace_part timerlat_part = {.make_files = timerlat_make_files};
REGISTER_TRACE_PART(timerlat_part);

/* ---- The tracer and its text */

/* 0, -EBUSY: osnoise is selected in another array, -ENOMEM. */
static int timerlat_init(struct trace_array *tr)
{
	return noise_init(tr, &timerlat_workload);
}

static void timerlat_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	seq_puts(s, "#                                _-----=> irqs-off\n"
		    "#                               / _----=> need-resched\n"
		    "#                              | / _---=> hardirq/softirq\n"
		    "#                              || / _--=> preempt-depth\n"
		    "#                              ||| / _-=> migrate-disable\n"
		    "#                              |||| /     delay\n"
		    "#                              |||||            ACTIVATION\n"
		    "#           TASK-PID      CPU# |||||   TIMESTAMP   ID      "
		    "      CONTEXT                 LATENCY\n"
		    "#              | |         |   |||||      |         |      "
		    "            |                       |\n");
}

static const struct tracer timerlat_tracer = {
	.name = "timerlat",
	.init = timerlat_init,
	.busy = "another array has osnoise, and only one of the two runs at a time",
	.reset = noise_reset,
	.start = noise_start,
	.stop = noise_stop,
	.print_header = timerlat_print_header,
	.allow_instances = true,
	.finds_noise = true,
};
REGISTER_TRACER(timerlat_tracer);

static void timerlat_text(struct seq_file *s, struct trace_iterator *iter)
{
	static const char *const contexts[] = {"irq", "thread", "user-ret"};
	const struct timerlat_entry *field = (const void *)iter->ent;

	seq_printf(s, "#%-5u context %6s timer_latency %9llu ns\n", field->seqnum,
		   (unsigned)field->context < ARRAY_SIZE(contexts) ? contexts[field->context] : "?",
		   (unsigned long long)field->timer_latency);
}

static void timerlat_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct timerlat_entry *field = (const void *)iter->ent;

	seq_printf(s, "%u %d %llu\n", field->seqnum, field->context, (unsigned long long)field->timer_latency);
}

static const struct trace_event timerlat_event = {.type = TRACE_TIMERLAT, .trace = timerlat_text, .raw = timerlat_raw};
REGISTER_TRACE_EVENT(timerlat_event);
