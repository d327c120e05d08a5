/*
 * Keeps interrupts or preemption off for a while, so that the latency tracers have something to find: `delay` us, in
 * test_mode irq, preempt or alternate (one and the other in turn), burst_size times, in a thread that may be bound to a
 * CPU by cpu_affinity. Once when it is loaded, and again at each echo 1 > /sys/kernel/preemptirq_delay_test/trigger.
 * The parameters are those of Linux's module of this name, as its selftests load it.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/sysfs.h>

MODULE_LICENSE("GPL");

static ulong delay = 100;
static char test_mode[12] = "irq";
static uint burst_size = 1;
static int cpu_affinity = -1;
module_param(delay, ulong, 0444);
module_param_string(test_mode, test_mode, sizeof(test_mode), 0444);
module_param(burst_size, uint, 0444);
module_param(cpu_affinity, int, 0444);
MODULE_PARM_DESC(delay, "how long a section lasts, in us");
MODULE_PARM_DESC(test_mode, "irq, preempt or alternate");
MODULE_PARM_DESC(burst_size, "how many sections, 1 to 10");
MODULE_PARM_DESC(cpu_affinity, "the CPU; -1: any");

#define MAX_BURST 10

static DECLARE_COMPLETION(burst_done);

static void busy_wait(ulong us)
{
	u64 end = ktime_get_ns() + us * NSEC_PER_USEC;

	while (ktime_get_ns() < end && !kthread_should_stop())
		cpu_relax();
}

static noinline void irqoff_test(void)
{
	unsigned long flags;

	local_irq_save(flags);
	busy_wait(delay);
	local_irq_restore(flags);
}

static noinline void preemptoff_test(void)
{
	preempt_disable();
	busy_wait(delay);
	preempt_enable();
}

static void one_section(unsigned int n)
{
	bool irq = !strcmp(test_mode, "irq");

	if (!strcmp(test_mode, "alternate"))
		irq = n % 2 == 0;
	if (irq)
		irqoff_test();
	else
		preemptoff_test();
}

static int delay_fn(void *unused)
{
	unsigned int bursts = min(burst_size, (uint)MAX_BURST), i;

	for (i = 0; i < bursts; i++)
		one_section(i);
	complete(&burst_done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

static int run_test(void)
{
	struct task_struct *task = kthread_create(delay_fn, NULL, "%s_test", test_mode);

	if (IS_ERR(task))
		return PTR_ERR(task);
	if (cpu_affinity >= 0)
		kthread_bind(task, cpu_affinity);
	wake_up_process(task);
	wait_for_completion(&burst_done);
	return kthread_stop(task);
}

static DEFINE_MUTEX(trigger_lock);

static ssize_t trigger_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	int err;

	mutex_lock(&trigger_lock);
	err = run_test();
	mutex_unlock(&trigger_lock);
	return err ? err : count;
}
static struct kobj_attribute trigger_attribute = __ATTR(trigger, 0200, NULL, trigger_store);

static struct kobject *kobj;

/* Parameters are checked before anything runs. The test runs once at loading; the file in sysfs runs it again. */
static int __init delay_test_init(void)
{
	int err;

	if (strcmp(test_mode, "irq") && strcmp(test_mode, "preempt") && strcmp(test_mode, "alternate"))
		return -EINVAL;
	if (cpu_affinity >= 0 && (cpu_affinity >= (int)nr_cpu_ids || !cpu_online(cpu_affinity)))
		return -EINVAL;
	err = run_test();
	if (err)
		return err;
	kobj = kobject_create_and_add("preemptirq_delay_test", kernel_kobj);
	if (!kobj)
		return -ENOMEM;
	err = sysfs_create_file(kobj, &trigger_attribute.attr);
	if (err)
		kobject_put(kobj);
	return err;
}
module_init(delay_test_init);

static void __exit delay_test_exit(void)
{
	kobject_put(kobj);
}
module_exit(delay_test_exit);
