/*
 * /proc/devices, /proc/misc and /proc/consoles: which devices exist.
 *
 * All three are made from the table that /dev is made of (device_next), so a device that registers itself shows here
 * without doing anything more. Devices of modules follow: <fs/cdev.h> lists them itself. Ports come and go while the
 * machine runs. The reader meets each entry whole (it is published with release), so it takes no lock.
 */
#include "internal.h"

#include <fs/miscdevice.h>
#include <kernel/printk.h>
#include <lib/printf.h>

/*
 * Names of majors as Linux prints them. A major may stand here twice (5 has two names), and is shown only
 * when a device of it exists.
 */
static const struct {
	unsigned major;
	const char *name;
} majors[] = {
	{1, "mem"}, {4, "ttyS"}, {5, "/dev/tty"}, {5, "/dev/console"}, {MISC_MAJOR, "misc"}, {204, "ttyAMA"},
};

/* Is there a device with this major? Looks through the whole table, which has some tens of entries. */
static bool major_is_used(unsigned major)
{
	const struct device_node *dev;

	for (unsigned at = 0; (dev = device_next(&at));)
		if (MAJOR(dev->rdev) == major)
			return true;
	return major == MISC_MAJOR && misc_devices_show && misc_devices_show(NULL);
}

/*
 * Show each major for which majors[] has no name, once, under the name of the first of its devices. `shown`
 * avoids repetition as long as at most one driver has such a major: today that is virtio_console.
 */
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

/*
 * The heading "Block devices:" stands alone, as there are no block devices; programs look for it to know
 * where the character devices end.
 */
static int devices_show(struct seq_file *m, void *v)
{
	seq_puts(m, "Character devices:\n");
	for (unsigned i = 0; i < ARRAY_SIZE(majors); i++)
		if (major_is_used(majors[i].major))
			seq_printf(m, "%3u %s\n", majors[i].major, majors[i].name);
	show_unnamed(m);
	chrdev_show(m);
	seq_puts(m, "\nBlock devices:\n");
	return 0;
}

/* One line for each device of major 10: its minor and its name. */
static int misc_show(struct seq_file *m, void *v)
{
	const struct device_node *dev;

	for (unsigned at = 0; (dev = device_next(&at));)
		if (MAJOR(dev->rdev) == MISC_MAJOR)
			seq_printf(m, "%3u %s\n", MINOR(dev->rdev), dev->name);
	if (misc_devices_show)
		misc_devices_show(m);
	return 0;
}

/*
 * One line: the console's name; what it can do (-W-: write only); its state (E: enabled; C: /dev/console
 * leads to it); and its device number, when it has a device node. Example:
 *
 *     ttyS0                -W- (EC)       4:64
 */
static void show_console(struct seq_file *m, const char *name, bool preferred)
{
	const struct device_node *dev;

	seq_printf(m, "%-20s -W- (E%c)", name, preferred ? 'C' : ' ');
	for (unsigned at = 0; (dev = device_next(&at));)
		if (!strcmp(dev->name, name))
			seq_printf(m, " %7u:%u", MAJOR(dev->rdev), MINOR(dev->rdev));
	seq_putc(m, '\n');
}

/* The first console that is registered is the one that /dev/console leads to. */
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
