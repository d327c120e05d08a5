/*
 * The hwlat tracer: time that a CPU lost with interrupts off, which the kernel itself cannot have taken.
 *
 * A thread turns interrupts off and reads the clock, again and again, for `width` us of every `window` us. Nothing of
 * the kernel can come in between, so two readings that are far apart mean that the machine was elsewhere: in firmware
 * (SMIs), in an NMI, or, under an emulator, that the host ran something else. A sample in which a step was longer than
 * tracing_thresh (us; 10 when it is 0) makes one line:
 *
 *	#1     inner/outer(us):  416/4055  ts:26.241134544 count:306
 *
 *	t1 = clock; t2 = clock;      inner: the longest t2 - t1
 *	again, with last t2          outer: the longest t1 - last t2
 *	count                        how often either was beyond the threshold
 *	ts                           wall clock at the first of them
 *
 * The threads are one that visits the CPUs of tracing_cpumask in turn (mode round-robin), one that the scheduler may
 * move (none), or one for each CPU (per-cpu). Times of NMIs are counted apart, where the machine has them.
 */
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/cpuhp.h>
#include <sched/stop.h>
#include <time/clock.h>
#include <trace/machine_irq.h>

#include "core/aside.h"
#include "core/record.h"
#include "output/iter.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "param.h"

#define HWLAT_THRESH_DEFAULT (10 * NSEC_PER_USEC)

enum hwlat_mode {
	HWLAT_NONE,
	HWLAT_ROUND_ROBIN,
	HWLAT_PER_CPU,
	HWLAT_MODES,
};
static const char *const hwlat_mode_names[HWLAT_MODES] = {"none", "round-robin", "per-cpu"};

/* us. [t: trace_types_lock; read without it] */
static u64 hwlat_window = 1000000, hwlat_width = 500000;
static enum hwlat_mode hwlat_mode = HWLAT_ROUND_ROBIN; /* [t; a thread may change it, see next_cpu()] */

static struct trace_array *hwlat_trace;		     /* [t] the array that has the tracer; NULL: none has */
static struct task_struct *hwlat_threads[NR_CPUS];   /* [t] in the modes with one thread that is the first */
static u64 hwlat_saved_thresh;			     /* [t] tracing_thresh before the tracer was selected */
static u64 hwlat_last_thresh = HWLAT_THRESH_DEFAULT; /* [t] tracing_thresh of the last run, for the next one */
static unsigned hwlat_seqnum;			     /* [atomic] lines of this run */

/* The time that NMIs took from the sample of this CPU. [this CPU, interrupts off] */
struct hwlat_cpu {
	bool sampling;
	unsigned nmi_count;
	u64 nmi_start, nmi_total; /* ns */
};
static DEFINE_PER_CPU(struct hwlat_cpu, hwlat_cpu);

static void hwlat_nmi_enter(void *data, unsigned cpu)
{
	struct hwlat_cpu *here = this_cpu_ptr(&hwlat_cpu);

	if (READ_ONCE(here->sampling)) {
		here->nmi_start = sched_clock();
		here->nmi_count++;
	}
}

static void hwlat_nmi_exit(void *data, unsigned cpu)
{
	struct hwlat_cpu *here = this_cpu_ptr(&hwlat_cpu);

	if (READ_ONCE(here->sampling) && here->nmi_start)
		here->nmi_total += sched_clock() - here->nmi_start;
}

static const struct tracepoint_probe hwlat_probes[] = {
	{&__tracepoint_nmi_enter, (void *)hwlat_nmi_enter},
	{&__tracepoint_nmi_exit, (void *)hwlat_nmi_exit},
};

/* The longest steps of a sample, ns. */
struct hwlat_sample {
	u64 inner, outer, first; /* first: wall clock */
	unsigned count;
};

#define SAMPLE_MAX_NS ((u64)NSEC_PER_SEC / 2)

/*
 * Read the clock for `width`, but not longer than SAMPLE_MAX_NS, so that a prompt on this CPU is answered. It ends
 * earlier when the thread is told to stop, or the CPU is. Interrupts off. The steps are compared in whole
 * microseconds, as in Linux: 10.9 us are not beyond 10.
 */
