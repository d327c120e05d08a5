/*
 * A kprobe: how often the kernel came to an instruction stands in /proc/kprobe_sample, with what the function's first
 * argument was the last time.
 *
 *	insmod kprobe_sample.ko symbol=do_sys_openat2 offset=0
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

MODULE_LICENSE("GPL");

static char *symbol = "do_sys_openat2";
module_param(symbol, charp, 0444);
static int offset;
module_param(offset, int, 0444);
static bool after; /* have the handler called that comes after the instruction, too */
module_param(after, bool, 0444);

static atomic_t hits = ATOMIC_INIT(0), executed = ATOMIC_INIT(0);
static unsigned long last_argument;

/* In the middle of the probed function, with preemption off. */
static int before_insn(struct kprobe *p, struct pt_regs *regs)
{
	WRITE_ONCE(last_argument, regs_get_kernel_argument(regs, 0));
	atomic_inc(&hits);
	return 0;
}

static void after_insn(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	atomic_inc(&executed);
}

static struct kprobe probe = {.pre_handler = before_insn};

static int sample_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s+%d: %d hits, %d executed, %lu missed, argument %lx\n", symbol, offset, atomic_read(&hits),
		   atomic_read(&executed), READ_ONCE(probe.nmissed), READ_ONCE(last_argument));
	return 0;
}

/* The probe first: without it there is nothing to show. A probe with an `after` handler is always a breakpoint. */
static int __init kprobe_sample_init(void)
{
	int err;

	probe.symbol_name = symbol;
	probe.offset = offset;
	if (after)
		probe.post_handler = after_insn;
	err = register_kprobe(&probe);
	if (err)
		return err;
	if (proc_create_single("kprobe_sample", 0444, NULL, sample_show))
		return 0;
	unregister_kprobe(&probe);
	return -ENOMEM;
}
module_init(kprobe_sample_init);

static void __exit kprobe_sample_exit(void)
{
	remove_proc_entry("kprobe_sample", NULL);
	unregister_kprobe(&probe);
}
module_exit(kprobe_sample_exit);
