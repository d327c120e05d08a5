/*
 * sysfs: the part of Linux's /sys that is true of this kernel: the CPUs, the places where tracefs and debugfs are
 * mounted, and what others register with REGISTER_SYSFS. There is no device model behind it, so there are no buses;
 * the only devices are the CPUs and those that modules make (device.c). The tree is built once, at the first mount, and
 * each text is made when its file is read.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <fs/seq_file.h>

#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/cpuhp.h>
#include <uapi/statfs.h>

DECLARE_TABLE(sysfs, const struct text_file);

#define CPU_PATH "devices/system/cpu/"

/* A set of CPUs as a list of ranges, "0-3,5". */
static int show_mask(struct seq_file *m, const struct cpumask *mask)
{
	seq_printf(m, "%*pbl\n", nr_cpu_ids, mask->bits);
	return 0;
}

static int online_show(struct seq_file *m, void *v)
{
	return show_mask(m, &cpu_online_mask);
}

static int possible_show(struct seq_file *m, void *v)
{
	return show_mask(m, &cpu_possible_mask);
}

/* CPUs that the machine has and that are not there. As on Linux an empty line says that all are. */
static int offline_show(struct seq_file *m, void *v)
{
	struct cpumask off = cpu_possible_mask;
	unsigned cpu;

	for_each_online_cpu(cpu)
		cpumask_clear_cpu(cpu, &off);
	return show_mask(m, &off);
}

static int cpu_online_show(struct seq_file *m, void *cpu)
{
	seq_printf(m, "%u\n", cpu_online((unsigned long)cpu));
	return 0;
}

/* What Linux's kstrtobool() takes: 0, 1 and words, by their first letters. 0 or an error of cpu_up(), cpu_down(). */
static int cpu_online_store(char *text, void *cpu)
{
	bool off = text[0] == 'o' || text[0] == 'O' ? tolower(text[1]) == 'f' : *text && strchr("0nNfF", *text);
	bool on = text[0] == 'o' || text[0] == 'O' ? tolower(text[1]) == 'n' : *text && strchr("1yYtT", *text);

	if (!on && !off)
		return -EINVAL;
	return on ? cpu_up((unsigned long)cpu) : cpu_down((unsigned long)cpu);
}
static const struct text_file cpu_online_entry = {
	.path = "online", .mode = 0644, .show = cpu_online_show, .store = cpu_online_store};

/* The highest number that a CPU could have. */
static int kernel_max_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", NR_CPUS - 1);
	return 0;
}

static int address_bits_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", (unsigned)sizeof(long) * 8);
	return 0;
}

/* Found by looking at the first byte of a number that is not symmetric. */
static int byteorder_show(struct seq_file *m, void *v)
{
	const union {
		u16 word;
		u8 first;
	} probe = {1};

	seq_puts(m, probe.first ? "little\n" : "big\n");
	return 0;
}

/*
 * Directories come with the paths. "present" is the same as "possible": no CPU can be plugged in. A path with S_IFDIR
 * makes a directory, here the places where debugfs and tracefs are mounted.
 */
static const struct text_file online_entry = {.path = CPU_PATH "online", .mode = 0444, .show = online_show};
static const struct text_file possible_entry = {.path = CPU_PATH "possible", .mode = 0444, .show = possible_show};
static const struct text_file present_entry = {.path = CPU_PATH "present", .mode = 0444, .show = possible_show};
static const struct text_file offline_entry = {.path = CPU_PATH "offline", .mode = 0444, .show = offline_show};
static const struct text_file kernel_max_entry = {.path = CPU_PATH "kernel_max", .mode = 0444, .show = kernel_max_show};
static const struct text_file address_bits_entry = {
	.path = "kernel/address_bits", .mode = 0444, .show = address_bits_show};
static const struct text_file byteorder_entry = {.path = "kernel/cpu_byteorder", .mode = 0444, .show = byteorder_show};
static const struct text_file debug_entry = {.path = "kernel/debug", .mode = S_IFDIR | 0755};
static const struct text_file tracing_entry = {.path = "kernel/tracing", .mode = S_IFDIR | 0755};
REGISTER_SYSFS(online_entry);
REGISTER_SYSFS(possible_entry);
REGISTER_SYSFS(present_entry);
REGISTER_SYSFS(offline_entry);
REGISTER_SYSFS(kernel_max_entry);
REGISTER_SYSFS(address_bits_entry);
REGISTER_SYSFS(byteorder_entry);
REGISTER_SYSFS(debug_entry);
REGISTER_SYSFS(tracing_entry);

/* The file by which the CPU is taken down and brought up, if it can be: `path` is its directory. 0 or -errno. */
static int create_online_file(struct dentry *root, const char *path, unsigned cpu)
{
	char dir[48];

	if (!cpu_can_leave(cpu))
		return 0;
	snprintf(dir, sizeof(dir), "%s/", path);
	return text_file_create_in(root, dir, &cpu_online_entry, (void *)(unsigned long)cpu, 0555);
}

/*
 * A directory for each CPU that the machine has, because programs find the number of CPUs by counting them. 0 or
 * -errno.
 */
static int create_cpu_dirs(struct dentry *root)
{
	unsigned cpu;
	int err = 0;

	for_each_possible_cpu(cpu) {
		char path[40];
		const struct text_file dir = {.path = path, .mode = S_IFDIR | 0755};

		snprintf(path, sizeof(path), CPU_PATH "cpu%u", cpu);
		err = text_file_create(root, &dir, 0555) ?: sysfs_create_cpuidle(root, path, cpu);
		err = err ?: create_online_file(root, path, cpu);
		if (err)
			break;
	}
	return err;
}

/* Build the tree: registered files first, which brings their directories, then those of the CPUs. 0 or -errno. */
static int sysfs_fill_super(struct super_block *sb, const char *options)
{
	const struct text_file *e;
	int err = simple_fill_super(sb, SYSFS_MAGIC, 0555, NULL);

	if (err)
		return err;
	sb->s_write_by_mode = true;
	for_each_in_table(sysfs, e) {
		err = text_file_create(sb->s_root, e, 0555);
		if (err)
			return err;
	}
	return create_cpu_dirs(sb->s_root);
}

static const struct file_system_type sysfs_type = {
	.name = "sysfs", .single = true, .nodev = true, .fill_super = sysfs_fill_super};
REGISTER_FILESYSTEM(sysfs_type);
