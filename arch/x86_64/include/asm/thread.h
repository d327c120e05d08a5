/* What of a task is this machine's: registers while it does not run, TLS, FPU state. */
#pragma once

#include <asm/fpu.h>
#include <lib/types.h>

/*
 * What cpu_switch_to leaves at thread.sp: all that a C function may rely on across a call (System V
 * ABI, 3.2.1). The last two words are a frame record: {rbp, return address} of the caller.
 */
struct switch_frame {
	u64 r15, r14, r13, r12, rbx, rbp;
	u64 pc;
};

/* Debug registers as a task's debugger has set them: DR0 to DR3, DR7, and in DR6 which ones were hit. */
struct user_debug {
	u64 address[4], dr6, dr7;
};

/* The selectors of user mode's data segments. `all` asks of the four at once whether one is not null. */
union user_segments {
	struct {
		u16 ds, es, fs, gs;
	};
	u64 all;
};

/*
 * fsbase, gsbase and segments are exact while the task does not run. While it runs, the registers say what holds:
 * user mode loads selectors itself, and each load of FS or GS sets the base to 0, since no segment of ours has
 * another. It cannot set a base, as CR4.FSGSBASE is off, so a base that is 0 here is 0 in the register. Both are
 * canonical user addresses. Locks: s changed by the task itself, or by the switch; t the task itself.
 */
struct thread_struct {
	u64 sp;			      /* [s] struct switch_frame, while not running */
	u64 fsbase;		      /* [s] FS base, user TLS */
	u64 gsbase;		      /* [s] user GS base, in KERNEL_GS_BASE while the task is in the kernel */
	union user_segments segments; /* [s] */
	u64 cr2;		      /* [t] of the last fault signal, for sigcontext, as are the next two */
	u64 trap_nr;		      /* [t] vector */
	u64 error_code;		      /* [t] */
	struct user_debug debug;      /* [s; by the debugger while the task stands still] */
	struct fpu fpu;		      /* [s] */
};
