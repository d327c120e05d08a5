/*
 * Files of /proc about the whole system (meminfo, uptime, stat, loadavg, ...) and those below sys/kernel.
 *
 * A file here is a function that prints into a seq_file; nothing is stored for it. Counters of other CPUs
 * are read without a lock: each is one word, so a reader sees a value that the counter had a moment ago.
 */
#include "internal.h"

#include <arch/processor.h>
#include <drivers/tty.h>
#include <irq/irq.h>
#include <irq/softirq.h>
#include <kernel/cmdline.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/utsname.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/capability.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <uapi/time.h>

#define NSEC_PER_TICK (NSEC_PER_SEC / USER_HZ)

/*
 * Make a file out of a show function of another subsystem. Those take no second argument, because they do
 * not know that they are called by a text file.
 */
#define SHOW_OF(name, perm, fn)                                                                                 \
	static int name##_proc_show(struct seq_file *m, void *v)                                                \
	{                                                                                                       \
		return fn(m);                                                                                   \
	}                                                                                                       \
	static const struct text_file name##_entry = {.path = #name, .mode = (perm), .show = name##_proc_show}; \
	REGISTER_PROC(name##_entry)

SHOW_OF(meminfo, 0444, meminfo_show);
SHOW_OF(buddyinfo, 0444, buddyinfo_show);
SHOW_OF(slabinfo, 0400, slabinfo_show);
SHOW_OF(interrupts, 0444, show_interrupts);
SHOW_OF(filesystems, 0444, show_filesystems);

/*
 * Two numbers of seconds with two decimals: the time since boot, and the idle time of all CPUs added up.
 * The second one grows up to nr_cpus times as fast as the first.
 */
static int uptime_show(struct seq_file *m, void *v)
{
	u64 up = sched_clock() / 10000000, idle = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu)
		if (idle_task(cpu)) /* a CPU that was ever there */
			idle += cpu_idle_ns(cpu);
	idle /= 10000000;
	seq_printf(m, "%llu.%02llu %llu.%02llu\n", (unsigned long long)up / 100, (unsigned long long)up % 100,
		   (unsigned long long)idle / 100, (unsigned long long)idle % 100);
	return 0;
}

/*
 * The same words as uname(1); in the first brackets who built it and where, which is the same for all, so that a build
 * does not depend on that; then the compiler. Under Linux's name, as probes look for it.
 */
extern const char linux_proc_banner[];
const char linux_proc_banner[] = "%s version %s (vitrine@vitrine) (gcc " __VERSION__ ") %s\n";

static int version_show(struct seq_file *m, void *v)
{
	struct new_utsname u;

	get_utsname(&u);
	seq_printf(m, linux_proc_banner, u.sysname, u.release, u.version);
	return 0;
}

/* The command line as the loader passed it, with the words of a bootconfig, before any argument was taken out of it. */
static int cmdline_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", saved_command_line);
	return 0;
}

/*
 * A load is a fixed-point number with 16 fractional bits. Adding half of a hundredth first rounds it to two
 * decimals.
 */
static void show_load(struct seq_file *m, u64 load)
{
	load += 65536 / 200;
	seq_printf(m, "%llu.%02llu ", (unsigned long long)load >> 16,
		   (unsigned long long)((load & 0xffff) * 100) >> 16);
}

/*
 * The averages over 1, 5 and 15 minutes; tasks that run or could run, out of all threads; and a pid. Linux
 * shows the pid that was given out last in that place; here it is the reader's.
 */
static int loadavg_show(struct seq_file *m, void *v)
{
	u64 loads[3];

	get_avenrun(loads);
	for (unsigned i = 0; i < 3; i++)
		show_load(m, loads[i]);
	seq_printf(m, "%lu/%u %d\n", nr_running(), nr_threads(), current->pid);
	return 0;
}

/* How a CPU has spent its time since boot, in ns. */
struct cpu_times {
	u64 user, system, idle; /* ns */
};

/*
 * Split the time since boot of a CPU, less that for which it was not there. Idle time is measured exactly at each
 * switch to and from the idle task. User and system time come from the timer tick, which samples what it interrupts: on
 * a CPU that is mostly idle few ticks hit. So the busy time is taken as exact (now - idle), and the samples only say in
 * which proportion it divides into user and system. No column ever steps back (cputime_settle).
 */
static struct cpu_times cpu_times(unsigned cpu, u64 now)
{
	static struct cputime_shown shown[NR_CPUS];
	struct cpu_times t;

	cpu_times_ns(cpu, &t.user, &t.system, &t.idle);
	now -= cpu_offline_ns(cpu);
	t.idle = min(t.idle, now);
	cputime_settle(&shown[cpu], now - t.idle, t.user, t.system, &t.user, &t.system);
	return t;
}

/*
 * The columns of proc(5): user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice, in
 * ticks of USER_HZ. Those that are not measured are 0.
 */
static void show_cpu_times(struct seq_file *m, const char *name, const struct cpu_times *t)
{
	seq_printf(m, "%s %llu 0 %llu %llu 0 0 0 0 0 0\n", name, (unsigned long long)(t->user / NSEC_PER_TICK),
		   (unsigned long long)(t->system / NSEC_PER_TICK), (unsigned long long)(t->idle / NSEC_PER_TICK));
}

