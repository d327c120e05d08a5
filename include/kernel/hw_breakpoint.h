/*
 * Hardware breakpoints of the kernel's own memory and code (kernel/debug): a function is called whenever any
 * CPU reads, writes or executes some bytes. Names and numbers are Linux's.
 *
 *	struct perf_event_attr attr;
 *
 *	hw_breakpoint_init(&attr);
 *	attr.bp_addr = (unsigned long)&variable;
 *	attr.bp_len = sizeof(variable);
 *	attr.bp_type = HW_BREAKPOINT_W;
 *	bp = register_wide_hw_breakpoint(&attr, handler, NULL);
 *
 * Only what the kernel does is seen, never what a program does: that is for debuggers, see below.
 * <arch/hw_breakpoint.h> says what each machine cannot report.
 */
#pragma once

#include <kernel/percpu.h>
#include <lib/types.h>

struct pt_regs;
struct perf_event;

enum {
	HW_BREAKPOINT_EMPTY = 0,
	HW_BREAKPOINT_R = 1,
	HW_BREAKPOINT_W = 2,
	HW_BREAKPOINT_RW = 3,
	HW_BREAKPOINT_X = 4,
};
enum {
	HW_BREAKPOINT_LEN_1 = 1,
	HW_BREAKPOINT_LEN_2 = 2,
	HW_BREAKPOINT_LEN_4 = 4,
	HW_BREAKPOINT_LEN_8 = 8,
};

/* What is watched: of Linux's structure the fields that a breakpoint has. */
struct perf_event_attr {
	u64 bp_addr; /* address of the kernel's image, linear map, vmalloc or a module */
	u64 bp_len;  /* bytes; for HW_BREAKPOINT_X sizeof(long), as in Linux */
	u32 bp_type; /* HW_BREAKPOINT_R, _W, _RW or _X */
};

/* What Linux hands to a handler besides the breakpoint. */
struct perf_sample_data {
	u64 addr; /* bp_addr of the breakpoint */
};

/*
 * Called for each access, on the CPU that made it, in debug exception context: interrupts and preemption are off, no
 * breakpoint is reported, and any lock may be held by the interrupted code, with which it may be half done. So a
 * handler takes no lock and must not be traced. `regs`: on x86_64 behind the instruction that accessed, on aarch64 at
 * it; on both at the instruction for HW_BREAKPOINT_X.
 */
typedef void (*perf_overflow_handler_t)(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs);

/* A breakpoint. Locks: m hw_breakpoint_mutex; I immutable while it is registered. */
struct perf_event {
	struct perf_event_attr attr;		  /* [I] */
	perf_overflow_handler_t overflow_handler; /* [I] NULL: the register is free [m] */
	void *overflow_handler_context;		  /* [I] the handler's own */
};

static inline void hw_breakpoint_init(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){.bp_len = HW_BREAKPOINT_LEN_1};
}

/*
 * Watch on all CPUs; when this returns, each reports accesses. The result is a per-CPU pointer, as in Linux; here all
 * CPUs have the same struct. ERR_PTR: -EINVAL: the machine cannot watch this (length, alignment, type), or the kernel
 * would not survive it (what reports breakpoints); -ENOSPC: all registers for this type are in use. Thread
 * context, interrupts on; takes a mutex.
 */
struct perf_event **register_wide_hw_breakpoint(const struct perf_event_attr *attr, perf_overflow_handler_t triggered,
						void *context);
/* End it. When this returns, no handler runs any more. An ERR_PTR or NULL is left alone. The same context. */
void unregister_wide_hw_breakpoint(struct perf_event **events);

/* For the machine's entry code: register `number` has reported an access. Debug exception context. */
void hw_breakpoint_hit(unsigned number, struct pt_regs *regs);
/* The breakpoint in register `number`, or NULL. Any context. */
const struct perf_event *hw_breakpoint_of(unsigned number);

/*
 * A debugger's breakpoint number `index` of one task (below the count of arch_hw_breakpoint_range): take the register,
 * or give it back. get: 0, or -ENOSPC, the kernel has it; thread context, takes a mutex. put: any context.
 */
int hw_breakpoint_user_get(u32 bp_type, unsigned index);
void hw_breakpoint_user_put(u32 bp_type, unsigned index);
/* The number of that register. Any context. */
unsigned hw_breakpoint_user_number(u32 bp_type, unsigned index);