static void hwlat_take(struct hwlat_sample *s, u64 width_ns, u64 thresh_us)
{
	u64 start = sched_clock(), last = start, end = start + min(width_ns, SAMPLE_MAX_NS), t1, t2;

	*s = (struct hwlat_sample){};
	do {
		t1 = sched_clock();
		t2 = sched_clock();
		if ((t2 - t1) / NSEC_PER_USEC > thresh_us || (t1 - last) / NSEC_PER_USEC > thresh_us) {
			if (!s->count++)
				s->first = ktime_get_real_ns();
		}
		s->inner = max(s->inner, t2 - t1);
		s->outer = max(s->outer, t1 - last);
		last = t2;
	} while (t2 <= end && !kthread_should_stop() && !stop_machine_asked());
}

/* A line for a sample. The array cannot go: its tracer is reset first, and that ends this thread. */
static void hwlat_record(struct trace_array *tr, const struct hwlat_sample *s, const struct hwlat_cpu *here)
{
	unsigned seqnum = __atomic_add_fetch(&hwlat_seqnum, 1, __ATOMIC_RELAXED);
	struct ring_buffer_event *event;
	struct hwlat_entry *entry;

	preempt_disable();
	entry = trace_reserve(tr, &event, TRACE_HWLAT, sizeof(*entry));
	if (entry) {
		entry->duration = s->inner / NSEC_PER_USEC;
		entry->outer_duration = s->outer / NSEC_PER_USEC;
		entry->nmi_total_ts = here->nmi_total / NSEC_PER_USEC;
		entry->tv_sec = s->first / NSEC_PER_SEC;
		entry->tv_nsec = s->first % NSEC_PER_SEC;
		entry->nmi_count = here->nmi_count;
		entry->seqnum = seqnum;
		entry->count = s->count;
		trace_commit(tr);
	}
	preempt_enable();
	trace_max_raise(tr, max(s->inner, s->outer));
}

/* One sample on this CPU, with interrupts off. `here->sampling` is what NMIs look at, so it is first and last. */
static void hwlat_sample_once(struct trace_array *tr)
{
	struct hwlat_sample s;
	struct hwlat_cpu *here, copy;

	local_irq_disable();
	here = this_cpu_ptr(&hwlat_cpu);
	here->nmi_count = 0;
	here->nmi_start = here->nmi_total = 0;
	barrier();
	WRITE_ONCE(here->sampling, true);
	barrier();
	hwlat_take(&s, trace_param_ns(READ_ONCE(hwlat_width)), READ_ONCE(tracing_thresh) / NSEC_PER_USEC);
	barrier();
	WRITE_ONCE(here->sampling, false);
	copy = *here;
	local_irq_enable();
	if (s.count)
		hwlat_record(tr, &s, &copy);
}

/* The CPUs of tracing_cpumask that are there. False: none of them is. */
static bool hwlat_cpus(struct trace_array *tr, struct cpumask *cpus)
{
	return cpumask_and(cpus, &tr->tracing_cpumask, &cpu_active_mask);
}

/*
 * Mode round-robin: go on to the next CPU. `at` is the CPU to which this put the thread the last time. If the thread's
 * mask is another one now, a person has changed it; then it stays there, and the mode is `none` from now on, as in
 * Linux.
 */
static void hwlat_next_cpu(struct trace_array *tr, struct cpumask *at)
{
	struct cpumask cpus, now;
	unsigned cpu;

	memcpy(&now, current->cpus_mask, sizeof(now));
	if (!cpumask_equal(at, &now) || !hwlat_cpus(tr, &cpus)) {
		WRITE_ONCE(hwlat_mode, HWLAT_NONE);
		pr_info("hwlat_detector: cpumask changed while in round-robin mode, switching to mode none\n");
		return;
	}
	cpu = cpumask_next(cpumask_first(at) + 1, &cpus);
	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(&cpus);
	now = (struct cpumask){};
	cpumask_set_cpu(cpu, &now);
	if (!sched_setaffinity(current, &now))
		*at = now;
}

/*
 * Sleep until the next window: 1 ms at least, and a tenth of a sample, so that there is time for who wants to end this.
 * The state is set before the question, so kthread_stop() is seen or wakes the thread.
 */
static void hwlat_wait(void)
{
	u64 width = READ_ONCE(hwlat_width), window = max(READ_ONCE(hwlat_window), width);
	u64 least = max(min(trace_param_ns(width), SAMPLE_MAX_NS) / 10, (u64)NSEC_PER_MSEC);

	set_current_state(TASK_INTERRUPTIBLE);
	if (kthread_should_stop())
		__set_current_state(TASK_RUNNING);
	else
		schedule_timeout_ns(max_t(s64, trace_param_ns(window - width), least));
}

