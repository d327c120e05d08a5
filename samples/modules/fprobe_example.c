/*
 * An fprobe: how often functions are entered and left stands in /proc/fprobe_example. Each call carries a number from
 * its entry to its return.
 *
 *	insmod fprobe_example.ko symbol='vfs_*' nosymbol=vfs_read
 */
#include <linux/atomic.h>
#include <linux/fprobe.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static char *symbol = "sys_newuname", *nosymbol = "";
module_param(symbol, charp, 0444); /* a name, a glob, or names with commas between */
module_param(nosymbol, charp, 0444);
static int maxactive;
module_param(maxactive, int, 0444);
static bool entry_only; /* no handler at the return */
module_param(entry_only, bool, 0444);
static bool skip; /* the entry says that the return is not wanted */
module_param(skip, bool, 0444);

static atomic_t entries = ATOMIC_INIT(0), exits = ATOMIC_INIT(0), strangers = ATOMIC_INIT(0);
static unsigned long last_result;

#define NUMBER_OF(ip) ((ip) ^ 0x5a5a)

/* Preemption is off, as in the other one. */
static int sample_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs, void *data)
{
	atomic_inc(&entries);
	if (data)
		*(unsigned long *)data = NUMBER_OF(ip);
	return skip;
}

static void sample_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs, void *data)
{
	atomic_inc(&exits);
	if (*(unsigned long *)data != NUMBER_OF(ip))
		atomic_inc(&strangers);
	WRITE_ONCE(last_result, regs_return_value(regs));
}

static struct fprobe probe = {.entry_handler = sample_entry, .exit_handler = sample_exit};

static int sample_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d entries, %d exits, %d strangers, %lu missed, result %lx\n", atomic_read(&entries),
		   atomic_read(&exits), atomic_read(&strangers), READ_ONCE(probe.nmissed), READ_ONCE(last_result));
	return 0;
}

/* Names with commas between: cut where they lie. */
static int register_names(char *names)
{
	const char *syms[16];
	int num = 0;

	while (names && num < 16)
		syms[num++] = strsep(&names, ",");
	return register_fprobe_syms(&probe, syms, num);
}

/* The probe first: without it there is nothing to show. Returns its error, or -ENOMEM. */
static int __init fprobe_example_init(void)
{
	int err;

	probe.nr_maxactive = maxactive;
	probe.entry_data_size = sizeof(unsigned long);
	if (entry_only)
		probe.exit_handler = NULL;
	err = strchr(symbol, ',') ? register_names(symbol)
				  : register_fprobe(&probe, symbol, *nosymbol ? nosymbol : NULL);
	if (err)
		return err;
	if (proc_create_single("fprobe_example", 0444, NULL, sample_show))
		return 0;
	unregister_fprobe(&probe);
	return -ENOMEM;
}
module_init(fprobe_example_init);

static void __exit fprobe_example_exit(void)
{
	remove_proc_entry("fprobe_example", NULL);
	unregister_fprobe(&probe);
}
module_exit(fprobe_example_exit);
