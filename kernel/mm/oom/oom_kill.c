/*
 * Memory is full, and a program that touches a page of its own needs one, or the kernel needs a few: a process is
 * killed, the one whose end gives most memory back. Requests for larger blocks, those that cope with a failure
 * (__GFP_NOWARN) and those of code that cannot sleep fail instead.
 *
 * The processes of a user other than root are judged together, with all that the user has outside of them: in sockets,
 * pipes and memfds, which belong to no process, and in many processes that are small one by one. First goes the user
 * who has most, and of that user's processes the largest. A process of root is judged alone. Before all of them goes a
 * process that makes a large request (large_request_begin).
 *
 * There is one victim at a time. A task that comes here meanwhile waits and tries again, so that memory that is on its
 * way back is not taken for a reason to kill another process. A victim that does not end in time is left alone and the
 * next one chosen. It may be waiting for a lock that a task in here holds, because a system call faulted on user memory
 * under that lock; if need be, that task is chosen in the end, and its fault then fails.
 *
 * Locks: oom_mutex [o] is held by the task that chooses; p->pi_lock, tasklist_lock and the locks of printk are taken
 * inside.
 */
#include <mm/oom.h>

#include <irq/workqueue.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/page.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/hrtimer.h>

#include "../pages/slab.h"
#include "../vma.h"
#include "oom.h"

#define CREATE_TRACE_POINTS
#include <trace/events/oom.h>

#define VICTIM_PATIENCE (5 * NSEC_PER_SEC) /* for a victim, before the next is chosen */
#define REPORT_INTERVAL (5 * NSEC_PER_SEC)
#define LAST_PATIENCE	(30 * NSEC_PER_SEC) /* for the last one, before the machine gives up */
#define ENOUGH_PAGES	64		    /* free: memory is not full */

/* Locks: o oom_mutex, which the task that chooses holds; a atomic. */
static DEFINE_MUTEX(oom_mutex);
static struct mm_struct
	*victim_mm; /* [o sets, a] the last victim's while it is not given back; only compared, never followed */
static ktime_t victim_since; /* [o] when that victim was killed */

static void oom_kill_victim_gone(struct mm_struct *mm)
{
	cmpxchg(&victim_mm, mm, NULL);
}

static struct mm_struct *dead_mms; /* [a] pushed one by one, and taken as a whole */

/* The worker: give back what mmput_later() has left. */
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
 * mmput() for a task that looks at the memory of others. The other task may end meanwhile, and with the last reference
 * an address space and perhaps files go. That takes long and needs locks, and tasks that wait for oom_mutex may hold
 * them. So the last reference goes to a worker.
 *
 * The loop drops every reference but the last one by compare-and-exchange. When the count is 1, the reference belongs
 * to the caller and goes to the worker. A walker of the list (mm_next) may still take another one and drop it; that
 * does no harm, as the worker drops the caller's by mmput().
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
	do { /* a push; the worker takes the whole list, so an entry cannot come back under the exchange */
		first = READ_ONCE(dead_mms);
		mm->next_dead = first;
	} while (cmpxchg(&dead_mms, first, mm) != first);
	schedule_work(&dead_mm_work);
}

/* Kernel threads have no memory, and init ends only with the machine. */
static bool unkillable(const struct task_struct *p)
{
	return p->flags & PF_KTHREAD || p == READ_ONCE(child_reaper);
}

/*
 * The memory of a process, with a reference: a leader that has ended may leave threads that go on. NULL: it has no
 * memory of its own.
 */
static struct mm_struct *process_mm(struct task_struct *p)
{
	struct mm_struct *mm = get_task_mm(p);
	struct task_struct *t;
	unsigned long flags;

	if (mm || thread_group_empty(p))
		return mm;
	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_thread(p, t)
		if (!mm)
			mm = get_task_mm(t);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return mm;
}

/* The pages that an address space has for itself, with its tables and the descriptions of its areas. */
static unsigned long mm_private_pages(struct mm_struct *mm)
{
	return atomic_read(&mm->rss_anon) + pgd_pages(mm->pgd) +
	       READ_ONCE(mm->nr_areas) * sizeof(struct vm_area_struct) / PAGE_SIZE;
}

/* The pages that the end of this address space would give back. */
static unsigned long mm_pages(struct mm_struct *mm)
{
	return mm_private_pages(mm) + atomic_read(&mm->rss_file);
}

/*
 * Does the task use its parent's memory, as a child of vfork does until it execs? Its end would give nothing back.
 * CLONE_VFORK alone makes a child with memory of its own, which must not be overlooked. The pointers are only compared;
 * both may change at any moment.
 */
static bool borrows_memory(const struct task_struct *p)
{
	bool borrows;

	rcu_read_lock();
	borrows = READ_ONCE(p->vfork_done) && READ_ONCE(READ_ONCE(p->parent)->mm) == READ_ONCE(p->mm);
	rcu_read_unlock();
	return borrows;
}