/* hwlatd and hwlatd/N. */
static int hwlat_thread(void *data)
{
	struct trace_array *tr = data;
	struct cpumask at;

	memcpy(&at, current->cpus_mask, sizeof(at));
	while (!kthread_should_stop()) {
		hwlat_sample_once(tr);
		hwlat_wait();
		if (READ_ONCE(hwlat_mode) == HWLAT_ROUND_ROBIN)
			hwlat_next_cpu(tr, &at);
	}
	return 0;
}

/* ---- From here on with trace_types_lock held. */

static void hwlat_stop_threads(void)
{
	for (unsigned i = 0; i < nr_cpu_ids; i++) {
		if (hwlat_threads[i])
			kthread_stop(hwlat_threads[i]);
		hwlat_threads[i] = NULL;
	}
}

/* Start a thread for `cpu`, or, in the modes that have one thread, one for the CPUs of the mask. 0 or -errno. */
static int hwlat_start_thread(struct trace_array *tr, unsigned cpu, const struct cpumask *cpus)
{
	struct task_struct *t;
	int ret = 0;

	if (hwlat_mode == HWLAT_PER_CPU)
		t = kthread_create_on_cpu(hwlat_thread, tr, cpu, "hwlatd/%u", cpu);
	else
		t = kthread_create(hwlat_thread, tr, "hwlatd");
	if (IS_ERR(t))
		return PTR_ERR(t);
	hwlat_threads[cpu] = t;
	if (hwlat_mode != HWLAT_PER_CPU)
		ret = sched_setaffinity(t, cpus);
	if (!ret) {
		wake_up_process(t);
		return 0;
	}
	hwlat_threads[cpu] = NULL;
	kthread_stop(t);
	return ret;
}

/* Start the threads of the mode: none if tracing_cpumask has no CPU that runs. 0, or -errno, and no thread runs. */
static int hwlat_start_threads(struct trace_array *tr)
{
	struct cpumask cpus, first = {};
	unsigned cpu;
	int ret = 0;

	if (!hwlat_cpus(tr, &cpus))
		return 0;
	cpumask_set_cpu(cpumask_first(&cpus), &first);
	if (hwlat_mode != HWLAT_PER_CPU)
		return hwlat_start_thread(tr, 0, hwlat_mode == HWLAT_NONE ? &cpus : &first);
	for_each_cpu(cpu, &cpus)
		if (!ret)
			ret = hwlat_start_thread(tr, cpu, NULL);
	if (ret)
		hwlat_stop_threads();
	return ret;
}

/* Threads may run already: a trigger switches recording off without stopping the tracer, and tracing_on starts it. */
static void hwlat_start(struct trace_array *tr)
{
	hwlat_stop_threads();
	if (hwlat_start_threads(tr))
		pr_err("hwlat_detector: cannot start the sampling threads\n");
}

static void hwlat_stop(struct trace_array *tr)
{
	hwlat_stop_threads();
}

/*
 * A CPU comes or goes: the threads begin again with those that are there. The one of mode round-robin would find its
 * mask changed if it was just on the CPU that goes; in mode none it may use a CPU that comes. When a trigger has
 * switched recording off, the threads still run, and all of them end: tracing_on starts them.
 */
static int hwlat_cpu_changes(unsigned cpu)
{
	mutex_lock(&trace_types_lock);
	hwlat_stop_threads();
	if (hwlat_trace && tracer_tracing_is_on(hwlat_trace))
		hwlat_start(hwlat_trace);
	mutex_unlock(&trace_types_lock);
	return 0;
}
static const struct cpuhp_step hwlat_step = {
	.name = "trace:hwlat", .stage = CPUHP_ONLINE, .up = hwlat_cpu_changes, .down = hwlat_cpu_changes};
REGISTER_CPUHP(hwlat_step);

/*
 * 0, -EBUSY: another array has the tracer, -ENOMEM. A threshold of 0 means that of the last run, 10 us at first;
 * tracing_thresh shows it meanwhile.
 */
