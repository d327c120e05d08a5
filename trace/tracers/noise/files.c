/*
 * The control files of osnoise and timerlat, in osnoise/. The threads read CPUs and options only when they start, so a
 * change of these ends the threads and starts others. They read the numbers again in each period.
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "param.h"
#include "workload.h"

static const u64 timerlat_period_min = 100, timerlat_period_max = 1000000;

static const struct trace_param period_param = {.value = &noise_settings.period, .min = &noise_settings.runtime};
static const struct trace_param runtime_param = {.value = &noise_settings.runtime, .max = &noise_settings.period};
static const struct trace_param stop_param = {.value = &noise_settings.stop_tracing};
static const struct trace_param stop_total_param = {.value = &noise_settings.stop_tracing_total};
static const struct trace_param timerlat_period_param = {
	.value = &noise_settings.timerlat_period, .min = &timerlat_period_min, .max = &timerlat_period_max};
static const struct trace_param print_stack_param = {.value = &noise_settings.print_stack};
TRACE_PARAM_FILE(noise_period, "osnoise/period_us", period_param);
TRACE_PARAM_FILE(noise_runtime, "osnoise/runtime_us", runtime_param);
TRACE_PARAM_FILE(noise_stop_tracing, "osnoise/stop_tracing_us", stop_param);
TRACE_PARAM_FILE(noise_stop_total, "osnoise/stop_tracing_total_us", stop_total_param);
TRACE_PARAM_FILE(timerlat_period, "osnoise/timerlat_period_us", timerlat_period_param);
TRACE_PARAM_FILE(noise_print_stack, "osnoise/print_stack", print_stack_param);
TRACEFS_TAKES(noise_period, "period_us", "a number of microseconds, osnoise/runtime_us at least");
TRACEFS_TAKES(noise_runtime, "runtime_us", "a number of microseconds, not beyond osnoise/period_us");
TRACEFS_TAKES(noise_stop_tracing, "stop_tracing_us", "a number of microseconds; 0: nothing stops recording");
TRACEFS_TAKES(noise_stop_total, "stop_tracing_total_us", "a number of microseconds; 0: nothing stops recording");
TRACEFS_TAKES(timerlat_period, "timerlat_period_us", "a number of microseconds, 100 to 1000000");
TRACEFS_TAKES(noise_print_stack, "print_stack", "a number of microseconds; 0: no stacks");

/* ---- osnoise/cpus: a list, "0-2,5" */

/* One range of the list, without a blank between its numbers. */
static void show_range(struct seq_file *m, unsigned first, unsigned last, bool more)
{
	seq_printf(m, more ? ",%u" : "%u", first);
	if (last > first)
		seq_printf(m, "-%u", last);
}

/* The CPUs as ranges, "0-2,5", with an empty line for no CPU. */
static int noise_cpus_show(struct seq_file *m, void *data)
{
	const struct cpumask *cpus = &noise_settings.cpus;
	bool more = false;
	unsigned first, end;

	mutex_lock(&trace_types_lock);
	for (first = cpumask_first(cpus); first < nr_cpu_ids; first = cpumask_next(end, cpus)) {
		for (end = first + 1; end < nr_cpu_ids && cpumask_test_cpu(end, cpus);)
			end++;
		show_range(m, first, end - 1, more);
		more = true;
	}
	mutex_unlock(&trace_types_lock);
	seq_putc(m, '\n');
	return 0;
}

/* A number at *at, which moves behind it. -EINVAL: there is none; -ERANGE: there is no such CPU. */
static int parse_cpu(char **at)
{
	unsigned cpu = 0;

	if (!isdigit(**at))
		return -EINVAL;
	for (; isdigit(**at); (*at)++)
		cpu = min(cpu * 10 + (**at - '0'), 10U * NR_CPUS);
	return cpu < nr_cpu_ids ? (int)cpu : -ERANGE;
}

