/* /proc/devices, misc and consoles: what devices there are, from the table that /dev is made of. */
#include "internal.h"

#include <kernel/printk.h>
#include <lib/printf.h>

#define MISC_MAJOR 10

static const struct {
	unsigned major;
	const char *name;
} majors[] = {
	{1, "mem"}, {4, "ttyS"}, {5, "/dev/tty"}, {5, "/dev/console"}, {MISC_MAJOR, "misc"}, {204, "ttyAMA"},
};

static bool major_is_used(unsigned major)
{
	const struct device_node *dev;

	for (unsigned at = 0; (dev = device_next(&at));)
		if (MAJOR(dev->rdev) == major)
			return true;
	return false;
}

/* Majors that we have no name for are shown by the first of their devices. */
static void show_unnamed(struct seq_file *m)
{
	const struct device_node *dev;
	unsigned shown = 0;

	for (unsigned at = 0; (dev = device_next(&at));) {
		unsigned i = 0;

		while (i < ARRAY_SIZE(majors) && majors[i].major != MAJOR(dev->rdev))
			i++;
		if (i < ARRAY_SIZE(majors) || MAJOR(dev->rdev) == shown)
			continue;
		shown = MAJOR(dev->rdev);
		seq_printf(m, "%3u %s\n", shown, dev->name);
	}
}

/* There are no block devices. */
static int devices_show(struct seq_file *m, void *v)
{
	seq_puts(m, "Character devices:\n");
	for (unsigned i = 0; i < ARRAY_SIZE(majors); i++)
		if (major_is_used(majors[i].major))
			seq_printf(m, "%3u %s\n", majors[i].major, majors[i].name);
	show_unnamed(m);
	seq_puts(m, "\nBlock devices:\n");
	return 0;
}

static int misc_show(struct seq_file *m, void *v)
{
	const struct device_node *dev;

	for (unsigned at = 0; (dev = device_next(&at));)
		if (MAJOR(dev->rdev) == MISC_MAJOR)
			seq_printf(m, "%3u %s\n", MINOR(dev->rdev), dev->name);
	return 0;
}

/* Name, what it can do (write), its state (enabled; C: /dev/console is it), its device where it has one. */
static void show_console(struct seq_file *m, const char *name, bool preferred)
{
	const struct device_node *dev;

	seq_printf(m, "%-20s -W- (E%c)", name, preferred ? 'C' : ' ');
	for (unsigned at = 0; (dev = device_next(&at));)
		if (!strcmp(dev->name, name))
			seq_printf(m, " %7u:%u", MAJOR(dev->rdev), MINOR(dev->rdev));
	seq_putc(m, '\n');
}

static int consoles_show(struct seq_file *m, void *v)
{
	char name[32];

	for (unsigned i = 0; console_name(i, name, sizeof(name)); i++)
		show_console(m, name, i == 0);
	return 0;
}

static const struct text_file devices_entry = {.path = "devices", .mode = 0444, .show = devices_show};
static const struct text_file misc_entry = {.path = "misc", .mode = 0444, .show = misc_show};
static const struct text_file consoles_entry = {.path = "consoles", .mode = 0444, .show = consoles_show};
REGISTER_PROC(devices_entry);
REGISTER_PROC(misc_entry);
REGISTER_PROC(consoles_entry);
