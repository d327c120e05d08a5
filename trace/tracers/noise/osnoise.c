/*
 * The osnoise tracer: how much of a CPU a thread that never sleeps gets, and what takes the rest.
 *
 * A thread on each CPU of osnoise/cpus reads the clock in a loop for runtime_us of each period_us, with interrupts and
 * preemption on. Two readings that are tracing_thresh or more apart (us; 1 when it is 0) are noise. At the end of a
 * sample a line says how much it was, the longest one, and how often each kind of context came:
 *
 *	RUNTIME IN US, NOISE IN US, % OF CPU AVAILABLE, MAX SINGLE NOISE IN US, HW NMI IRQ SIRQ THREAD
 *
 * HW counts noise in which nothing of these was seen: the machine itself was away. The events osnoise:* tell each case;
 * interference.c makes them.
 */
#include <lib/printf.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/events/osnoise.h>

#include "core/aside.h"
#include "output/iter.h"
#include "param.h"
#include "workload.h"

#define NOISE_THRESH_DEFAULT NSEC_PER_USEC

/* What one sample found; times in ns. */
struct osnoise_sample {
	u64 runtime, noise, max_sample;
	unsigned hw_count, count[NOISE_KINDS];
};

static void make_osnoise_entry(void *to, const void *data)
{
	const struct osnoise_sample *s = data;
	struct osnoise_entry *entry = to;

	entry->noise = s->noise / NSEC_PER_USEC;
	entry->runtime = s->runtime / NSEC_PER_USEC;
	entry->max_sample = s->max_sample / NSEC_PER_USEC;
	entry->hw_count = s->hw_count;
	entry->nmi_count = s->count[NOISE_NMI];
	entry->irq_count = s->count[NOISE_IRQ];
	entry->softirq_count = s->count[NOISE_SOFTIRQ];
	entry->thread_count = s->count[NOISE_THREAD];
}

static void run_osnoise(void);

/* Two readings of the clock were `noise` ns apart, with so many interruptions in between. */
static void note_noise(struct osnoise_sample *s, u64 from, u64 noise, u32 interruptions)
{
	u64 stop = trace_param_ns(READ_ONCE(noise_settings.stop_tracing));

	s->max_sample = max(s->max_sample, noise);
	s->noise += noise;
	s->hw_count += !interruptions;
	trace_sample_threshold(from, noise, interruptions);
	if (stop && noise > stop) {
		noise_raise_max(noise);
		noise_stop_tracing((unsigned long)run_osnoise, "");
	}
}

/*
 * The measuring loop, which runs on its CPU; interrupts and preemption are as the options say. The time that it takes
 * to note a gap is no noise, so the next step begins after it, unless something came in meanwhile.
 */
static void noinline run_osnoise_loop(struct noise_cpu *here, struct osnoise_sample *s)
{
	u64 runtime = trace_param_ns(READ_ONCE(noise_settings.runtime));
	u64 thresh = READ_ONCE(tracing_thresh) ?: NOISE_THRESH_DEFAULT;
	u32 last_count, count;
	u64 last, now, start;

	start = last = noise_clock(here, &last_count);
	do {
		now = noise_clock(here, &count);
		if (now - last >= thresh) {
			note_noise(s, last, now - last, count - last_count);
			last = noise_clock(here, &last_count);
			if (last_count == count)
				continue;
		}
		last = now;
		last_count = count;
	} while (now - start < runtime && !kthread_should_stop());
	s->runtime = now - start;
}

/*
 * The options OSNOISE_IRQ_DISABLE and OSNOISE_PREEMPT_DISABLE: what can still come in then is the machine, NMIs, and
 * with the second one interrupts. `sampling` is last and first, so that the probes of this CPU count exactly what comes
 * in between; the counts are of this sample alone.
 */
static void run_osnoise(void)
{
	bool irqs_off = noise_option(NOISE_OPT_IRQ_DISABLE);
	bool preempt_off = !irqs_off && noise_option(NOISE_OPT_PREEMPT_DISABLE);
	struct noise_cpu *here = this_cpu_ptr(&noise_cpu);
	struct osnoise_sample s = {};
	u64 total = trace_param_ns(READ_ONCE(noise_settings.stop_tracing_total));

	if (irqs_off)
		local_irq_disable();
	if (preempt_off)
		preempt_disable();
	for (unsigned kind = 0; kind < NOISE_KINDS; kind++)
		here->of[kind].count = 0;
	noise_begin(here, current->pid);
	barrier();
	run_osnoise_loop(here, &s);
	barrier();
	WRITE_ONCE(here->sampling, false);
	if (preempt_off)
		preempt_enable();
	if (irqs_off)
		local_irq_enable();
	for (unsigned kind = 0; kind < NOISE_KINDS; kind++)
		s.count[kind] = here->of[kind].count;
	noise_record(TRACE_OSNOISE, sizeof(struct osnoise_entry), make_osnoise_entry, &s);
	noise_raise_max(s.max_sample);
	if (total && s.noise > total)
		noise_stop_tracing((unsigned long)run_osnoise, "");
}

