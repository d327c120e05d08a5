/*
 * A debugger's view of a task that stands still (<arch/ptrace.h>): its registers, in Linux's sets. All registers are in
 * memory then: the general ones in the pt_regs at the top of its stack, the others in its thread_struct. To change
 * the FP registers, it is enough to say that no CPU has them any more.
 */
#include <arch/ptrace.h>
#include <arch/thread.h>
#include <asm/elf.h>
#include <asm/ptrace.h>
#include <kernel/hw_breakpoint.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "../debug/debug_regs.h"

#define NT_PRSTATUS	   1
#define NT_PRFPREG	   2
#define NT_ARM_TLS	   0x401
#define NT_ARM_HW_BREAK	   0x402
#define NT_ARM_HW_WATCH	   0x403
#define NT_ARM_SYSTEM_CALL 0x404

#define USER_REGS_SIZE offsetof(struct pt_regs, orig_x0) /* Linux's user_pt_regs: x0 to x30, sp, pc, pstate */

/* Bits of PSTATE that a debugger may set: condition flags, and what rt_sigreturn(2) takes from a program, too. */
#define USER_PSTATE (PSR_NZCV_MASK | PSR_BTYPE_MASK | PSR_SSBS_BIT | PSR_DIT_BIT | PSR_TCO_BIT)

static void gpr_get(struct task_struct *t, void *buf)
{
	memcpy(buf, task_pt_regs(t), USER_REGS_SIZE);
}

/* Another mode or width than user mode's is refused, and so are masks of interrupts: as in Linux, -EINVAL. */
static int gpr_set(struct task_struct *t, const void *buf, unsigned n)
{
	struct pt_regs *regs = task_pt_regs(t), new;

	memcpy(&new, buf, USER_REGS_SIZE);
	if (new.pstate &(PSR_MODE_MASK | PSR_MODE32 | PSR_DAIF_MASK))
		return -EINVAL;
	new.pstate = (new.pstate &USER_PSTATE) | (regs->pstate & ~(u64)USER_PSTATE);
	memcpy(regs, &new, USER_REGS_SIZE);
	return 0;
}

static void fpr_get(struct task_struct *t, void *buf)
{
	memcpy(buf, &t->thread.fpsimd, sizeof(t->thread.fpsimd));
}

static int fpr_set(struct task_struct *t, const void *buf, unsigned n)
{
	memcpy(&t->thread.fpsimd, buf, sizeof(t->thread.fpsimd));
	t->thread.fpu_cpu = NR_CPUS;
	return 0;
}

static void tls_get(struct task_struct *t, void *buf)
{
	memcpy(buf, &t->thread.tp_value, sizeof(u64));
}

static int tls_set(struct task_struct *t, const void *buf, unsigned n)
{
	memcpy(&t->thread.tp_value, buf, sizeof(u64));
	return 0;
}

static void syscall_get(struct task_struct *t, void *buf)
{
	memcpy(buf, &task_pt_regs(t)->syscallno, sizeof(s32));
}

static int syscall_set(struct task_struct *t, const void *buf, unsigned n)
{
	memcpy(&task_pt_regs(t)->syscallno, buf, sizeof(s32));
	return 0;
}

/* Linux's struct user_hwdebug_state. */
struct hw_state {
	u32 info, pad; /* version of the debug architecture in bits 8 to 15, number of registers in 0 to 7 */
	struct {
		u64 address;
		u32 control, pad;
	} r[MAX_USER_DEBUG];
};

static void hw_get(struct task_struct *t, struct hw_state *s, u32 bp_type)
{
	const struct user_debug *user = t->thread.debug;
	unsigned n = nr_user_registers(bp_type);

	s->info = (read_sysreg(id_aa64dfr0_el1) & 0xf) << 8 | n;
	for (unsigned i = 0; user && i < n; i++) {
		const struct user_debug_register *r = bp_type == HW_BREAKPOINT_X ? &user->break_at[i] : &user->watch[i];

		s->r[i].address = r->address;
		s->r[i].control = r->control;
	}
}

/* One register after the other, as on Linux: those before a bad one stay. -ENOMEM; else as debug_set_user(). */
static int hw_set(struct task_struct *t, const struct hw_state *s, unsigned len, u32 bp_type)
{
	unsigned n = len < offsetof(struct hw_state, r) ? 0 : (len - offsetof(struct hw_state, r)) / sizeof(s->r[0]);
	struct user_debug *user = t->thread.debug;
	int err = 0;

	if (!user) {
		user = kzalloc(sizeof(*user), GFP_KERNEL);
		if (!user)
			return -ENOMEM;
		t->thread.debug = user;
	}
	for (unsigned i = 0; i < min(n, nr_user_registers(bp_type)) && !err; i++)
		err = debug_set_user(bp_type == HW_BREAKPOINT_X ? &user->break_at[i] : &user->watch[i],
				     (struct user_debug_register){s->r[i].address, s->r[i].control}, bp_type, i);
	return err;
}

static void hw_break_get(struct task_struct *t, void *buf)
{
	hw_get(t, buf, HW_BREAKPOINT_X);
}

static int hw_break_set(struct task_struct *t, const void *buf, unsigned n)
{
	return hw_set(t, buf, n, HW_BREAKPOINT_X);
}

static void hw_watch_get(struct task_struct *t, void *buf)
{
	hw_get(t, buf, HW_BREAKPOINT_RW);
}

static int hw_watch_set(struct task_struct *t, const void *buf, unsigned n)
{
	return hw_set(t, buf, n, HW_BREAKPOINT_RW);
}

static const struct regset regsets[] = {
	{NT_PRSTATUS, 8, USER_REGS_SIZE, gpr_get, gpr_set},
	{NT_PRFPREG, 4, sizeof(struct user_fpsimd), fpr_get, fpr_set},
	{NT_ARM_TLS, 8, sizeof(u64), tls_get, tls_set},
	{NT_ARM_HW_BREAK, 4, sizeof(struct hw_state), hw_break_get, hw_break_set},
	{NT_ARM_HW_WATCH, 4, sizeof(struct hw_state), hw_watch_get, hw_watch_set},
	{NT_ARM_SYSTEM_CALL, 4, sizeof(s32), syscall_get, syscall_set},
};

const struct regset *arch_regset(unsigned type)
{
	for (unsigned i = 0; i < ARRAY_SIZE(regsets); i++)
		if (regsets[i].type == type)
			return &regsets[i];
	return NULL;
}

long arch_ptrace(struct task_struct *t, long request, unsigned long addr, unsigned long data)
{
	return -EIO;
}
