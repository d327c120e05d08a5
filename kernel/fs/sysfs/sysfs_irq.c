/*
 * The directories /sys/kernel/irq/N: what an interrupt's number stands for, the same facts as a line of
 * /proc/interrupts, in a file each. Numbers are mapped when a driver asks, at any time, so the directories are virtual
 * (struct virtual_dir).
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <fs/virtual_dir.h>
#include <irq/irq.h>
#include <kernel/init.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>

/* The files' data is the number. A number stays mapped for ever. */
static struct irq_info info_of(const void *irq)
{
	struct irq_info info = {.chip = ""};

	irq_describe((unsigned long)irq, &info);
	return info;
}

static const char *type_name(const void *irq)
{
	return info_of(irq).type & IRQ_TYPE_EDGE ? "edge" : "level";
}

static int chip_name_show(struct seq_file *m, void *irq)
{
	seq_printf(m, "%s\n", info_of(irq).chip);
	return 0;
}

static int hwirq_show(struct seq_file *m, void *irq)
{
	seq_printf(m, "%u\n", info_of(irq).hwirq);
	return 0;
}

static int type_show(struct seq_file *m, void *irq)
{
	seq_printf(m, "%s\n", type_name(irq));
	return 0;
}

/*
 * How it is handled. Linux has a function for each kind of line, and shows which: "edge", "fasteoi". Here it is one.
 * There is another name_show(), as Linux has many: a probe on this name is refused, as it means more than one place.
 */
static int name_show(struct seq_file *m, void *irq)
{
	seq_printf(m, "%s\n", type_name(irq));
	return 0;
}

/* Of all CPUs that the machine has, also those that are not online. */
static int per_cpu_count_show(struct seq_file *m, void *irq)
{
	const char *between = "";
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		seq_printf(m, "%s%llu", between, (unsigned long long)kstat_irqs_cpu((unsigned long)irq, cpu));
		between = ",";
	}
	seq_putc(m, '\n');
	return 0;
}

static int actions_show(struct seq_file *m, void *irq)
{
	show_irq_actions(m, (unsigned long)irq, ",");
	seq_putc(m, '\n');
	return 0;
}

static const struct text_file irq_files[] = {
	{.path = "chip_name", .mode = 0444, .show = chip_name_show},
	{.path = "hwirq", .mode = 0444, .show = hwirq_show},
	{.path = "type", .mode = 0444, .show = type_show},
	{.path = "name", .mode = 0444, .show = name_show},
	{.path = "per_cpu_count", .mode = 0444, .show = per_cpu_count_show},
	{.path = "actions", .mode = 0444, .show = actions_show},
};

/* The directory of each number. */
static struct irq_dir {
	struct virtual_dir dir;
	char name[8]; /* [i_lock of kernel/irq] */
} irq_dirs[NR_IRQS];

static bool irq_file(struct virtual_dir *dir, unsigned n, struct virtual_entry *e)
{
	unsigned long irq = container_of(dir, struct irq_dir, dir) - irq_dirs;

	if (n >= ARRAY_SIZE(irq_files))
		return false;
	*e = (struct virtual_entry){
		.name = irq_files[n].path, .mode = irq_files[n].mode, .text = &irq_files[n], .data = (void *)irq};
	return true;
}

/* Entry number n of kernel/irq. Numbers are mapped from 1 on, without holes, and stay so. */
static bool irq_dir(struct virtual_dir *all, unsigned n, struct virtual_entry *e)
{
	struct irq_info info;
	unsigned irq = n + 1;

	if (!irq_describe(irq, &info))
		return false;
	irq_dirs[irq].dir.entry = irq_file;
	snprintf(irq_dirs[irq].name, sizeof(irq_dirs[irq].name), "%u", irq);
	*e = (struct virtual_entry){.name = irq_dirs[irq].name, .mode = 0555, .dir = &irq_dirs[irq].dir};
	return true;
}

static int irq_sysfs_init(void)
{
	static struct virtual_dir all = {.entry = irq_dir};
	struct dentry *kernel = single_fs_dir("sysfs", "kernel"), *dir;

	if (IS_ERR(kernel))
		return PTR_ERR(kernel);
	dir = virtual_dir_create(kernel, "irq", 0555, &all);
	dput(kernel);
	return IS_ERR(dir) ? PTR_ERR(dir) : 0;
}
fs_initcall(irq_sysfs_init);