/* The state is set before the question, so kthread_stop() either is seen or ends the sleep. */
static void osnoise_sleep(u64 us)
{
	if (!us)
		return;
	set_current_state(TASK_INTERRUPTIBLE);
	if (kthread_should_stop())
		__set_current_state(TASK_RUNNING);
	else
		schedule_timeout_ns(trace_param_ns(us));
}

/* osnoise/N. While recording is off everywhere, it lets its CPU alone. */
static int osnoise_main(void *unused)
{
	while (!kthread_should_stop()) {
		u64 rest = READ_ONCE(noise_settings.period);

		if (noise_tracing_is_on()) {
			run_osnoise();
			rest -= min(rest, READ_ONCE(noise_settings.runtime));
		}
		osnoise_sleep(rest);
	}
	return 0;
}

static const struct noise_workload osnoise_workload = {.thread_name = "osnoise/%u", .thread = osnoise_main};

/* 0, -EBUSY: timerlat is selected in another array, -ENOMEM. */
static int osnoise_init(struct trace_array *tr)
{
	return noise_init(tr, &osnoise_workload);
}

/* ---- Text */

/* The text is Linux's, the doubled % too. */
static void osnoise_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	seq_puts(s, "#                                _-----=> irqs-off\n"
		    "#                               / _----=> need-resched\n"
		    "#                              | / _---=> hardirq/softirq\n"
		    "#                              || / _--=> preempt-depth\n"
		    "#                              ||| / _-=> migrate-disable     "
		    "                    MAX\n"
		    "#                              |||| /     delay               "
		    "                    SINGLE      Interference counters:\n"
		    "#                              |||||               RUNTIME   "
		    "   NOISE  %% OF CPU  NOISE    +-----------------------------+\n"
		    "#           TASK-PID      CPU# |||||   TIMESTAMP    IN US    "
		    "   IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ THREAD\n"
		    "#              | |         |   |||||      |           |      "
		    "       |    |            |      |      |      |      |      |\n");
}

static const struct tracer osnoise_tracer = {
	.name = "osnoise",
	.init = osnoise_init,
	.busy = "another array has timerlat, and only one of the two runs at a time",
	.reset = noise_reset,
	.start = noise_start,
	.stop = noise_stop,
	.print_header = osnoise_print_header,
	.allow_instances = true,
	.finds_noise = true,
};
REGISTER_TRACER(osnoise_tracer);

/* The share of the CPU that was available is computed in parts of 10^7: a percentage with five digits. */
static void osnoise_text(struct seq_file *s, struct trace_iterator *iter)
{
	const struct osnoise_entry *field = (const void *)iter->ent;
	u64 available = field->runtime > field->noise ? field->runtime - field->noise : 0;
	u64 ratio = field->runtime ? available * 10000000 / field->runtime : 0;

	seq_printf(s, "%llu %10llu %3llu.%05llu %7llu %6u %6u %6u %6u %6u\n", (unsigned long long)field->runtime,
		   (unsigned long long)field->noise, (unsigned long long)ratio / 100000,
		   (unsigned long long)ratio % 100000, (unsigned long long)field->max_sample, field->hw_count,
		   field->nmi_count, field->irq_count, field->softirq_count, field->thread_count);
}

static void osnoise_raw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct osnoise_entry *field = (const void *)iter->ent;

	seq_printf(s, "%lld %llu %llu %u %u %u %u %u\n", (long long)field->runtime, (unsigned long long)field->noise,
		   (unsigned long long)field->max_sample, field->hw_count, field->nmi_count, field->irq_count,
		   field->softirq_count, field->thread_count);
}

static const struct trace_event osnoise_event = {.type = TRACE_OSNOISE, .trace = osnoise_text, .raw = osnoise_raw};
REGISTER_TRACE_EVENT(osnoise_event);
