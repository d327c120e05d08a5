/*
 * /proc/<pid>: what a task does in the kernel (wchan, stack, syscall), what it has done there (io), and
 * what it may do (limits).
 *
 * wchan, stack and syscall look at the saved registers and the stack of a task that sleeps. The task may
 * wake up while they look: then the text is wrong, but the look touches no memory outside of the task's
 * stack, and the reader holds a reference to the task.
 */
#include "internal.h"

#include <asm/ptrace.h>
#include <kernel/stacktrace.h>
#include <lib/printf.h>
#include <proc/capability.h>
#include <proc/ptrace.h>
#include <proc/resource.h>
#include <proc/task_alloc.h>
#include <sched/sched.h>

/* Return addresses of one stack that are shown; the outermost ones beyond that are left out. */
#define STACK_DEPTH 64

/*
 * The function in which the task sleeps, without a newline, as on Linux. "0": it runs, or the reader may
 * not know.
 */
static int wchan_show(struct seq_file *m, struct task_struct *t)
{
	unsigned long at = get_wchan(t);

	if (at && ptrace_may_access(t, PTRACE_MODE_READ_FSCREDS))
		seq_printf(m, "%ps", (void *)at);
	else
		seq_putc(m, '0');
	return 0;
}

/*
 * The stack inside the kernel, one frame a line. Only for CAP_SYS_ADMIN: the addresses tell how the kernel is laid
 * out. A task that runs on another CPU has no saved stack and shows nothing. Returns 0 or -EACCES.
 */
static int stack_show(struct seq_file *m, struct task_struct *t)
{
	unsigned long entries[STACK_DEPTH];
	unsigned n;

	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	n = stack_trace_save_tsk(t, entries, STACK_DEPTH, 0);
	for (unsigned i = 0; i < n; i++)
		seq_printf(m, "[<0>] %pB\n", (void *)entries[i]);
	return 0;
}

/*
 * The system call in which the task sleeps: number, six arguments, stack pointer and program counter. -1 in
 * place of the number: it sleeps, but not in a system call (a page fault, or a kernel thread). "running":
 * its registers are not saved.
 */
static int syscall_show(struct seq_file *m, struct task_struct *t)
{
	const struct pt_regs *regs = task_pt_regs(t);
	bool user = !(t->flags & PF_KTHREAD);
	int nr;

	if (t != current && (READ_ONCE(t->on_cpu) || READ_ONCE(t->state) == TASK_RUNNING)) {
		seq_puts(m, "running\n");
		return 0;
	}
	nr = user ? syscall_get_nr(regs) : -1;
	seq_printf(m, "%d", nr);
	for (unsigned i = 0; nr >= 0 && i < 6; i++)
		seq_printf(m, " 0x%lx", syscall_get_arg(regs, i));
	seq_printf(m, " 0x%lx 0x%lx\n", user ? user_stack_pointer(regs) : 0, user ? instruction_pointer(regs) : 0);
	return 0;
}

static int personality_show(struct seq_file *m, struct task_struct *t)
{
	seq_printf(m, "%08x\n", READ_ONCE(t->personality));
	return 0;
}

/* The first four lines of Linux's file. The others count blocks of a disk, and there is no disk. */
static void show_io(struct seq_file *m, const struct task_io *io)
{
	seq_printf(m, "rchar: %llu\nwchar: %llu\nsyscr: %llu\nsyscw: %llu\n", (unsigned long long)io->rchar,
		   (unsigned long long)io->wchar, (unsigned long long)io->syscr, (unsigned long long)io->syscw);
}

/*
 * What the task has read and written by system calls. The file of a process adds up all its threads, those
 * that have ended included (signal->io); the file of a thread shows that thread alone.
 */
static int io_show(struct seq_file *m, struct task_struct *t)
{
	struct sighand_struct *sighand;
	struct task_io sum = {0};
	struct task_struct *p;
	unsigned long flags;

	if (proc_of_thread(m)) {
		task_io_add(&sum, &t->io);
	} else {
		sighand = lock_task_sighand(t, &flags);
		if (!sighand)
			return -ESRCH;
		sum = t->signal->io;
		for_each_thread(t->group_leader, p)
			task_io_add(&sum, &p->io);
		unlock_task_sighand(sighand, flags);
	}
	show_io(m, &sum);
	return 0;
}

