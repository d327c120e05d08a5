/*
 * What osnoise and timerlat share: the arrays that get their records, the threads (one for each CPU), and the changes
 * of both while they run.
 *
 * Linux lets several instances select the same one of these two tracers, and its tool rtla uses that: it makes an
 * instance for the records and another one for events. The work is done once, for all of them:
 *
 *	noise_arrays      which arrays get the records: those that have the tracer and have not stopped it
 *	noise_running     the workload whose threads run and whose probes are registered; NULL: the list is empty
 *
 * Locks: trace_types_lock for all changes. The list is read with preemption off, by threads and by timers' interrupts;
 * an array that leaves it waits by synchronize_rcu(). A thread never takes trace_types_lock, because the task that
 * holds that may wait for the thread's end.
 */
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <sched/cpuhp.h>
#include <trace/trace_printk.h>

#include "core/aside.h"
#include "workload.h"

#define NOISE_PERIOD_DEFAULT	1000000
#define TIMERLAT_PERIOD_DEFAULT 1000

struct noise_settings noise_settings = {
	.period = NOISE_PERIOD_DEFAULT,
	.runtime = NOISE_PERIOD_DEFAULT,
	.timerlat_period = TIMERLAT_PERIOD_DEFAULT,
	.options = BIT(NOISE_OPT_WORKLOAD),
	.cpus = {.bits = {[0 ... BITS_TO_LONGS(NR_CPUS) - 1] = ~0UL}},
};

struct noise_array {
	struct noise_array *next; /* [t, read with preemption off] */
	struct trace_array *tr;	  /* [I] */
};
static struct noise_array *noise_arrays;	   /* [t, read with preemption off] */
static const struct noise_workload *noise_running; /* [t] */
static const struct noise_workload *noise_chosen;  /* [t] that is selected, recording or not; NULL: neither */
static unsigned noise_choosers;			   /* [t] how many arrays have selected it */
static struct task_struct *noise_threads[NR_CPUS]; /* [t] */

/* ---- Records */

void noise_for_each_array(void (*fn)(struct trace_array *tr, void *data), void *data)
{
	const struct noise_array *a;

	preempt_disable();
	for (a = smp_load_acquire(&noise_arrays); a; a = smp_load_acquire(&a->next))
		fn(a->tr, data);
	preempt_enable();
}

struct noise_record_request {
	int type;
	unsigned long size;
	void (*make)(void *entry, const void *data);
	const void *data;
};

static void record_in(struct trace_array *tr, void *data)
{
	const struct noise_record_request *request = data;
	struct ring_buffer_event *event;
	void *entry = trace_reserve(tr, &event, request->type, request->size);

	if (!entry)
		return;
	request->make(entry, request->data);
	trace_commit(tr);
}

void noise_record(int type, unsigned long size, void (*make)(void *entry, const void *data), const void *data)
{
	struct noise_record_request request = {type, size, make, data};

	noise_for_each_array(record_in, &request);
}

struct noise_stop_request {
	unsigned long ip;
	const char *why;
};

static void stop_tracing_in(struct trace_array *tr, void *data)
{
	const struct noise_stop_request *request = data;

	char text[96];

	scnprintf(text, sizeof(text), "stop tracing hit on cpu %u%s\n", smp_processor_id(), request->why);
	__trace_array_puts(tr, request->ip, text);
	if (noise_option(NOISE_OPT_PANIC_ON_STOP))
		panic("tracer hit stop condition on CPU %u%s", smp_processor_id(), request->why);
	tracer_tracing_off(tr);
}

void noise_stop_tracing(unsigned long ip, const char *why)
{
	struct noise_stop_request request = {ip, why};

	noise_for_each_array(stop_tracing_in, &request);
}

static void add_tracing_is_on(struct trace_array *tr, void *any)
{
	*(bool *)any |= tracer_tracing_is_on(tr);
}

bool noise_tracing_is_on(void)
{
	bool any = false;

	noise_for_each_array(add_tracing_is_on, &any);
	return any;
}

static void raise_max_in(struct trace_array *tr, void *ns)
{
	if (tracer_tracing_is_on(tr))
		trace_max_raise(tr, *(u64 *)ns);
}

void noise_raise_max(u64 ns)
{
	noise_for_each_array(raise_max_in, &ns);
}

/* ---- Threads. trace_types_lock held. */

/*
 * Nothing is counted on a CPU whose thread has gone. A thread clears `sampling` itself where it ends; it is cleared
 * here for CPUs that had no thread (NO_OSNOISE_WORKLOAD).
 */
static void stop_thread(unsigned cpu)
{
	if (noise_threads[cpu])
		kthread_stop(noise_threads[cpu]);
	noise_threads[cpu] = NULL;
	WRITE_ONCE(per_cpu(noise_cpu, cpu).sampling, false);
}

static void stop_threads(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		stop_thread(cpu);
	if (noise_running->stopped)
		noise_running->stopped();
}

/*
 * With NO_OSNOISE_WORKLOAD there are no threads of ours: osnoise then counts what all threads do, and timerlat waits
 * for programs at timerlat_fd. 0 or -errno.
 */
