/*
 * /proc/<pid>/stat, statm and status: numbers about a task, in Linux's columns and lines. ps and top read
 * these.
 *
 * Each group of fields has its own lock, and each lock is held only while a copy is taken: the signals by
 * siglock (get_sig_sets), the relatives by tasklist_lock (get_task_ids), the memory by a reference to the
 * mm. So one file may mix values of slightly different moments, but no value is half old and half new.
 * Printing happens without any lock.
 */
#include "internal.h"

#include <drivers/tty.h>
#include <kernel/smp.h>
#include <lib/bitmap.h>
#include <lib/printf.h>
#include <mm/mm.h>
#include <proc/cred.h>
#include <proc/ptrace.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <uapi/time.h>

#define NSEC_PER_TICK (NSEC_PER_SEC / USER_HZ)

/*
 * The signals of a task by what happens to them, one bit a signal (bit 0 is signal 1), as /proc shows them
 * in hexadecimal.
 */
struct sig_sets {
	sigset_t pending, shared, blocked, ignored, caught;
};

/*
 * Copy the signal sets of t, whole, under siglock. A task that has ended has no handlers any more: all sets
 * are empty.
 */
static void get_sig_sets(struct task_struct *t, struct sig_sets *s)
{
	struct sighand_struct *sighand;
	unsigned long flags;

	memset(s, 0, sizeof(*s));
	sighand = lock_task_sighand(t, &flags);
	if (!sighand) /* it has ended */
		return;
	s->pending = t->pending.signal;
	s->shared = t->signal->shared_pending.signal;
	s->blocked = t->blocked;
	for (unsigned i = 0; i < NSIG; i++) {
		void *handler = (void *)sighand->action[i].sa_handler;

		if (handler == SIG_IGN)
			s->ignored |= 1UL << i;
		else if (handler != SIG_DFL)
			s->caught |= 1UL << i;
	}
	unlock_task_sighand(sighand, flags);
}

/* Numbers that depend on other tasks and on the terminal. */
struct ids {
	pid_t ppid, pgrp, session, tpgid, tracer;
	u32 tty_nr;
	int threads;
};

/*
 * Copy them under tasklist_lock, which rules parents, process groups and sessions. tpgid, the foreground
 * group of the terminal, is -1 without a terminal. tty_nr is the device number in the old form of 16 bits,
 * major * 256 + minor.
 */
static void get_task_ids(struct task_struct *t, struct ids *ids)
{
	unsigned long flags;

	*ids = (struct ids){.tpgid = -1};
	spin_lock_irqsave(&tasklist_lock, flags);
	if (t->parent)
		ids->ppid = t->parent->tgid;
	if (t->tracer)
		ids->tracer = t->tracer->pid;
	if (t->signal) {
		ids->pgrp = t->signal->pgrp;
		ids->session = t->signal->session;
		ids->threads = t->signal->nr_threads;
		if (t->signal->tty) {
			u64 dev = tty_devnum(t->signal->tty);

			ids->tpgid = tty_foreground(t->signal->tty);
			ids->tty_nr = MAJOR(dev) << 8 | (MINOR(dev) & 0xff);
		}
	}
	spin_unlock_irqrestore(&tasklist_lock, flags);
}

/*
 * Times in ticks of USER_HZ (100 a second): user and system time of the task, then of the children that
 * were waited for. A process is shown by its leader, so the leader shows the sum of all threads; another
 * thread shows its own.
 */
static void stat_times(struct seq_file *m, struct task_struct *t)
{
	u64 utime = t->utime, stime = t->stime;

	if (thread_group_leader(t))
		thread_group_cputime(t, &utime, &stime);
	seq_printf(m, " %llu %llu %llu %llu", (unsigned long long)(utime / NSEC_PER_TICK),
		   (unsigned long long)(stime / NSEC_PER_TICK), (unsigned long long)(t->signal->cutime / NSEC_PER_TICK),
		   (unsigned long long)(t->signal->cstime / NSEC_PER_TICK));
}