/* Names and units of the limits, as Linux prints them. */
static const struct {
	const char *name, *unit;
} limit_names[RLIM_NLIMITS] = {
	[RLIMIT_CPU] = {"Max cpu time", "seconds"},	    [RLIMIT_FSIZE] = {"Max file size", "bytes"},
	[RLIMIT_DATA] = {"Max data size", "bytes"},	    [RLIMIT_STACK] = {"Max stack size", "bytes"},
	[RLIMIT_CORE] = {"Max core file size", "bytes"},    [RLIMIT_RSS] = {"Max resident set", "bytes"},
	[RLIMIT_NPROC] = {"Max processes", "processes"},    [RLIMIT_NOFILE] = {"Max open files", "files"},
	[RLIMIT_MEMLOCK] = {"Max locked memory", "bytes"},  [RLIMIT_AS] = {"Max address space", "bytes"},
	[RLIMIT_LOCKS] = {"Max file locks", "locks"},	    [RLIMIT_SIGPENDING] = {"Max pending signals", "signals"},
	[RLIMIT_MSGQUEUE] = {"Max msgqueue size", "bytes"}, [RLIMIT_NICE] = {"Max nice priority", ""},
	[RLIMIT_RTPRIO] = {"Max realtime priority", ""},    [RLIMIT_RTTIME] = {"Max realtime timeout", "us"},
};

/* One column: a number or the word "unlimited". */
static void show_limit(struct seq_file *m, u64 limit)
{
	if (limit == RLIM_INFINITY)
		seq_printf(m, "%-20s ", "unlimited");
	else
		seq_printf(m, "%-20llu ", (unsigned long long)limit);
}

/* The limits are copied under siglock, so that the soft and the hard limit of one row belong together. */
static int limits_show(struct seq_file *m, struct task_struct *t)
{
	struct sighand_struct *sighand;
	u64 rlim[RLIM_NLIMITS][2];
	unsigned long flags;

	static_assert(sizeof(rlim) == sizeof(t->signal->rlim));
	sighand = lock_task_sighand(t, &flags);
	if (!sighand)
		return 0;
	memcpy(rlim, t->signal->rlim, sizeof(rlim));
	unlock_task_sighand(sighand, flags);
	seq_printf(m, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
		seq_printf(m, "%-25s ", limit_names[i].name);
		show_limit(m, rlim[i][0]);
		show_limit(m, rlim[i][1]);
		if (*limit_names[i].unit)
			seq_printf(m, "%-10s", limit_names[i].unit);
		seq_putc(m, '\n');
	}
	return 0;
}

static const struct proc_pid_entry wchan_entry = {.name = "wchan", .mode = 0444, .show = wchan_show};
static const struct proc_pid_entry stack_entry = {
	.name = "stack", .mode = 0400, .access = PTRACE_MODE_ATTACH_FSCREDS, .show = stack_show};
static const struct proc_pid_entry syscall_entry = {
	.name = "syscall", .mode = 0400, .access = PTRACE_MODE_ATTACH_FSCREDS, .show = syscall_show};
static const struct proc_pid_entry personality_entry = {
	.name = "personality", .mode = 0400, .access = PTRACE_MODE_ATTACH_FSCREDS, .show = personality_show};
static const struct proc_pid_entry io_entry = {
	.name = "io", .mode = 0400, .access = PTRACE_MODE_READ_FSCREDS, .show = io_show};
static const struct proc_pid_entry limits_entry = {.name = "limits", .mode = 0444, .show = limits_show};
REGISTER_PROC_PID(wchan_entry);
REGISTER_PROC_PID(stack_entry);
REGISTER_PROC_PID(syscall_entry);
REGISTER_PROC_PID(personality_entry);
REGISTER_PROC_PID(io_entry);
REGISTER_PROC_PID(limits_entry);
