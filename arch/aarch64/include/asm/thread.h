/* What of a task is this machine's: registers while it does not run, TLS, FP/SIMD state. */
#pragma once

#include <lib/types.h>

/* What a C function may rely on across a call (AAPCS64 6.1.1): all that cpu_switch_to must keep. */
struct cpu_context {
	u64 x19, x20, x21, x22, x23, x24, x25, x26, x27, x28;
	u64 fp, sp, pc;
};
struct user_fpsimd {
	u64 vregs[64]; /* V0-V31, low half first */
	u32 fpsr, fpcr;
	u64 pad; /* keeps the size a multiple of 16 */
} __aligned(16);

/*
 * Debug registers that a task's debugger has set: an address and a control word as DBGBVR<n> and DBGBCR<n> have them,
 * or DBGWVR<n> and DBGWCR<n>.
 */
#define MAX_USER_DEBUG 16
struct user_debug_register {
	u64 address;
	u32 control;
};
struct user_debug {
	struct user_debug_register watch[MAX_USER_DEBUG], break_at[MAX_USER_DEBUG];
};

/*
 * FP/SIMD: `fpsimd` is current while the task does not run; while it runs and fpu_live is set, the CPU's
 * registers are newer. Locks: s changed by the task itself with preemption off, or by the switch.
 */
struct thread_struct {
	struct cpu_context ctx;	   /* [s] */
	u64 tp_value;		   /* [s] TPIDR_EL0, user TLS, while not running */
	struct user_fpsimd fpsimd; /* [s] */
	u32 fpu_cpu;		   /* [s] CPU whose registers last held fpsimd; NR_CPUS or above: none */
	u8 fpu_live;		   /* [s] EL0 may use the registers, and they are the task's */
	u8 fpu_hot;		   /* [s] switch-ins left that load the registers before they are asked for */
	u64 fault_address;	   /* [s] of the last fault signal, for sigcontext */
	struct user_debug *debug;  /* [by the debugger while the task stands still] NULL: none was ever set */
};
