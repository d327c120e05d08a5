/*
 * Debug registers (SDM vol. 3, chapter 18) and the #DB of the kernel.
 *
 * A breakpoint on memory is a trap: it comes behind the instruction that accessed, and there is nothing to step over.
 * One on execution is a fault: RF in the flags lets the instruction pass when it is returned to. #DB has a stack of
 * its own (entry.S), so it must not come again while that is in use: the handler's first act is to clear DR7, and so is
 * an NMI's, and its last one is to load it again. What either touches before and after may not be watched.
 */
#include <arch/debug_ops.h>
#include <arch/hw_breakpoint.h>
#include <arch/user_step.h>
#include <asm/debugreg.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <irq/irqflags.h>
#include <kernel/hw_breakpoint.h>
#include <lib/errno.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <sched/task.h>

#include "../single_step.h"

#define DR7_EXECUTE    0UL
#define DR7_WRITE      1UL
#define DR7_READ_WRITE 3UL

extern const char __entry_text_start[], __entry_text_end[]; /* linker.ld */

struct hw_breakpoint_range arch_hw_breakpoint_range(u32 bp_type)
{
	return (struct hw_breakpoint_range){0, NR_DEBUG_REGISTERS};
}

/*
 * Code that a #DB may not interrupt: the way into #DB itself, which would come again for ever, and what has no site for
 * the tracer, since an NMI and a CPU that is parked run there.
 */
static bool is_entry_code(unsigned long pc)
{
	return (pc >= (unsigned long)__entry_text_start && pc < (unsigned long)__entry_text_end) ||
	       (pc >= (unsigned long)__noinstr_text_start && pc < (unsigned long)__noinstr_text_end);
}

/*
 * Can a debug register watch this (SDM vol. 3, 18.2.4)? Lengths of 1, 2, 4 and 8 at addresses that are multiples of
 * them; execution only with the length of a long, as on Linux. Not what entries touch before they are safe: a
 * breakpoint there would come again and again. 0 or -EINVAL.
 */
int arch_hw_breakpoint_check(const struct perf_event_attr *attr)
{
	if (attr->bp_addr < PAGE_OFFSET)
		return -EINVAL;
	if (attr->bp_type == HW_BREAKPOINT_X)
		return attr->bp_len == sizeof(long) && !is_entry_code(attr->bp_addr) ? 0 : -EINVAL;
	if (attr->bp_type != HW_BREAKPOINT_W && attr->bp_type != HW_BREAKPOINT_RW)
		return -EINVAL;
	switch (attr->bp_len) {
	case 1:
	case 2:
	case 4:
	case 8:
		break;
	default:
		return -EINVAL;
	}
	if (attr->bp_addr & (attr->bp_len - 1) || is_cpu_entry_memory(attr->bp_addr, attr->bp_len))
		return -EINVAL;
	return 0;
}

/* Lengths are coded 0: 1, 1: 2, 3: 4, 2: 8 bytes; execution has length 0 (figure 18-1). */
static u64 control_of(const struct perf_event_attr *attr)
{
	static const u8 length[] = {[1] = 0, [2] = 1, [4] = 3, [8] = 2};

	if (attr->bp_type == HW_BREAKPOINT_X)
		return DR7_EXECUTE;
	return (attr->bp_type == HW_BREAKPOINT_W ? DR7_WRITE : DR7_READ_WRITE) | (u64)length[attr->bp_len] << 2;
}

/* The number of a debug register is part of the instruction, so each has its own. */
static void write_address(unsigned n, u64 address)
{
	switch (n) {
	case 0:
		write_dr(0, address);
		break;
	case 1:
		write_dr(1, address);
		break;
	case 2:
		write_dr(2, address);
		break;
	default:
		write_dr(3, address);
		break;
	}
}

/* The debugger's number of register n. Both kinds share the registers. */
static unsigned user_debug_index(unsigned n)
{
	return hw_breakpoint_user_number(HW_BREAKPOINT_W, n); /* which is its own inverse */
}

/*
 * Register n with the kernel's breakpoint, or else with that of this task's debugger. The latter is hit also by the
 * kernel's own accesses to the program's memory, and that is not reported. The bits for DR7.
 */
static u64 load_register(unsigned n, const struct user_debug *user)
{
	const struct perf_event *bp = hw_breakpoint_of(n);
	unsigned i = user_debug_index(n);

	if (!bp && !DR7_ENABLED(user->dr7, i))
		return 0;
	arch_single_step_stop(); /* it is one or the other (single_step.c) */
	if (bp) {
		write_address(n, bp->attr.bp_addr);
		return DR7_GLOBAL(n) | DR7_CONTROL(n, control_of(&bp->attr));
	}
	write_address(n, user->address[i]);
	return DR7_GLOBAL(n) | DR7_CONTROL(n, DR7_CONTROL_OF(user->dr7, i));
}

/* All are off while addresses change. */
static void debug_registers_switch(const struct user_debug *user)
{
	u64 dr7 = DR7_RESET;

	write_dr(7, DR7_RESET);
	for (unsigned n = 0; n < NR_DEBUG_REGISTERS; n++)
		dr7 |= load_register(n, user);
	write_dr(7, dr7);
}

