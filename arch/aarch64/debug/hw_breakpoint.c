/*
 * Debug registers (Arm ARM D2.8 to D2.11) and the debug exceptions of the kernel.
 *
 * The kernel's watchpoints and breakpoints are set for EL1 only, so programs raise none; those of a task's debugger are
 * set for EL0 only, while that task runs (traps.c makes signals of them). They are reported while PSTATE.D is clear,
 * which it is everywhere in the kernel but in the first and last instructions of an exception (entry.S) and in a debug
 * exception, which masks D to its end. So what a handler touches is not reported, and nothing here can recurse.
 *
 * A watchpoint comes before its access: going back would raise it again. So the registers are made silent, the one
 * instruction is stepped, and the step exception puts them back (single_step.c). A breakpoint comes before its
 * instruction and is stepped over in the same way. Interrupts are masked from the exception to the end of the step: an
 * interrupt would run with silent registers, and what it accesses would be missed.
 */
#include <arch/debug_ops.h>
#include <arch/hw_breakpoint.h>
#include <arch/user_step.h>
#include <asm/barrier.h>
#include <asm/page.h>
#include <asm/ptrace.h>
#include <irq/irqflags.h>
#include <kernel/hw_breakpoint.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <sched/task.h>

#include "debug_regs.h"
#include "../exception.h"

#define MAX_EACH	 16	  /* of each kind, by the width of the fields in ID_AA64DFR0_EL1 */
#define FIRST_BREAKPOINT MAX_EACH /* numbers: watchpoints from 0, breakpoints from here */
#define CONTROL_ENABLE	 1	  /* DBGWCR<n>_EL1, DBGBCR<n>_EL1, D19.3.2 and D19.3.12 */
#define CONTROL_EL1	 (1 << 1) /* PAC, PMC: EL1 only */
#define CONTROL_EL0	 (2 << 1) /* EL0 only */
#define CONTROL_LOAD	 (1 << 3) /* LSC */
#define CONTROL_STORE	 (1 << 4)
#define CONTROL_BAS	 5	    /* which of the 8 bytes */
#define BREAKPOINT_BAS	 (0xf << 5) /* all 4 bytes of an instruction */