/* The line "softirq": the total, then one sum for each kind, over all CPUs. */
static void show_softirq_sums(struct seq_file *m)
{
	u64 sums[NR_SOFTIRQS] = {0}, total = 0;
	unsigned cpu;

	for (int nr = 0; nr < NR_SOFTIRQS; nr++) {
		for_each_possible_cpu(cpu)
			sums[nr] += kstat_softirqs_cpu(nr, cpu);
		total += sums[nr];
	}
	seq_printf(m, "softirq %llu", (unsigned long long)total);
	for (int nr = 0; nr < NR_SOFTIRQS; nr++)
		seq_printf(m, " %llu", (unsigned long long)sums[nr]);
	seq_putc(m, '\n');
}

/*
 * The first line is the sum over the CPUs, those included that have left: it never goes back. All of them are computed
 * for one moment, `now`: top subtracts two readings, and would show more than 100 % if the moments differed within a
 * reading.
 */
static int stat_show(struct seq_file *m, void *v)
{
	struct cpu_times t, sum = {0};
	u64 now = sched_clock();
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		if (!idle_task(cpu))
			continue;
		t = cpu_times(cpu, now);
		sum.user += t.user;
		sum.system += t.system;
		sum.idle += t.idle;
	}
	show_cpu_times(m, "cpu ", &sum);
	for_each_online_cpu(cpu) {
		t = cpu_times(cpu, now);
		seq_printf(m, "cpu%u", cpu);
		show_cpu_times(m, "", &t);
	}
	seq_printf(m, "intr %llu\n", (unsigned long long)nr_irqs_total());
	seq_printf(m, "ctxt %llu\nbtime %llu\nprocesses %llu\nprocs_running %lu\nprocs_blocked 0\n",
		   (unsigned long long)nr_context_switches(),
		   (unsigned long long)((ktime_get_real_ns() - now) / NSEC_PER_SEC), (unsigned long long)total_forks(),
		   nr_running());
	show_softirq_sums(m);
	return 0;
}

/* One paragraph for each CPU that is online. */
static int cpuinfo_show(struct seq_file *m, void *v)
{
	unsigned cpu;

	for_each_online_cpu(cpu)
		seq_printf(m, "processor\t: %u\nmodel name\t: %s\n\n", cpu, arch_cpu_name());
	return 0;
}

static const struct text_file uptime_entry = {.path = "uptime", .mode = 0444, .show = uptime_show};
static const struct text_file version_entry = {.path = "version", .mode = 0444, .show = version_show};
static const struct text_file cmdline_entry = {.path = "cmdline", .mode = 0444, .show = cmdline_show};
static const struct text_file loadavg_entry = {.path = "loadavg", .mode = 0444, .show = loadavg_show};
static const struct text_file stat_entry = {.path = "stat", .mode = 0444, .show = stat_show};
static const struct text_file cpuinfo_entry = {.path = "cpuinfo", .mode = 0444, .show = cpuinfo_show};
REGISTER_PROC(uptime_entry);
REGISTER_PROC(version_entry);
REGISTER_PROC(cmdline_entry);
REGISTER_PROC(loadavg_entry);
REGISTER_PROC(stat_entry);
REGISTER_PROC(cpuinfo_entry);

/* sys/kernel: one word a file, the same that uname(2) returns. */
static int ostype_show(struct seq_file *m, void *v)
{
	struct new_utsname u;

	get_utsname(&u);
	seq_printf(m, "%s\n", u.sysname);
	return 0;
}

static int osrelease_show(struct seq_file *m, void *v)
{
	struct new_utsname u;

	get_utsname(&u);
	seq_printf(m, "%s\n", u.release);
	return 0;
}

static int osversion_show(struct seq_file *m, void *v)
{
	struct new_utsname u;

	get_utsname(&u);
	seq_printf(m, "%s\n", u.version);
	return 0;
}

/* Programs learn from it which capabilities there are: 0 to this one. */
static int cap_last_cap_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", CAP_LAST_CAP);
	return 0;
}

static int hostname_show(struct seq_file *m, void *v)
{
	struct new_utsname u;

	get_utsname(&u);
	seq_printf(m, "%s\n", u.nodename);
	return 0;
}

/*
 * Four levels. Only the first one, the console's, does anything here. The others are what Linux calls
 * default, minimum and boot-time default.
 */
static int printk_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\t4\t1\t7\n", console_loglevel);
	return 0;
}

/*
 * Take the first number, the level of the console, 1 to 15; `dmesg -n` writes it. Numbers behind it are
 * ignored, so that a line that was read from the file can be written back. Returns 0 or -EINVAL.
 */
static int printk_store(char *text, void *data)
{
	char *end;
	u64 level = simple_strtoull(text, &end, 10);

	if (end == text || (*end && !isspace(*end)) || level < 1 || level > 15)
		return -EINVAL;
	WRITE_ONCE(console_loglevel, level);
	return 0;
}

static const struct text_file ostype_entry = {.path = "sys/kernel/ostype", .mode = 0444, .show = ostype_show};
static const struct text_file osrelease_entry = {.path = "sys/kernel/osrelease", .mode = 0444, .show = osrelease_show};
static const struct text_file osversion_entry = {.path = "sys/kernel/version", .mode = 0444, .show = osversion_show};
static const struct text_file cap_last_cap_entry = {
	.path = "sys/kernel/cap_last_cap", .mode = 0444, .show = cap_last_cap_show};
static const struct text_file hostname_entry = {.path = "sys/kernel/hostname", .mode = 0444, .show = hostname_show};
static const struct text_file printk_entry = {
	.path = "sys/kernel/printk", .mode = 0644, .show = printk_show, .store = printk_store};
REGISTER_PROC(ostype_entry);
REGISTER_PROC(osrelease_entry);
REGISTER_PROC(osversion_entry);
REGISTER_PROC(cap_last_cap_entry);
REGISTER_PROC(hostname_entry);
REGISTER_PROC(printk_entry);
