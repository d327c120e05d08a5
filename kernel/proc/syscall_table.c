/* The table of system calls, made from each machine's list of numbers, and what becomes of unknown ones. */
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/types.h>
#include <proc/syscall.h>
#include <sched/current.h>

/*
 * Three passes over the list: prototypes, functions, names. All functions are called with six registers;
 * those that take fewer do not look at the rest (both machines' C calling conventions pass the first six in
 * registers).
 */
#define SYSCALL(nr, name, nargs) long sys_##name(void);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#include <asm/syscall_table.h>
#pragma GCC diagnostic pop
#undef SYSCALL

#define SYSCALL(nr, name, nargs) [nr] = (syscall_fn_t)sys_##name,
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
const syscall_fn_t sys_call_table[] = {
#include <asm/syscall_table.h>
};
#pragma GCC diagnostic pop
#undef SYSCALL

#define SYSCALL(nr, name, nargs) [nr] = #name,
const char *const sys_call_names[] = {
#include <asm/syscall_table.h>
};
#undef SYSCALL

#define SYSCALL(nr, name, nargs) [nr] = nargs,
const u8 sys_call_nargs[] = {
#include <asm/syscall_table.h>
};
#undef SYSCALL

const unsigned nr_syscalls = ARRAY_SIZE(sys_call_table);

/* Counted by who dispatches, without a lock: two at the same moment may count as one. */
unsigned long nr_unknown_syscalls;

static int unknown_syscalls_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%lu\n", READ_ONCE(nr_unknown_syscalls));
	return 0;
}

static const struct proc_entry unknown_syscalls = {
	.path = "unknown_syscalls",
	.mode = 0444,
	.show = unknown_syscalls_show,
};
REGISTER_PROC(unknown_syscalls);