/* System registers are part of the instruction's code, so each number has its own. */
#define WRITE_ONE(n, reg, v)                        \
	case n:                                     \
		write_sysreg(v, dbg##reg##n##_el1); \
		break;
/* clang-format off */
#define WRITE_NUMBERED(number, reg, v) \
	switch (number) { \
		WRITE_ONE(0, reg, v) \
		WRITE_ONE(1, reg, v) \
		WRITE_ONE(2, reg, v) \
		WRITE_ONE(3, reg, v) \
		WRITE_ONE(4, reg, v) \
		WRITE_ONE(5, reg, v) \
		WRITE_ONE(6, reg, v) \
		WRITE_ONE(7, reg, v) \
		WRITE_ONE(8, reg, v) \
		WRITE_ONE(9, reg, v) \
		WRITE_ONE(10, reg, v) \
		WRITE_ONE(11, reg, v) \
		WRITE_ONE(12, reg, v) \
		WRITE_ONE(13, reg, v) \
		WRITE_ONE(14, reg, v) \
		WRITE_ONE(15, reg, v) \
	}
/* clang-format on */

/* The address goes first: until the control word enables it, it means nothing. */
static notrace void write_watchpoint(unsigned n, u64 address, u64 control)
{
	WRITE_NUMBERED(n, wcr, 0);
	WRITE_NUMBERED(n, wvr, address);
	WRITE_NUMBERED(n, wcr, control);
}

static notrace void write_breakpoint(unsigned n, u64 address, u64 control)
{
	WRITE_NUMBERED(n, bcr, 0);
	WRITE_NUMBERED(n, bvr, address);
	WRITE_NUMBERED(n, bcr, control);
}

/* ID_AA64DFR0_EL1, D19.2.59: WRPs in 23:20, BRPs in 15:12, each one less than there are. */
static notrace unsigned nr_watchpoints(void)
{
	return ((read_sysreg(id_aa64dfr0_el1) >> 20) & 0xf) + 1;
}

static notrace unsigned nr_breakpoints(void)
{
	return ((read_sysreg(id_aa64dfr0_el1) >> 12) & 0xf) + 1;
}

/* The architecture promises two breakpoints: on such a CPU there are none to hand out. */
struct hw_breakpoint_range arch_hw_breakpoint_range(u32 bp_type)
{
	if (bp_type == HW_BREAKPOINT_X)
		return (struct hw_breakpoint_range){FIRST_BREAKPOINT, nr_breakpoints() - NR_STEP_EXITS};
	return (struct hw_breakpoint_range){0, nr_watchpoints()};
}

int arch_hw_breakpoint_check(const struct perf_event_attr *attr)
{
	if (attr->bp_addr < PAGE_OFFSET)
		return -EINVAL;
	if (attr->bp_type == HW_BREAKPOINT_X)
		return attr->bp_len == sizeof(long) && !(attr->bp_addr & 3) && single_step_can(attr->bp_addr) ? 0
													      : -EINVAL;
	if (!attr->bp_type || attr->bp_type & ~HW_BREAKPOINT_RW)
		return -EINVAL;
	return attr->bp_len && attr->bp_len <= 8 - (attr->bp_addr & 7) ? 0 : -EINVAL;
}

/* What a debugger has in its register i, as the CPU's register is to have it; all zero: it is off. */
static notrace struct user_debug_register user_register(const struct user_debug_register *all, unsigned i)
{
	struct user_debug_register r = {0, 0};

	if (all && all[i].control & CONTROL_ENABLE)
		r = all[i];
	return r;
}

/*
 * Make watchpoint n of this CPU what hw_breakpoint_of(n) says now, or switch it off. A watchpoint watches eight aligned
 * bytes, and BAS has a bit for each of them that counts. Context: interrupts off. Not traced.
 */
static notrace void load_watchpoint(unsigned n, const struct user_debug *user)
{
	const struct perf_event *bp = hw_breakpoint_of(n);
	u64 bytes, control;

	if (!bp) {
		struct user_debug_register r = user_register(user ? user->watch : NULL, nr_watchpoints() - 1 - n);

		write_watchpoint(n, r.address, r.control);
		return;
	}
	bytes = (BIT(bp->attr.bp_len) - 1) << (bp->attr.bp_addr & 7);
	control = bytes << CONTROL_BAS | CONTROL_EL1 | CONTROL_ENABLE;
	if (bp->attr.bp_type & HW_BREAKPOINT_R)
		control |= CONTROL_LOAD;
	if (bp->attr.bp_type & HW_BREAKPOINT_W)
		control |= CONTROL_STORE;
	write_watchpoint(n, bp->attr.bp_addr & ~7UL, control);
}

static notrace void load_breakpoint(unsigned n, const struct user_debug *user)
{
	const struct perf_event *bp = hw_breakpoint_of(FIRST_BREAKPOINT + n);
	struct user_debug_register r;

	if (bp) {
		write_breakpoint(n, bp->attr.bp_addr, BREAKPOINT_BAS | CONTROL_EL1 | CONTROL_ENABLE);
		return;
	}
	r = user_register(user ? user->break_at : NULL, nr_breakpoints() - NR_STEP_EXITS - 1 - n);
	write_breakpoint(n, r.address, r.control);
}

static notrace void debug_registers_switch(const struct user_debug *user)
{

	for (unsigned n = 0; n < nr_watchpoints(); n++)
		load_watchpoint(n, user);
	for (unsigned n = 0; n < nr_breakpoints() - NR_STEP_EXITS; n++)
		load_breakpoint(n, user);
	isb();
}

notrace void debug_registers_load(void)
{
	debug_registers_switch(current->thread.debug);
}

notrace void debug_registers_clear(void)
{
	for (unsigned n = 0; n < nr_watchpoints(); n++)
		write_watchpoint(n, 0, 0);
	for (unsigned n = 0; n < nr_breakpoints() - NR_STEP_EXITS; n++)
		write_breakpoint(n, 0, 0);
	isb();
}

notrace void debug_switch(bool step, bool report)
{
	u64 was = read_sysreg(mdscr_el1), mdscr = was & ~(u64)(MDSCR_SS | MDSCR_MDE);

	mdscr |= MDSCR_KDE | (step ? MDSCR_SS : 0) | (report ? MDSCR_MDE : 0);
	if (mdscr == was)
		return;
	write_sysreg(mdscr, mdscr_el1);
	isb();
}

notrace void debug_write_exit(unsigned i, u64 pc)
{
	write_breakpoint(nr_breakpoints() - 1 - i, pc, pc ? BREAKPOINT_BAS | CONTROL_EL1 | CONTROL_ENABLE : 0);
}

/*
 * Also on a CPU that is stepped through. The last step of that may come at any instruction here, and clears SS: so SS
 * is read and written back with debug exceptions masked. The OS lock, which reset closes, holds all debug exceptions
 * back but BRK (D2.2); the kept breakpoints hold anything after a reset. Interrupts off.
 */
void arch_hw_breakpoints_load(void)
{
	u64 daif;

	if (!(read_sysreg(mdscr_el1) & MDSCR_KDE)) {
		write_sysreg(0, oslar_el1);
		for (unsigned i = 0; i < NR_STEP_EXITS; i++)
			debug_write_exit(i, 0);
	}
	debug_registers_load();
	daif = read_sysreg(daif);
	__asm__ volatile("msr daifset, #8" : : : "memory");
	write_sysreg(read_sysreg(mdscr_el1) | MDSCR_MDE | MDSCR_KDE, mdscr_el1);
	isb();
	write_sysreg(daif, daif);
}

/* A CPU on which no breakpoint was ever set reports none: it is prepared first. */
static notrace void debug_task_switch(const struct task_struct *next)
{
	if (!(read_sysreg(mdscr_el1) & MDSCR_KDE))
		arch_hw_breakpoints_load();
	debug_registers_switch(next->thread.debug);
}

/*
 * FAR_EL1 is an address between the lowest that the instruction accesses and the highest that is watched (D2.10.5);
 * QEMU gives the first watched byte that is accessed. So the watchpoint that lies there is the one. When one
 * instruction accesses two watched places, the CPU reports only one of them.
 */
static notrace void watchpoint_hit(struct pt_regs *regs, u64 esr, u64 far)
{
	u32 type = esr & ESR_WNR ? HW_BREAKPOINT_W : HW_BREAKPOINT_R;

	for (unsigned n = 0; n < nr_watchpoints(); n++) {
		const struct perf_event *bp = hw_breakpoint_of(n);

		if (bp && bp->attr.bp_type & type && far - bp->attr.bp_addr < bp->attr.bp_len)
			hw_breakpoint_hit(n, regs);
	}
}

notrace void debug_report_store(struct pt_regs *regs, u64 address, unsigned bytes)
{
	for (unsigned n = 0; n < nr_watchpoints(); n++) {
		const struct perf_event *bp = hw_breakpoint_of(n);

		if (bp && bp->attr.bp_type & HW_BREAKPOINT_W && address < bp->attr.bp_addr + bp->attr.bp_len &&
		    bp->attr.bp_addr < address + bytes)
			hw_breakpoint_hit(n, regs);
	}
}

static notrace void breakpoint_hit(struct pt_regs *regs)
{
	for (unsigned n = 0; n < nr_breakpoints() - NR_STEP_EXITS; n++) {
		const struct perf_event *bp = hw_breakpoint_of(FIRST_BREAKPOINT + n);

		if (bp && bp->attr.bp_addr == regs->pc)
			hw_breakpoint_hit(FIRST_BREAKPOINT + n, regs);
	}
}

/*
 * debug_ops.exception. Debug exceptions stay masked. A breakpoint at the end of a step is the step's: after it the
 * registers are put back, and what else is set at that instruction is reported when it is executed.
 */
static notrace bool debug_exception(struct pt_regs *regs, u64 esr, u64 far)
{
	switch (ESR_EC(esr)) {
	case ESR_EC_WATCHPT_CUR:
		watchpoint_hit(regs, esr, far);
		single_step_begin(regs);
		return true;
	case ESR_EC_BREAKPT_CUR:
		if (single_step_end(regs, true))
			return true;
		breakpoint_hit(regs);
		single_step_begin(regs);
		return true;
	default: /* a step */
		return single_step_end(regs, false);
	}
}

unsigned nr_user_registers(u32 bp_type)
{
	return arch_hw_breakpoint_range(bp_type).count;
}

/*
 * A debugger's address and control word, as the CPU's registers have them: the address is cut to the unit that the
 * bytes of BAS are counted from, and only programs are watched. -EINVAL for what is no range of bytes of a program, or
 * has a hole in it.
 */
static int make_user(struct user_debug_register *r, u32 bp_type)
{
	bool watch = bp_type != HW_BREAKPOINT_X;
	u64 unit = watch ? 8 : 4, bytes = r->control >> CONTROL_BAS & 0xff;
	u32 types = r->control & (CONTROL_LOAD | CONTROL_STORE);

	if (r->address >= TASK_SIZE || (watch ? !types : (r->address & 3) || bytes != 0xf))
		return -EINVAL;
	bytes <<= r->address & (unit - 1);
	if (!bytes || bytes > 0xff || bytes & (bytes + (bytes & -bytes)))
		return -EINVAL;
	r->address &= ~(unit - 1);
	r->control = bytes << CONTROL_BAS | (watch ? types : 0) | CONTROL_EL0 | CONTROL_ENABLE;
	return 0;
}

/* One that is off needs no register of the CPU's, and keeps what the debugger has written. */
int debug_set_user(struct user_debug_register *now, struct user_debug_register new, u32 bp_type, unsigned i)
{
	bool was_on = now->control & CONTROL_ENABLE, on = new.control &CONTROL_ENABLE;
	int err = on ? make_user(&new, bp_type) : 0;

	if (!err && on && !was_on)
		err = hw_breakpoint_user_get(bp_type, i);
	if (err)
		return err;
	if (was_on && !on)
		hw_breakpoint_user_put(bp_type, i);
	*now = new;
	return 0;
}

/* debug_ops.task_forget. Interrupts are off, because a switch of tasks would load what is taken away here. */
static void debug_task_forget(struct task_struct *task)
{
	struct user_debug *user = task->thread.debug;
	unsigned long flags;

	local_irq_save(flags);
	for (unsigned i = 0; i < MAX_USER_DEBUG; i++) {
		if (user->watch[i].control & CONTROL_ENABLE)
			hw_breakpoint_user_put(HW_BREAKPOINT_RW, i);
		if (user->break_at[i].control & CONTROL_ENABLE)
			hw_breakpoint_user_put(HW_BREAKPOINT_X, i);
	}
	task->thread.debug = NULL;
	if (task == current)
		debug_registers_load();
	local_irq_restore(flags);
	kfree(user);
}

static const struct debug_ops debug_machine = {
	.cpu_up = arch_hw_breakpoints_load,
	.exception = debug_exception,
	.task_switch = debug_task_switch,
	.task_forget = debug_task_forget,
	.user_step = user_step_enter,
	.user_step_end = user_disable_single_step,
};
REGISTER_DEBUG_OPS(debug_machine);
