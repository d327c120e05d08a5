/*
 * Memory is full, and a program that touches a page of its own needs one: a process is killed, the one that
 * gives most back. Everything else that finds no memory fails with ENOMEM and leaves the choice to its
 * caller.
 *
 * There is one victim at a time. Who comes meanwhile waits and tries again, so that memory on its way back is
 * not taken for a reason to kill another. A victim that does not end in time (it may wait for a lock that a
 * task in here holds, because a system call faulted on user memory under it) is left alone and the next one
 * chosen; if need be that is the task that holds the lock, whose fault then fails.
 */
#include <mm/oom.h>

#include <irq/workqueue.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/page.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include "slab.h"
#include "vma.h"

#define VICTIM_PATIENCE (5 * NSEC_PER_SEC)  /* for a victim, before the next is chosen */
#define LAST_PATIENCE	(30 * NSEC_PER_SEC) /* for the last one, before the machine gives up */
#define ENOUGH_PAGES \
	64 /* so many are free again: somebody else's fault has been waited for, and ours may go on */

/* Locks: o oom_mutex, which is held by whoever chooses; a atomic. */
static DEFINE_MUTEX(oom_mutex);
static struct mm_struct
	*victim_mm; /* [o sets, a] who was killed last and still has it; only compared, never followed */
static ktime_t victim_since; /* [o] when that was */

void oom_victim_gone(struct mm_struct *mm)
{
	cmpxchg(&victim_mm, mm, NULL);
}

static struct mm_struct *dead_mms; /* [a] pushed and taken as a whole */

static void put_dead_mms(struct work_struct *work)
{
	struct mm_struct *mm = xchg(&dead_mms, NULL), *next;

	for (; mm; mm = next) {
		next = mm->next_dead;
		mmput(mm);
	}
}
static DECLARE_WORK(dead_mm_work, put_dead_mms);

/*
 * mmput for who looks at the memory of others. The task may end meanwhile, and with the last reference an address
 * space and perhaps files go: that takes long, and locks, and those who wait for oom_mutex may hold them. So a worker
 * does it.
 */
static void mmput_later(struct mm_struct *mm)
{
	int users = atomic_read(&mm->mm_users), seen;
	struct mm_struct *first;

	for (; users > 1; users = seen) {
		seen = atomic_cmpxchg(&mm->mm_users, users, users - 1);
		if (seen == users)
			return;
	}
	do { /* nobody else has it, so nobody can get it */
		first = READ_ONCE(dead_mms);
		mm->next_dead = first;
	} while (cmpxchg(&dead_mms, first, mm) != first);
	schedule_work(&dead_mm_work);
}

/* init ends only with the machine. */
static bool unkillable(const struct task_struct *p)
{
	return p->flags & PF_KTHREAD || p == READ_ONCE(child_reaper);
}

/* The memory of a process, with a reference: a leader that has ended may leave threads that go on. NULL: it
 * has none. */
static struct mm_struct *process_mm(struct task_struct *p)
{
	struct mm_struct *mm = get_task_mm(p);
	struct task_struct *t;
	unsigned long flags;

	if (mm || thread_group_empty(p))
		return mm;
	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_thread(p, t) if (!mm) mm = get_task_mm(t);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return mm;
}

static unsigned long mm_pages(struct mm_struct *mm)
{
	return atomic_read(&mm->rss_anon) + atomic_read(&mm->rss_file) + pgd_pages(mm->pgd);
}

/*
 * A child of vfork uses its parent's memory until it execs: its end would give nothing back. CLONE_VFORK alone makes a
 * child with memory of its own, which must not go unseen. Pointers are only compared; both may change at any moment.
 */
static bool borrows_memory(const struct task_struct *p)
{
	bool borrows;

	rcu_read_lock();
	borrows = READ_ONCE(p->vfork_done) && READ_ONCE(READ_ONCE(p->parent)->mm) == READ_ONCE(p->mm);
	rcu_read_unlock();
	return borrows;
}

long oom_badness(struct task_struct *p, unsigned long totalpages)
{
	long adj = READ_ONCE(p->signal->oom_score_adj), points = LONG_MIN;
	struct mm_struct *mm;

	if (unkillable(p) || adj == OOM_SCORE_ADJ_MIN || borrows_memory(p))
		return LONG_MIN;
	mm = process_mm(p);
	if (!mm)
		return LONG_MIN;
	if (!READ_ONCE(mm->oom_victim))
		points = (long)mm_pages(mm) + adj * (long)(totalpages / 1000);
	mmput_later(mm);
	return points;
}

/* Among equals the youngest number. With a reference; NULL: nobody. */
static struct task_struct *select_bad_process(void)
{
	unsigned long totalpages = totalram_pages();
	struct task_struct *p, *chosen = NULL;
	long points, most = LONG_MIN;
	pid_t pid;

	for (pid = 1; (p = next_process(pid)); pid++) {
		pid = p->pid;
		points = oom_badness(p, totalpages);
		if (points == LONG_MIN || points < most) {
			put_task_struct(p);
			continue;
		}
		if (chosen)
			put_task_struct(chosen);
		chosen = p;
		most = points;
	}
	return chosen;
}

static void dump_task(struct task_struct *p)
{
	struct mm_struct *mm = process_mm(p);
	int anon, file;

	if (!mm)
		return;
	anon = atomic_read(&mm->rss_anon);
	file = atomic_read(&mm->rss_file);
	pr_info("[%7d] %5d %5d %8lu %8d %8d %8d %9d %8lu %8d         %5d %s\n", p->pid, p->uid, p->tgid,
		mm->total_vm, anon + file, anon, file, 0, pgd_pages(mm->pgd) << PAGE_SHIFT, 0,
		p->signal->oom_score_adj, p->comm);
	mmput_later(mm);
}

