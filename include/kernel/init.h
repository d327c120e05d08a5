/*
 * Initcalls: what a boot calls once, placed beside the function, so that something new needs no line in
 * kernel/init/main.c, which runs the levels and says what each is for:
 *
 *     static int lamp_init(void)    // 0 or -errno; process 1, interrupts on, may sleep
 *     ...
 *     device_initcall(lamp_init);
 *
 * Of two in a level, the one in the file whose path sorts first runs first (linker.ld); in a file they run as they
 * stand. What needs another order belongs to another level. An error is reported and the boot goes on: what it cannot
 * go on without panics itself.
 */
#pragma once

#include <lib/types.h>

typedef int (*initcall_t)(void);
typedef __typeof__(*(initcall_t)0) initcall_fn;

#define early_initcall(fn)  __initcall(early, fn)  /* one CPU still */
#define core_initcall(fn)   __initcall(core, fn)   /* all CPUs; what the later levels build on */
#define fs_initcall(fn)	    __initcall(fs, fn)	   /* files */
#define device_initcall(fn) __initcall(device, fn) /* whatever else is there */
#define late_initcall(fn)   __initcall(late, fn)   /* what wants all of that to be there */

#define __initcall(level, fn) \
	static initcall_fn *const __concat(__initcall_, fn) __used __section("ptrs_initcall_" #level) = fn

DECLARE_TABLE(initcall_early, initcall_fn);
DECLARE_TABLE(initcall_core, initcall_fn);
DECLARE_TABLE(initcall_fs, initcall_fn);
DECLARE_TABLE(initcall_device, initcall_fn);
DECLARE_TABLE(initcall_late, initcall_fn);

/* One of them, or the init of a module, with its tracepoints. What it returns. Thread context. */
int do_one_initcall(initcall_t fn);
/*
 * For probes of initcall_finish: how many nanoseconds the current task's initcall took, from its call to its return.
 * All probes get the same number, whatever each of them takes. 0 elsewhere, and for an initcall that had begun before
 * the first probe of initcall_finish was registered. Thread context; takes a spinlock of its own.
 */
u64 initcall_duration(void);
/* Boot, process 1: all of a level, do_initcalls(core). */
#define do_initcalls(level) __do_initcalls(#level, __start_ptrs_initcall_##level, __stop_ptrs_initcall_##level)
void __do_initcalls(const char *level, initcall_fn *const *from, initcall_fn *const *to);
