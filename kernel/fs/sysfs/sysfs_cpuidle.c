/* The directories /sys/devices/system/cpu/cpuN/cpuidle/stateM: how often and how long a CPU was in an idle state. */
#include "../internal.h"

#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <lib/printf.h>
#include <sched/cpuidle.h>

/* The files' data: CPU and state as one number. */
static void *data_of(unsigned cpu, unsigned state)
{
	return (void *)(unsigned long)(cpu * CPUIDLE_STATES + state);
}

static unsigned state_of(const void *data)
{
	return (unsigned long)data % CPUIDLE_STATES;
}

static struct cpuidle_usage usage_of(const void *data)
{
	return cpuidle_usage_of((unsigned long)data / CPUIDLE_STATES, state_of(data));
}

static int name_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%s\n", cpuidle_states[state_of(data)].name);
	return 0;
}

static int desc_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%s\n", cpuidle_states[state_of(data)].desc);
	return 0;
}

static int usage_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%llu\n", (unsigned long long)usage_of(data).usage);
	return 0;
}

/* Microseconds, without the period that is under way: as on Linux. */
static int time_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%llu\n", (unsigned long long)(usage_of(data).time_ns / 1000));
	return 0;
}

static const struct text_file state_files[] = {
	{.path = "name", .mode = 0444, .show = name_show},
	{.path = "desc", .mode = 0444, .show = desc_show},
	{.path = "usage", .mode = 0444, .show = usage_show},
	{.path = "time", .mode = 0444, .show = time_show},
};

int sysfs_create_cpuidle(struct dentry *root, const char *cpu_dir, unsigned cpu)
{
	for (unsigned state = 0; state < CPUIDLE_STATES; state++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/cpuidle/state%u/", cpu_dir, state);
		for (unsigned i = 0; i < ARRAY_SIZE(state_files); i++) {
			int err = text_file_create_in(root, path, &state_files[i], data_of(cpu, state), 0555);

			if (err)
				return err;
		}
	}
	return 0;
}