/* Linux's report, for what there is here: who asked, how memory stands, and everybody who could be chosen. */
static void dump_header(void)
{
	struct task_struct *p;

	pr_warn("%s invoked oom-killer: gfp_mask=0x%x(GFP_USER), order=0, oom_score_adj=%d\n", current->comm,
		GFP_USER, current->signal->oom_score_adj);
	dump_stack();
	pr_warn("Mem-Info:\nNormal free:%lukB managed:%lukB slab_unreclaimable:%llukB\n",
		nr_free_pages() << (PAGE_SHIFT - 10), totalram_pages() << (PAGE_SHIFT - 10),
		(unsigned long long)atomic64_read(&nr_slab_pages) << (PAGE_SHIFT - 10));
	pr_info("Tasks state (memory values in pages):\n");
	pr_info("[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem "
		"pgtables_bytes swapents oom_score_adj name\n");
	for (pid_t pid = 1; (p = next_process(pid)); pid++) {
		pid = p->pid;
		if (!unkillable(p))
			dump_task(p);
		put_task_struct(p);
	}
}

/* Another process with the same memory must go as well, or nothing comes back. */
static void kill_sharers(const struct task_struct *victim, const struct mm_struct *mm)
{
	struct task_struct *p;

	if (atomic_read(&mm->mm_users) <= 2) /* its own and the caller's */
		return;
	for (pid_t pid = 1; (p = next_process(pid)); pid++) {
		struct mm_struct *its = unkillable(p) || p == victim ? NULL : process_mm(p);

		pid = p->pid;
		if (its == mm)
			send_sig(SIGKILL, p, 1);
		if (its)
			mmput_later(its);
		put_task_struct(p);
	}
}

/* [o] SIGKILL needs no memory to be sent, nor to be obeyed. */
static void oom_kill_process(struct task_struct *victim)
{
	struct mm_struct *mm = process_mm(victim);

	if (!mm)
		return; /* it has ended since it was chosen, which will do as well */
	dump_header();
	pr_warn("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=%s,pid=%d,uid=%d\n", victim->comm,
		victim->pid, victim->uid);
	pr_err("Out of memory: Killed process %d (%s) total-vm:%lukB, anon-rss:%lukB, file-rss:%lukB, shmem-rss:0kB, "
	       "UID:%u pgtables:%lukB oom_score_adj:%d\n",
	       victim->pid, victim->comm, mm->total_vm << (PAGE_SHIFT - 10),
	       (unsigned long)atomic_read(&mm->rss_anon) << (PAGE_SHIFT - 10),
	       (unsigned long)atomic_read(&mm->rss_file) << (PAGE_SHIFT - 10), victim->uid,
	       pgd_pages(mm->pgd) << (PAGE_SHIFT - 10), victim->signal->oom_score_adj);
	WRITE_ONCE(mm->oom_victim, true);
	WRITE_ONCE(victim_mm, mm);
	victim_since = ktime_get();
	send_sig(SIGKILL, victim, 1);
	kill_sharers(victim, mm);
	mmput_later(mm);
}

/* [o] Nobody is on the way out: choose. */
static void make_room(void)
{
	struct task_struct *victim = select_bad_process();

	if (victim) {
		oom_kill_process(victim);
		put_task_struct(victim);
	} else if (!READ_ONCE(victim_mm) || ktime_get() - victim_since > LAST_PATIENCE) {
		pr_warn("Out of memory and no killable processes...\n");
		panic("System is deadlocked on memory");
	}
}

static bool is_dying(struct task_struct *p)
{
	return p->flags & PF_EXITING || fatal_signal_pending(p);
}

bool out_of_memory(void)
{
	if (is_dying(current))
		return false;
	mutex_lock(&oom_mutex);
	if (nr_free_pages() < ENOUGH_PAGES &&
	    (!READ_ONCE(victim_mm) || ktime_get() - victim_since > VICTIM_PATIENCE))
		make_room();
	mutex_unlock(&oom_mutex);
	if (is_dying(current))
		return false;
	hrtimer_sleep_until(ktime_get() + NSEC_PER_MSEC, TASK_UNINTERRUPTIBLE);
	return true;
}

/* [oom_mutex] */
static void set_adj(struct task_struct *p, int adj, bool new_floor)
{
	WRITE_ONCE(p->signal->oom_score_adj, adj);
	if (new_floor)
		p->signal->oom_score_adj_min = adj;
}

static void set_adj_of_sharers(struct task_struct *p, int adj, bool new_floor)
{
	struct mm_struct *mm = borrows_memory(p) ? NULL : process_mm(p);
	struct task_struct *other;

	for (pid_t pid = 1; mm && atomic_read(&mm->mm_users) > 2 && (other = next_process(pid)); pid++) {
		struct mm_struct *its = unkillable(other) ? NULL : process_mm(other);

		pid = other->pid;
		if (its == mm)
			set_adj(other, adj, new_floor);
		if (its)
			mmput_later(its);
		put_task_struct(other);
	}
	if (mm)
		mmput_later(mm);
}

int oom_set_score_adj(struct task_struct *p, int adj, bool legacy)
{
	bool root = current->euid == 0;
	int err = 0;

	mutex_lock(&oom_mutex);
	if (!root && adj < (legacy ? p->signal->oom_score_adj : p->signal->oom_score_adj_min)) {
		err = -EACCES;
	} else {
		set_adj(p, adj, root && !legacy);
		set_adj_of_sharers(p, adj, root && !legacy);
	}
	mutex_unlock(&oom_mutex);
	return err;
}