/* oom_score_adj as pages. */
static long adj_pages(const struct task_struct *p, unsigned long totalpages)
{
	return READ_ONCE(p->signal->oom_score_adj) * (long)(totalpages / 1000);
}

/* A process that was killed for its memory already is not chosen again. */
long oom_badness(struct task_struct *p, unsigned long totalpages)
{
	long points = LONG_MIN;
	struct mm_struct *mm;

	if (unkillable(p) || READ_ONCE(p->signal->oom_score_adj) == OOM_SCORE_ADJ_MIN || borrows_memory(p))
		return LONG_MIN;
	mm = process_mm(p);
	if (!mm)
		return LONG_MIN;
	if (!READ_ONCE(mm->oom_victim))
		points = (long)mm_pages(mm) + adj_pages(p, totalpages);
	mmput_later(mm);
	return points;
}

/* [o] Add what a process has for itself, with the stacks of its threads, to what its user has. */
static void count_for_user(struct task_struct *p, struct user_struct *user)
{
	struct mm_struct *mm = process_mm(p);

	user->oom_pages += READ_ONCE(p->signal->nr_threads) * (THREAD_SIZE / PAGE_SIZE);
	if (!mm)
		return;
	if (!READ_ONCE(mm->oom_victim))
		user->oom_pages += mm_private_pages(mm);
	mmput_later(mm);
}

/* [o] What each user has in all its processes together. */
static void count_users(void)
{
	struct task_struct *p;

	for (int pass = 0; pass < 2; pass++) {
		for (pid_t pid = 1; (p = next_process(pid)); pid++) {
			struct user_struct *user = get_task_user(p);

			pid = p->pid;
			if (pass)
				count_for_user(p, user);
			else
				user->oom_pages = 0;
			put_user_struct(user);
			put_task_struct(p);
		}
	}
}

/* What a victim is chosen by, in pages: first what its user has in all, then what it has itself. */
struct oom_points {
	long user, own;
};

/* [o] After count_users(). own LONG_MIN: it must not be killed. */
static struct oom_points oom_points_of(struct task_struct *p, unsigned long totalpages)
{
	long own = oom_badness(p, totalpages);
	struct oom_points points = {own, own};
	struct user_struct *user;

	if (own == LONG_MIN)
		return points;
	if (atomic_read(&p->signal->oom_origin))
		return (struct oom_points){LONG_MAX, LONG_MAX};
	user = get_task_user(p);
	if (user != &root_user)
		points.user = (long)(user->oom_pages + user_outside_pages(user)) + adj_pages(p, totalpages);
	put_user_struct(user);
	return points;
}

/* Among equals the later one, which has the higher number. */
static bool are_more_points(const struct oom_points *points, const struct oom_points *most)
{
	return points->user != most->user ? points->user > most->user : points->own >= most->own;
}

/* [o] The process with the most points, with a reference. NULL: no process may be killed. */
static struct task_struct *select_bad_process(void)
{
	unsigned long totalpages = totalram_pages();
	struct oom_points most = {LONG_MIN, LONG_MIN};
	struct task_struct *p, *chosen = NULL;