void arch_hw_breakpoints_load(void)
{
	debug_registers_switch(&current->thread.debug);
}

static notrace void report_hits(struct pt_regs *regs, u64 dr7, u64 dr6)
{
	for (unsigned n = 0; n < NR_DEBUG_REGISTERS; n++) {
		if (!(dr6 & BIT(n) && dr7 & DR7_GLOBAL(n)))
			continue;
		hw_breakpoint_hit(n, regs);
		if ((dr7 & DR7_CONTROL(n, DR7_READ_WRITE)) == DR7_CONTROL(n, DR7_EXECUTE))
			regs->rflags |= X86_EFLAGS_RF; /* the instruction passes when it is returned to */
	}
}

static void debug_task_switch(const struct task_struct *next)
{
	debug_registers_switch(&next->thread.debug);
}

/* Breakpoints, a step, or both. A bit of DR6 may be set for a register that is off: it counts when DR7 had it on. */
static notrace noinline bool debug_report(struct pt_regs *regs, u64 dr7, u64 dr6)
{
	bool expected = dr6 & DR6_B;

	report_hits(regs, dr7, dr6);
	if (dr6 & DR6_BS)
		expected |= single_step_trap(regs);
	return expected;
}

/* debug_ops.exception. In .noinstr.text, because a CPU that is stepped is stepped while it is parked, too. */
static noinstr bool debug_exception(struct pt_regs *regs, u64 dr7, u64 dr6)
{
	if (!(dr6 & DR6_B) && dr6 & DR6_BS && single_step_parked(regs))
		return true;
	return debug_report(regs, dr7, dr6);
}

/* An instruction that is to be executed has not been: RF lets it pass when it is returned to. */
static void debug_note_user(struct pt_regs *regs, u64 dr6)
{
	struct user_debug *user = &current->thread.debug;

	user->dr6 = dr6 & DR6_BS;
	for (unsigned n = 0; n < NR_DEBUG_REGISTERS; n++) {
		unsigned i = user_debug_index(n);

		if (!(dr6 & BIT(n)) || !DR7_ENABLED(user->dr7, i))
			continue;
		user->dr6 |= BIT(i);
		if ((DR7_CONTROL_OF(user->dr7, i) & DR7_READ_WRITE) == DR7_EXECUTE)
			regs->rflags |= X86_EFLAGS_RF;
	}
}

/* What a register may watch of a program: as arch_hw_breakpoint_check(), by DR7's codes. */
static bool valid_user(u64 address, unsigned control)
{
	static const u8 length[] = {1, 2, 8, 4};
	unsigned type = control & 3, len = length[control >> 2];

	if (type == 2 || (type == DR7_EXECUTE && len != 1))
		return false; /* accesses to ports; a length that the CPU does not define */
	return address < TASK_SIZE - len && !(address & (len - 1));
}

/* Those that are on afterwards are taken first, so that nothing changes when one cannot be had. */
int debug_set_user(struct user_debug *user, const struct user_debug *new)
{
	unsigned taken = 0;
	int err = 0;

	for (unsigned i = 0; i < NR_DEBUG_REGISTERS && !err; i++) {
		if (!DR7_ENABLED(new->dr7, i))
			continue;
		err = valid_user(new->address[i], DR7_CONTROL_OF(new->dr7, i)) ? 0 : -EINVAL;
		if (!err && !DR7_ENABLED(user->dr7, i))
			err = hw_breakpoint_user_get(HW_BREAKPOINT_W, i);
		if (!err && !DR7_ENABLED(user->dr7, i))
			taken |= BIT(i);
	}
	for (unsigned i = 0; i < NR_DEBUG_REGISTERS; i++)
		if (err ? taken & BIT(i) : DR7_ENABLED(user->dr7, i) && !DR7_ENABLED(new->dr7, i))
			hw_breakpoint_user_put(HW_BREAKPOINT_W, i);
	if (!err)
		*user = *new;
	return err;
}

/* debug_ops.task_forget. Interrupts are off, because a switch of tasks would load what is taken away here. */
static void debug_task_forget(struct task_struct *task)
{
	struct user_debug *user = &task->thread.debug;
	unsigned long flags;

	local_irq_save(flags);
	for (unsigned i = 0; i < NR_DEBUG_REGISTERS; i++)
		if (DR7_ENABLED(user->dr7, i))
			hw_breakpoint_user_put(HW_BREAKPOINT_W, i);
	*user = (struct user_debug){0};
	if (task == current)
		arch_hw_breakpoints_load();
	local_irq_restore(flags);
}

static const struct debug_ops debug_machine = {
	.cpu_up = arch_hw_breakpoints_load,
	.exception = debug_exception,
	.user_trap = debug_note_user,
	.task_switch = debug_task_switch,
	.task_forget = debug_task_forget,
	.user_step = user_step_enter,
	.user_step_end = user_disable_single_step,
};
REGISTER_DEBUG_OPS(debug_machine);