/* The page faults that stat shows: of the whole process for its leader, else of the thread alone. */
static unsigned long long stat_faults(struct task_struct *t)
{
	struct rusage usage;

	getrusage(t, thread_group_leader(t) ? RUSAGE_SELF : RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* Resident pages: what is mapped now, anonymous memory and pages of files. */
static unsigned long mm_rss(struct mm_struct *mm)
{
	return atomic_read(&mm->rss_anon) + atomic_read(&mm->rss_file);
}

/*
 * The columns 1 to 52 of stat, numbered as in proc(5). Columns about things that this kernel does not have
 * (swap, wchan, virtual machines' time, faults that wait for a disk) are 0.
 *
 * Addresses and the exit code are secrets of the process: they defeat the random layout of its memory. A
 * reader that may not look into the process sees 0 for them, except that the bounds of the code read as 1,
 * which is what Linux shows. The right is asked for the mm that was taken before (see ptrace_may_access).
 */
static int pid_stat_show(struct seq_file *m, struct task_struct *t)
{
	static const struct mm_struct hidden = {.start_code = 1, .end_code = 1};
	struct mm_struct *mm = get_task_mm(t), none = {0};
	struct mm_struct *v = mm ? mm : &none;
	bool permitted = ptrace_may_access(t, PTRACE_MODE_READ_FSCREDS);
	const struct mm_struct *at = permitted || !mm ? v : &hidden;
	struct sig_sets s;
	struct ids ids;

	get_task_ids(t, &ids);
	get_sig_sets(t, &s);
	seq_printf(m, "%d (%s) %c %d %d %d %u %d %u %llu %llu 0 0", t->pid, t->comm, task_state_to_char(t), ids.ppid,
		   ids.pgrp, ids.session, ids.tty_nr, ids.tpgid, t->flags, stat_faults(t),
		   (unsigned long long)t->signal->cmin_flt);
	stat_times(m, t);
	seq_printf(m, " %d %d %d 0 %llu %lu %lu %llu", t->prio - MAX_RT_PRIO, task_nice(t), ids.threads,
		   (unsigned long long)(t->start_time / NSEC_PER_TICK), v->total_vm * PAGE_SIZE, mm_rss(v),
		   (unsigned long long)RLIM_INFINITY);
	seq_printf(m, " %lu %lu %lu 0 0 %llu %llu %llu %llu 0 0 0 %d %u %u %u 0 0 0", at->start_code, at->end_code,
		   at->start_stack, (unsigned long long)s.pending & 0x7fffffff,
		   (unsigned long long)s.blocked & 0x7fffffff, (unsigned long long)s.ignored & 0x7fffffff,
		   (unsigned long long)s.caught & 0x7fffffff, t->exit_signal, t->cpu, t->rt_priority, t->policy);
	seq_printf(m, " %lu %lu %lu %lu %lu %lu %lu %d\n", at->start_data, at->end_data, at->start_brk, at->arg_start,
		   at->arg_end, at->env_start, at->env_end, permitted ? t->exit_code : 0);
	if (mm)
		mmput(mm);
	return 0;
}

/* The word that status shows beside the letter of a state; stat shows the letter alone. */
static const char *state_name(char c)
{
	switch (c) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "disk sleep";
	case 'T':
		return "stopped";
	case 't':
		return "tracing stop";
	case 'Z':
		return "zombie";
	case 'P':
		return "parked";
	case 'I':
		return "idle";
	default:
		return "dead";
	}
}

/*
 * The line "Name:". A program chooses its name freely, so newline and backslash are written as \n and \\:
 * otherwise a name such as "x\nUid: 0" would look like further lines of the file.
 */
static void status_name(struct seq_file *m, const char *name)
{
	seq_puts(m, "Name:\t");
	for (; *name; name++) {
		if (*name == '\n' || *name == '\\')
			seq_putc(m, '\\');
		seq_putc(m, *name == '\n' ? 'n' : *name);
	}
}

/* The lines of names, states, numbers and users. The task may take other groups meanwhile: RCU keeps these. */
static void status_ids(struct seq_file *m, struct task_struct *t)
{
	const struct group_info *g;
	struct ids ids;
	char c = task_state_to_char(t);

	get_task_ids(t, &ids);
	status_name(m, t->comm);
	seq_printf(m, "\nState:\t%c (%s)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t%d\n", c, state_name(c),
		   t->tgid, t->pid, ids.ppid, ids.tracer);
	seq_printf(m, "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", t->uid, t->euid, t->suid, t->fsuid, t->gid,
		   t->egid, t->sgid, t->fsgid);
	seq_puts(m, "Groups:\t");
	rcu_read_lock();
	g = smp_load_acquire(&t->groups);
	for (unsigned i = 0; g && i < g->ngroups; i++)
		seq_printf(m, "%u ", g->gid[i]);
	rcu_read_unlock();
	seq_printf(m, "\nKthread:\t%d\nThreads:\t%d\n", !!(t->flags & PF_KTHREAD), ids.threads);
}

/*
 * The lines of memory, in kB. A kernel thread and a task that has ended have no memory: they show no such
 * lines.
 */
static void status_mm(struct seq_file *m, struct task_struct *t)
{
	struct mm_struct *mm = get_task_mm(t);

	if (!mm)
		return;
	seq_printf(m, "VmSize:\t%8lu kB\nVmLck:\t%8lu kB\nVmRSS:\t%8lu kB\nRssAnon:\t%8u kB\nRssFile:\t%8u kB\n",
		   mm->total_vm * (PAGE_SIZE / 1024), READ_ONCE(mm->locked_vm) * (PAGE_SIZE / 1024),
		   mm_rss(mm) * (PAGE_SIZE / 1024), (unsigned)(atomic_read(&mm->rss_anon) * (PAGE_SIZE / 1024)),
		   (unsigned)(atomic_read(&mm->rss_file) * (PAGE_SIZE / 1024)));
	seq_printf(m, "VmData:\t%8lu kB\nVmExe:\t%8lu kB\n", (mm->brk - mm->start_brk) / 1024,
		   (mm->end_code - mm->start_code) / 1024);
	mmput(mm);
}

/* /proc/<pid>/status: one "Name:<tab>value" a line, for people and for scripts. */
static int status_show(struct seq_file *m, struct task_struct *t)
{
	struct sig_sets s;
	char cpus[NR_CPUS / 4 + NR_CPUS / 32 + 1];

	status_ids(m, t);
	status_mm(m, t);
	get_sig_sets(t, &s);
	seq_printf(m, "SigPnd:\t%016llx\nShdPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n",
		   (unsigned long long)s.pending, (unsigned long long)s.shared, (unsigned long long)s.blocked,
		   (unsigned long long)s.ignored, (unsigned long long)s.caught);
	bitmap_print(cpus, sizeof(cpus), t->cpus_mask, nr_cpu_ids);
	seq_printf(m, "CapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\nCapBnd:\t%016llx\nCapAmb:\t%016llx\n",
		   (unsigned long long)t->caps.inheritable, (unsigned long long)t->caps.permitted,
		   (unsigned long long)t->caps.effective, (unsigned long long)t->caps.bounding,
		   (unsigned long long)t->caps.ambient);
	seq_printf(m, "NoNewPrivs:\t%d\n", t->no_new_privs);
	seq_printf(m, "Cpus_allowed:\t%s\nCpus_allowed_list:\t%*pbl\n", cpus, nr_cpu_ids, t->cpus_mask);
	seq_printf(m, "voluntary_ctxt_switches:\t%llu\nnonvoluntary_ctxt_switches:\t%llu\n",
		   (unsigned long long)t->nvcsw, (unsigned long long)t->nivcsw);
	return 0;
}

/*
 * Seven numbers, in pages: size, resident, resident from files, code, libraries (always 0), data (from the program's
 * own to the end of the heap, but not more than is mapped at all: a program may have unmapped it), dirty (always 0).
 * The areas themselves are not looked at: their lock may be held for long, by a fault that waits for the host.
 */
static int statm_show(struct seq_file *m, struct task_struct *t)
{
	struct mm_struct *mm = get_task_mm(t);

	if (!mm) {
		seq_puts(m, "0 0 0 0 0 0 0\n");
		return 0;
	}
	seq_printf(m, "%lu %lu %d %lu 0 %lu 0\n", mm->total_vm, mm_rss(mm), atomic_read(&mm->rss_file),
		   DIV_ROUND_UP(mm->end_code - mm->start_code, PAGE_SIZE),
		   min(DIV_ROUND_UP(mm->brk - mm->start_data, PAGE_SIZE), mm->total_vm));
	mmput(mm);
	return 0;
}

static const struct proc_pid_entry stat_entry = {.name = "stat", .mode = 0444, .show = pid_stat_show};
static const struct proc_pid_entry statm_entry = {.name = "statm", .mode = 0444, .show = statm_show};
static const struct proc_pid_entry status_entry = {.name = "status", .mode = 0444, .show = status_show};
REGISTER_PROC_PID(stat_entry);
REGISTER_PROC_PID(statm_entry);
REGISTER_PROC_PID(status_entry);