	count_users();
	for (pid_t pid = 1; (p = next_process(pid)); pid++) {
		struct oom_points points = oom_points_of(p, totalpages);

		pid = p->pid;
		if (points.own == LONG_MIN || !are_more_points(&points, &most)) {
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

/* One line of the report, in Linux's columns; what does not exist here is 0. */
static void dump_task(struct task_struct *p)
{
	struct mm_struct *mm = process_mm(p);
	int anon, file;

	if (!mm)
		return;
	anon = atomic_read(&mm->rss_anon);
	file = atomic_read(&mm->rss_file);
	pr_info("[%7d] %5d %5d %8lu %8d %8d %8d %9d %8lu %8d         %5d %s\n", p->pid, p->uid, p->tgid, mm->total_vm,
		anon + file, anon, file, 0, pgd_pages(mm->pgd) << PAGE_SHIFT, 0, p->signal->oom_score_adj, p->comm);
	mmput_later(mm);
}

/*
 * [o] Linux's report, for what there is here: the task that asked, how memory stands, and every process that could be
 * chosen. Where a user has many processes they go one by one, and the report, which is long then, comes once in five
 * seconds.
 */
static void dump_header(gfp_t gfp, unsigned order)
{
	static ktime_t next_report; /* [o] */
	struct task_struct *p;

	if (ktime_get() < next_report)
		return;
	next_report = ktime_get() + REPORT_INTERVAL;
	pr_warn("%s invoked oom-killer: gfp_mask=0x%x(%s), order=%u, oom_score_adj=%d\n", current->comm, gfp,
		gfp & __GFP_NOWARN ? "GFP_USER" : "GFP_KERNEL", order, current->signal->oom_score_adj);
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

/*
 * Another process with the same memory must go as well, or nothing is given back. Two users are the victim and the
 * caller's own reference.
 */
static void kill_sharers(const struct task_struct *victim, const struct mm_struct *mm)
{
	struct task_struct *p;

	if (atomic_read(&mm->mm_users) <= 2)
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

/* [o] Why it is this one, where it has less itself than another process. */
static void tell_user(struct task_struct *victim)
{
	struct user_struct *user = get_task_user(victim);

	if (user != &root_user)
		pr_warn("oom-kill: user %u has %lukB in its processes and %lukB outside them\n", user->uid,
			user->oom_pages << (PAGE_SHIFT - 10), user_outside_pages(user) << (PAGE_SHIFT - 10));
	put_user_struct(user);
}

/*
 * [o] Report and kill. SIGKILL needs no memory to be sent, nor to be obeyed. The marks are set before the signal, so
 * that the end of the victim finds them.
 */
static void oom_kill_process(struct task_struct *victim, gfp_t gfp, unsigned order)
{
	struct mm_struct *mm = process_mm(victim);

	if (!mm)
		return; /* it has ended since it was chosen, which gives its memory back as well */
	dump_header(gfp, order);
	pr_warn("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=%s,pid=%d,uid=%d\n", victim->comm,
		victim->pid, victim->uid);
	tell_user(victim);
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
	trace_mark_victim(victim, mm);
	kill_sharers(victim, mm);
	if (READ_ONCE(READ_ONCE(child_reaper)->mm) != mm)
		oom_reap_later(mm);
	mmput_later(mm);
}

/*
 * [o] No victim is on its way out: choose one. Without a candidate the last victim still has its chance. Then a request
 * of the kernel fails (false), and with a page fault, which cannot, the machine gives up.
 */
static bool oom_make_room(gfp_t gfp, unsigned order)
{
	struct task_struct *victim = select_bad_process();

	if (victim) {
		oom_kill_process(victim, gfp, order);
		put_task_struct(victim);
		return true;
	}
	if (READ_ONCE(victim_mm) && ktime_get() - victim_since <= LAST_PATIENCE)
		return true;
	if (!(gfp & __GFP_NOWARN))
		return false;
	pr_warn("Out of memory and no killable processes...\n");
	panic("System is deadlocked on memory");
}

/*
 * With so many free pages another victim's memory has come back, and the request is tried again. One for a block of
 * several pages may find only pieces then; it is worth a process until the reserve of memory is free.
 */
static bool is_room(unsigned order)
{
	return nr_free_pages() >= (order ? totalreserve_pages() : ENOUGH_PAGES);
}

/* The second look at current_is_dying() is for a task that was chosen. The short sleep lets the victim run. */
static bool oom_kill(gfp_t gfp, unsigned order)
{
	bool again = true;

	mutex_lock(&oom_mutex);
	if (is_room(order))
		again = !order;
	else if (!READ_ONCE(victim_mm) || ktime_get() - victim_since > VICTIM_PATIENCE)
		again = oom_make_room(gfp, order);
	mutex_unlock(&oom_mutex);
	if (current_is_dying() || !again)
		return false;
	hrtimer_sleep_until(ktime_get() + NSEC_PER_MSEC, TASK_UNINTERRUPTIBLE);
	return true;
}

static const struct oom_killer the_oom_killer = {.make_room = oom_kill, .victim_gone = oom_kill_victim_gone};
REGISTER_OOM_KILLER(the_oom_killer);

/* [oom_mutex] new_floor: the value becomes the limit below which only root can set it. */
static void set_adj(struct task_struct *p, int adj, bool new_floor)
{
	WRITE_ONCE(p->signal->oom_score_adj, adj);
	if (new_floor)
		p->signal->oom_score_adj_min = adj;
}

/*
 * [oom_mutex] Processes that share the memory get the same value: otherwise one of them would protect or expose the
 * others. A child of vfork is left out until it has memory of its own.
 */
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

/* Only CAP_SYS_RESOURCE goes below the limit that it has set (or, in oom_adj's scale, below the present value). */
int oom_set_score_adj(struct task_struct *p, int adj, bool legacy)
{
	bool root = capable(CAP_SYS_RESOURCE);
	int err = 0;

	mutex_lock(&oom_mutex);
	if (!root && adj < (legacy ? p->signal->oom_score_adj : p->signal->oom_score_adj_min)) {
		err = -EACCES;
	} else {
		set_adj(p, adj, root && !legacy);
		trace_oom_score_adj_update(p);
		set_adj_of_sharers(p, adj, root && !legacy);
	}
	mutex_unlock(&oom_mutex);
	return err;
}