/* "n" or "n-m" at *at, added to *cpus. 0, or an error as above; -EINVAL also for 3-1. */
static int parse_range(char **at, struct cpumask *cpus)
{
	int first = parse_cpu(at), last = first;

	if (first < 0)
		return first;
	if (**at == '-') {
		++*at;
		last = parse_cpu(at);
	}
	if (last < first)
		return last < 0 ? last : -EINVAL;
	while (first <= last)
		cpumask_set_cpu(first++, cpus);
	return 0;
}

/* Ranges between commas and blanks. An empty list is good: no CPU. */
static int parse_list(char *text, struct cpumask *cpus)
{
	int ret = 0;

	while (!ret) {
		while (*text == ',' || isspace(*text))
			text++;
		if (!*text)
			break;
		ret = parse_range(&text, cpus);
		if (!ret && *text && *text != ',' && !isspace(*text))
			ret = -EINVAL;
	}
	return ret;
}

static int noise_cpus_store(char *text, void *data)
{
	struct cpumask cpus = {};
	int ret = parse_list(text, &cpus);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	noise_pause();
	noise_settings.cpus = cpus;
	noise_resume();
	mutex_unlock(&trace_types_lock);
	return 0;
}
TRACEFS_TEXT_FILE(noise_cpus, "osnoise/cpus", 0640, TRACEFS_TOP, noise_cpus_show, noise_cpus_store);
TRACEFS_TAKES(noise_cpus, "cpus", "a list of CPUs that this machine has, such as 0-2,5");

/* ---- osnoise/options */

static const char *const option_names[NOISE_OPTIONS] = {
	[NOISE_OPT_DEFAULTS] = "DEFAULTS",
	[NOISE_OPT_WORKLOAD] = "OSNOISE_WORKLOAD",
	[NOISE_OPT_PANIC_ON_STOP] = "PANIC_ON_STOP",
	[NOISE_OPT_PREEMPT_DISABLE] = "OSNOISE_PREEMPT_DISABLE",
	[NOISE_OPT_IRQ_DISABLE] = "OSNOISE_IRQ_DISABLE",
};
#define OPTIONS_AT_BOOT BIT(NOISE_OPT_WORKLOAD)

/* One line, each name with a blank behind it, as in Linux. */
static int noise_options_show(struct seq_file *m, void *data)
{
	unsigned long options = READ_ONCE(noise_settings.options);

	for (unsigned i = 0; i < NOISE_OPTIONS; i++) {
		bool on = i == NOISE_OPT_DEFAULTS ? options == OPTIONS_AT_BOOT : options & BIT(i);

		seq_printf(m, on ? "%s " : "NO_%s ", option_names[i]);
	}
	seq_putc(m, '\n');
	return 0;
}

/* *options: what all options are when `option` is switched. -EINVAL: NO_DEFAULTS, which means nothing. [t] */
static int switched(enum noise_option option, bool on, unsigned long *options)
{
	if (option == NOISE_OPT_DEFAULTS) {
		*options = OPTIONS_AT_BOOT;
		return on ? 0 : -EINVAL;
	}
	*options = on ? noise_settings.options | BIT(option) : noise_settings.options & ~BIT(option);
	return 0;
}

/* One option, or NO_ and one. -EINVAL: there is no such option, or NO_DEFAULTS. */
static int noise_options_store(char *text, void *data)
{
	bool on = strncmp(text, "NO_", 3);
	enum noise_option option = 0;
	unsigned long options;
	int ret;

	text += on ? 0 : 3;
	while (option < NOISE_OPTIONS && strcmp(text, option_names[option]))
		option++;
	if (option == NOISE_OPTIONS)
		return -EINVAL;
	mutex_lock(&trace_types_lock);
	ret = switched(option, on, &options);
	if (!ret) {
		noise_pause();
		WRITE_ONCE(noise_settings.options, options);
		noise_resume();
	}
	mutex_unlock(&trace_types_lock);
	return ret;
}
TRACEFS_TEXT_FILE(noise_options, "osnoise/options", 0640, TRACEFS_TOP, noise_options_show, noise_options_store);
TRACEFS_TAKES(noise_options, "options", "an option of osnoise/options, or NO_ and one");
