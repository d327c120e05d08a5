/*
 * A kretprobe: how often a function has returned stands in /proc/kretprobe_sample, with what it got and gave the last
 * time.
 *
 *	insmod kretprobe_sample.ko symbol=do_sys_openat2 maxactive=8
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static char *symbol = "do_sys_openat2";
module_param(symbol, charp, 0444);
static int maxactive;
module_param(maxactive, int, 0444);

/* What each call keeps from its entry to its return. */
struct of_call {
	unsigned long argument;
};
static atomic_t returns = ATOMIC_INIT(0), passed = ATOMIC_INIT(0);
static unsigned long last_argument, last_result;

/* At the entry. Calls whose first argument is odd are passed over: their return is not told. */
static int at_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct of_call *call = (struct of_call *)ri->data;

	call->argument = regs_get_kernel_argument(regs, 0);
	if (!(call->argument & 1))
		return 0;
	atomic_inc(&passed);
	return 1;
}

/* The probe may not be probed itself: what calls the handler would call it again. */
static int at_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct of_call *call = (const struct of_call *)ri->data;

	WRITE_ONCE(last_argument, call->argument);
	WRITE_ONCE(last_result, regs_return_value(regs));
	atomic_inc(&returns);
	return 0;
}
NOKPROBE_SYMBOL(at_return);

static struct kretprobe probe = {
	.handler = at_return,
	.entry_handler = at_entry,
	.data_size = sizeof(struct of_call),
};

static int sample_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s: %d returns, %d passed over, %d missed, %lx gave %ld\n", symbol, atomic_read(&returns),
		   atomic_read(&passed), READ_ONCE(probe.nmissed), READ_ONCE(last_argument),
		   (long)READ_ONCE(last_result));
	return 0;
}

static int __init kretprobe_sample_init(void)
{
	int err;

	probe.kp.symbol_name = symbol;
	probe.maxactive = maxactive;
	err = register_kretprobe(&probe);
	if (err)
		return err;
	if (proc_create_single("kretprobe_sample", 0444, NULL, sample_show))
		return 0;
	unregister_kretprobe(&probe);
	return -ENOMEM;
}
module_init(kretprobe_sample_init);

static void __exit kretprobe_sample_exit(void)
{
	remove_proc_entry("kretprobe_sample", NULL);
	unregister_kretprobe(&probe);
}
module_exit(kretprobe_sample_exit);
