/* Numbers of tasks: giving them out and finding tasks by them. */
#include <lib/bitmap.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <proc/fork.h>
#include <sched/preempt.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#define RESERVED_PIDS \
	300 /* after the first round: daemons started at boot keep the low numbers to themselves */
#define HASH_BITS 10

static DEFINE_SPINLOCK(pid_lock); /* irqsave; innermost */
static unsigned long pid_map[BITS_TO_LONGS(PID_MAX)] = {
	1
};                     /* [pid_lock] taken numbers; 0 is the idle tasks' */
static pid_t last_pid; /* [pid_lock] */

/*
 * Changes: tasklist_lock. Readers may hold that or RCU: a task is freed only a grace period after its last
 * reference went, and a node that was unlinked still leads on to the rest of its chain. Only exchange_pids
 * puts a node onto another chain, which may lead a reader astray: pid_moves is odd during that, and different
 * afterwards.
 */
static struct hlist_head pid_hash[1 << HASH_BITS];
static u32 pid_moves; /* [tasklist_lock] */

pid_t alloc_pid(struct task_struct *p)
{
	unsigned long flags;
	unsigned pid;

	spin_lock_irqsave(&pid_lock, flags);
	pid = find_next_zero_bit(pid_map, PID_MAX, last_pid + 1);
	if (pid >= PID_MAX)
		pid = find_next_zero_bit(pid_map, PID_MAX, RESERVED_PIDS);
	if (pid < PID_MAX) {
		pid_map[pid / 64] |= BIT(pid % 64);
		last_pid = pid;
	}
	spin_unlock_irqrestore(&pid_lock, flags);
	if (pid >= PID_MAX)
		return -EAGAIN;
	p->pid = pid;
	return pid;
}

void free_pid(pid_t pid)
{
	unsigned long flags;

	spin_lock_irqsave(&pid_lock, flags);
	pid_map[pid / 64] &= ~BIT(pid % 64);
	spin_unlock_irqrestore(&pid_lock, flags);
}

void attach_pid(struct task_struct *p)
{
	hlist_add_head(&p->pid_node, &pid_hash[hash_64(p->pid, HASH_BITS)]);
}

void detach_pid(struct task_struct *p)
{
	hlist_del(&p->pid_node);
}

void exchange_pids(struct task_struct *p, struct task_struct *leader)
{
	WRITE_ONCE(pid_moves, pid_moves + 1);
	smp_wmb(); /* readers who meet a moved node see the count odd or changed */
	detach_pid(p);
	detach_pid(leader);
	swap(p->pid, leader->pid);
	WRITE_ONCE(p->comm_noted, 0);
	WRITE_ONCE(leader->comm_noted, 0);
	attach_pid(p);
	attach_pid(leader);
	smp_store_release(&pid_moves, pid_moves + 1);
}

struct task_struct *find_task_by_pid(pid_t pid)
{
	struct task_struct *p;
	u32 moves;

	do {
		moves = smp_load_acquire(&pid_moves);
		hlist_for_each_entry(p, &pid_hash[hash_64(pid, HASH_BITS)],
				     pid_node) if (READ_ONCE(p->pid) == pid) return p;
		smp_rmb(); /* the count is read after the chain */
	} while (unlikely(moves & 1 || READ_ONCE(pid_moves) != moves));
	return NULL;
}

struct task_struct *find_get_task(pid_t pid)
{
	struct task_struct *p;

	rcu_read_lock();
	p = find_task_by_pid(pid);
	/* At zero somebody is freeing it: to us it is gone already. */
	if (p && !atomic_inc_not_zero(&p->usage))
		p = NULL;
	rcu_read_unlock();
	return p;
}

/* The first number in use from `from` on, PID_MAX when there is none. */
static unsigned next_pid(unsigned from)
{
	unsigned long flags;
	unsigned pid;

	spin_lock_irqsave(&pid_lock, flags);
	pid = find_next_bit(pid_map, PID_MAX, from);
	spin_unlock_irqrestore(&pid_lock, flags);
	return pid;
}

struct task_struct *next_process(pid_t from)
{
	unsigned pid = max(from, 1);

	for (; pid < PID_MAX && (pid = next_pid(pid)) < PID_MAX; pid++) {
		struct task_struct *p = find_get_task(pid);

		if (p && thread_group_leader(p))
			return p;
		if (p)
			put_task_struct(p);
	}
	return NULL;
}
