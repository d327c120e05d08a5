/*
 * Who writes to a variable of the kernel? A hardware breakpoint on it says so in the trace, with the place. The
 * parameter `ksym` names the variable. Linux has a sample of this name.
 */
#include <linux/hw_breakpoint.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/ptrace.h>

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("writes to a variable, by a hardware breakpoint");

static char *ksym = "panic_timeout";
module_param(ksym, charp, 0444);
MODULE_PARM_DESC(ksym, "name of the variable");

static struct perf_event *__percpu *breakpoint;

/* On the CPU that writes, in the middle of what it does: no lock may be taken here, so it goes to the trace. */
static void say(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
	trace_printk("%s is written at %pS\n", ksym, (void *)instruction_pointer(regs));
}

/*
 * Find the variable by its name, and watch four bytes of it for writes, on every CPU. -ENXIO: no such name; what the
 * breakpoint returns.
 */
static int __init data_breakpoint_init(void)
{
	struct perf_event_attr attr;
	unsigned long address = kallsyms_lookup_name(ksym);

	if (!address) {
		pr_err("data_breakpoint: no variable has the name %s\n", ksym);
		return -ENXIO;
	}
	hw_breakpoint_init(&attr);
	attr.bp_addr = address;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_W;
	breakpoint = register_wide_hw_breakpoint(&attr, say, NULL);
	if (IS_ERR((void *)breakpoint))
		pr_err("data_breakpoint: %s cannot be watched: %ld\n", ksym, PTR_ERR((void *)breakpoint));
	return PTR_ERR_OR_ZERO((void *)breakpoint);
}
module_init(data_breakpoint_init);

static void __exit data_breakpoint_exit(void)
{
	unregister_wide_hw_breakpoint(breakpoint);
}
module_exit(data_breakpoint_exit);