static int start_thread(unsigned cpu)
{
	struct task_struct *t;

	if (!noise_option(NOISE_OPT_WORKLOAD)) {
		if (!noise_running->timerlat)
			noise_begin(&per_cpu(noise_cpu, cpu), 0);
		return 0;
	}
	t = kthread_create_on_cpu(noise_running->thread, NULL, cpu, noise_running->thread_name, cpu);
	if (IS_ERR(t))
		return PTR_ERR(t);
	noise_threads[cpu] = t;
	wake_up_process(t);
	return 0;
}

/* A thread on each CPU of osnoise/cpus that is there. 0, or -errno, and no thread runs. */
static int start_threads(void)
{
	struct cpumask cpus;
	unsigned cpu;
	int ret;

	cpumask_and(&cpus, &noise_settings.cpus, &cpu_active_mask);
	for_each_cpu(cpu, &cpus) {
		ret = start_thread(cpu);
		if (ret) {
			stop_threads();
			return ret;
		}
	}
	return 0;
}

/* A CPU comes: its thread may be there already, if the tracer has started since the CPU is active. */
static int noise_cpu_online(unsigned cpu)
{
	mutex_lock(&trace_types_lock);
	if (noise_running && cpumask_test_cpu(cpu, &noise_settings.cpus) && !noise_threads[cpu] && start_thread(cpu))
		pr_err("osnoise: cannot start the sampling thread of CPU %u\n", cpu);
	mutex_unlock(&trace_types_lock);
	return 0;
}

/* A CPU goes: a program that is measured there gets a SIGKILL, as when the tracer ends. */
static int noise_cpu_offline(unsigned cpu)
{
	mutex_lock(&trace_types_lock);
	if (noise_running)
		stop_thread(cpu);
	if (noise_chosen && noise_chosen->cpu_goes)
		noise_chosen->cpu_goes(cpu);
	mutex_unlock(&trace_types_lock);
	return 0;
}
static const struct cpuhp_step noise_step = {
	.name = "trace:noise", .stage = CPUHP_ONLINE, .up = noise_cpu_online, .down = noise_cpu_offline};
REGISTER_CPUHP(noise_step);

void noise_pause(void)
{
	if (noise_running)
		stop_threads();
	else if (noise_chosen && noise_chosen->stopped)
		noise_chosen->stopped(); /* programs at timerlat_fd are there while recording is off, too */
}

void noise_resume(void)
{
	if (noise_running && start_threads())
		pr_err("osnoise: cannot start the sampling threads\n");
}

/* The first array that records: names of tasks, probes, threads. 0 or -errno, and all is as before. */
static int start_workload(const struct noise_workload *workload)
{
	int ret = tracing_start_cmdline_record_later();

	if (ret)
		return ret;
	ret = noise_probes_register(workload->timerlat);
	if (ret)
		goto stop_names;
	noise_running = workload;
	ret = start_threads();
	if (!ret)
		return 0;
	noise_running = NULL;
	noise_probes_unregister();
stop_names:
	tracing_stop_cmdline_record();
	return ret;
}

static void stop_workload(void)
{
	stop_threads();
	noise_probes_unregister();
	tracing_stop_cmdline_record();
	noise_running = NULL;
}

/* The pointer to the array's entry, or to the NULL at the end. */
static struct noise_array **find_array(struct trace_array *tr)
{
	struct noise_array **at = &noise_arrays;

	while (*at && (*at)->tr != tr)
		at = &(*at)->next;
	return at;
}

/* The array gets records from now on; the first one starts the workload. 0 or -errno, and it gets none. */
static int join(struct trace_array *tr)
{
	struct noise_array *a = kmalloc(sizeof(*a), GFP_KERNEL);
	int ret = 0;

	if (!a)
		return -ENOMEM;
	*a = (struct noise_array){.next = noise_arrays, .tr = tr};
	smp_store_release(&noise_arrays, a);
	if (!noise_running)
		ret = start_workload(noise_chosen);
	if (ret)
		noise_stop(tr);
	return ret;
}

/* tracing_on went to 1. If stop_tracing_us had switched it off, the array has never left the list. */
void noise_start(struct trace_array *tr)
{
	if (!*find_array(tr) && join(tr))
		pr_err("osnoise: cannot start\n");
}

/* For the last array the threads are stopped before it leaves, so none of their records is lost. */
void noise_stop(struct trace_array *tr)
{
	struct noise_array **at = find_array(tr), *a = *at;

	if (!a)
		return;
	if (noise_running && !noise_arrays->next)
		stop_workload();
	WRITE_ONCE(*at, a->next);
	synchronize_rcu();
	kfree(a);
}

int noise_init(struct trace_array *tr, const struct noise_workload *workload)
{
	int ret;

	if (noise_chosen && noise_chosen != workload)
		return -EBUSY;
	noise_chosen = workload;
	noise_choosers++;
	trace_max_set_latency(tr, 0);
	ret = tracer_tracing_is_on(tr) ? join(tr) : 0;
	if (ret)
		noise_reset(tr);
	return ret;
}

void noise_reset(struct trace_array *tr)
{
	noise_stop(tr);
	if (--noise_choosers)
		return;
	if (noise_chosen->stopped)
		noise_chosen->stopped();
	noise_chosen = NULL;
}

bool noise_selected(const struct noise_workload *workload)
{
	return noise_chosen == workload;
}