static int hwlat_init(struct trace_array *tr)
{
	int ret;

	if (hwlat_trace)
		return -EBUSY;
	ret = tracing_start_cmdline_record_later();
	if (ret)
		return ret;
	tracepoint_switch();
	ret = tracepoint_probes_register(hwlat_probes, ARRAY_SIZE(hwlat_probes), NULL);
	if (ret)
		goto stop_names;
	hwlat_seqnum = 0;
	trace_max_set_latency(tr, 0);
	hwlat_saved_thresh = tracing_thresh;
	if (!tracing_thresh)
		trace_set_thresh(hwlat_last_thresh);
	ret = tracer_tracing_is_on(tr) ? hwlat_start_threads(tr) : 0;
	if (ret)
		goto put_back;
	hwlat_trace = tr;
	return 0;
put_back:
	trace_set_thresh(hwlat_saved_thresh);
	tracepoint_probes_unregister(hwlat_probes, ARRAY_SIZE(hwlat_probes), NULL);
stop_names:
	tracing_stop_cmdline_record();
	return ret;
}

static void hwlat_reset(struct trace_array *tr)
{
	hwlat_stop_threads();
	tracepoint_probes_unregister(hwlat_probes, ARRAY_SIZE(hwlat_probes), NULL);
	tracing_stop_cmdline_record();
	hwlat_last_thresh = tracing_thresh;
	trace_set_thresh(hwlat_saved_thresh);
	hwlat_trace = NULL;
}

static const struct tracer hwlat_tracer = {
	.name = "hwlat",
	.init = hwlat_init,
	.busy = "another array has hwlat, and only one can have it",
	.reset = hwlat_reset,
	.start = hwlat_start,
	.stop = hwlat_stop,
	.allow_instances = true,
	.finds_noise = true,
};
REGISTER_TRACER(hwlat_tracer);

/* ---- Files */

static const struct trace_param width_param = {.value = &hwlat_width, .max = &hwlat_window};
static const struct trace_param window_param = {.value = &hwlat_window, .min = &hwlat_width};
TRACE_PARAM_FILE(hwlat_width, "hwlat_detector/width", width_param);
TRACE_PARAM_FILE(hwlat_window, "hwlat_detector/window", window_param);
TRACEFS_TAKES(hwlat_width, "width", "a number of microseconds, not beyond hwlat_detector/window");
TRACEFS_TAKES(hwlat_window, "window", "a number of microseconds, hwlat_detector/width at least");

static int hwlat_mode_show(struct seq_file *m, void *data)
{
	enum hwlat_mode now = READ_ONCE(hwlat_mode);

	for (unsigned i = 0; i < HWLAT_MODES; i++)
		seq_printf(m, i == now ? "[%s] " : "%s ", hwlat_mode_names[i]);
	seq_putc(m, '\n');
	return 0;
}

/* Threads that run are replaced by those of the new mode. -EINVAL: there is no such mode. */
static int hwlat_mode_store(char *text, void *data)
{
	for (unsigned i = 0; i < HWLAT_MODES; i++) {
		if (strcmp(text, hwlat_mode_names[i]))
			continue;
		mutex_lock(&trace_types_lock);
		hwlat_stop_threads();
		WRITE_ONCE(hwlat_mode, i);
		if (hwlat_trace && tracer_tracing_is_on(hwlat_trace))
			hwlat_start(hwlat_trace);
		mutex_unlock(&trace_types_lock);
		return 0;
	}
	return -EINVAL;
}
TRACEFS_TEXT_FILE(hwlat_mode, "hwlat_detector/mode", 0640, TRACEFS_TOP, hwlat_mode_show, hwlat_mode_store);
TRACEFS_TAKES(hwlat_mode, "mode", "none, round-robin or per-cpu");

/* ---- Text */

static void hwlat_text(struct seq_file *s, struct trace_iterator *iter)
{
	const struct hwlat_entry *field = (const void *)iter->ent;

	seq_printf(s, "#%-5u inner/outer(us): %4llu/%-5llu ts:%lld.%09ld count:%d", field->seqnum,
		   (unsigned long long)field->duration, (unsigned long long)field->outer_duration,
		   (long long)field->tv_sec, field->tv_nsec, field->count);
	if (field->nmi_count)
		seq_printf(s, " nmi-total:%llu nmi-count:%u", (unsigned long long)field->nmi_total_ts,
			   field->nmi_count);
	seq_putc(s, '\n');
}

static void hwlat_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct hwlat_entry *field = (const void *)iter->ent;

	seq_printf(s, "%llu %lld %lld %09ld %u\n", (unsigned long long)field->duration,
		   (long long)field->outer_duration, (long long)field->tv_sec, field->tv_nsec, field->seqnum);
}

static const struct trace_event hwlat_event = {.type = TRACE_HWLAT, .trace = hwlat_text, .raw = hwlat_raw};
REGISTER_TRACE_EVENT(hwlat_event);
