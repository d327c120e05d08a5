/*
 * The table of system calls, which the machine's list of calls (<generated/syscall_table.h>, made by
 * tools/syscall_table.py) is expanded into, and the answer to numbers without a call. The list is included twice with
 * different meanings of SYSCALL(): for prototypes, and for entries.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/types.h>
#include <proc/syscall.h>

/* How many calls there were of numbers without a function. Any CPU adds to it, atomically. */
static unsigned long nr_unknown_syscalls;

long sys_ni_syscall(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
		    unsigned long f)
{
	__atomic_fetch_add(&nr_unknown_syscalls, 1, __ATOMIC_RELAXED);
	return -ENOSYS;
}

/*
 * First pass: prototypes. All functions are called with six registers. A function with fewer parameters does not look
 * at the rest, since the calling conventions of both machines pass the first six arguments in registers; so a
 * prototype without parameters does for all of them, and the compiler's warnings about that are switched off.
 */
#define SYSCALL(nr, name, ...) long sys_##name(void);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#include <generated/syscall_table.h>
#pragma GCC diagnostic pop
#undef SYSCALL

/* Second pass: entries. The range comes first, and each entry then replaces its part of it. */
#define SYSCALL(nr, name, ...) [nr] = (syscall_fn_t)sys_##name,
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
#pragma GCC diagnostic ignored "-Woverride-init"
const syscall_fn_t sys_call_table[] = {
	[0 ... NR_SYSCALLS - 1] = sys_ni_syscall,
#include <generated/syscall_table.h>
};
#pragma GCC diagnostic pop
#undef SYSCALL

static int unknown_syscalls_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%lu\n", READ_ONCE(nr_unknown_syscalls));
	return 0;
}

static const struct text_file unknown_syscalls = {
	.path = "unknown_syscalls",
	.mode = 0444,
	.show = unknown_syscalls_show,
};
REGISTER_PROC(unknown_syscalls);
