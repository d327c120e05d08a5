/*
 * A kprobe on one instruction after the other, while the kernel goes on: from the address `first` on, `bytes` of text,
 * `batch` probes at a time for `ms` milliseconds. In the end /proc/kprobe_walk says how many instructions were probed,
 * how many the kernel refused, and how often they were hit. Nothing that runs meanwhile must notice.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

MODULE_LICENSE("GPL");

static unsigned long first; /* an address; 0: that of msleep() */
module_param(first, ulong, 0444);
static unsigned long bytes = 4096;
module_param(bytes, ulong, 0444);
static unsigned int batch = 64;
module_param(batch, uint, 0444);
static unsigned int ms = 10;
module_param(ms, uint, 0444);
static bool breakpoints; /* with a handler after each instruction, so that no place becomes a jump */
module_param(breakpoints, bool, 0444);

static atomic64_t hits;
static unsigned long probed, refused, missed;
static bool done;
static struct task_struct *walker;

static int before_insn(struct kprobe *p, struct pt_regs *regs)
{
	atomic64_inc(&hits);
	return 0;
}

static void after_insn(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

/* The next batch from *addr on. How many there are. */
static unsigned int begin(struct kprobe *probes, unsigned long *addr, unsigned long end)
{
	unsigned int n = 0;

	while (n < batch && *addr < end) {
		int err;

		probes[n] = (struct kprobe){.addr = (kprobe_opcode_t *)*addr, .pre_handler = before_insn};
		if (breakpoints)
			probes[n].post_handler = after_insn;
		err = register_kprobe(&probes[n]);
		if (!err)
			n++;
		else if (err != -EILSEQ) /* in the middle of an instruction */
			refused++;
		*addr += 1;
	}
	probed += n;
	return n;
}

/* One batch after the other, until the text is at its end or the module goes. */
static int walk(void *unused)
{
	struct kprobe *probes = kcalloc(batch, sizeof(*probes), GFP_KERNEL);
	unsigned long addr = first, end;

	end = addr + bytes;
	while (probes && addr < end && !kthread_should_stop()) {
		unsigned int n = begin(probes, &addr, end);

		msleep(ms);
		for (unsigned int i = 0; i < n; i++) {
			unregister_kprobe(&probes[i]);
			missed += probes[i].nmissed;
		}
	}
	kfree(probes);
	WRITE_ONCE(done, true);
	while (!kthread_should_stop())
		msleep(10);
	return 0;
}

static int walk_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s: %lu probed, %lu refused, %lld hits, %lu missed\n", READ_ONCE(done) ? "done" : "walking",
		   probed, refused, atomic64_read(&hits), missed);
	return 0;
}

static int __init kprobe_walk_init(void)
{
	if (!first)
		first = (unsigned long)msleep;
	walker = kthread_run(walk, NULL, "kprobe_walk");
	if (IS_ERR(walker))
		return PTR_ERR(walker);
	if (proc_create_single("kprobe_walk", 0444, NULL, walk_show))
		return 0;
	kthread_stop(walker);
	return -ENOMEM;
}
module_init(kprobe_walk_init);

static void __exit kprobe_walk_exit(void)
{
	remove_proc_entry("kprobe_walk", NULL);
	kthread_stop(walker);
}
module_exit(kprobe_walk_exit);
