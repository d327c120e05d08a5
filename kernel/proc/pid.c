/*
 * Numbers: giving them out, finding tasks by them, and the processes of a group or a session. A number is taken as long
 * as a task, a group or a session has it. Nothing here takes longer because there are many tasks: free numbers are
 * found in two levels of bitmaps, tasks and groups in hashes.
 */
#include <fs/libfs.h>
#include <kernel/export.h>
#include <lib/bitmap.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/pidfd.h>
#include <proc/signal.h>
#include <sched/preempt.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#define RESERVED_PIDS 300 /* after the first round: daemons started at boot keep the low numbers to themselves */
#define HASH_BITS     12
#define MAP_WORDS     BITS_TO_LONGS(PID_MAX)

static DEFINE_SPINLOCK(pid_lock);			 /* irqsave; innermost */
static unsigned long pid_map[MAP_WORDS] = {1};		 /* [pid_lock] taken numbers; 0 is the idle tasks' */
static unsigned long pid_full[BITS_TO_LONGS(MAP_WORDS)]; /* [pid_lock] words of pid_map that have no number left */
static pid_t last_pid;					 /* [pid_lock] */
static unsigned pid_max = PID_MAX;			 /* [pid_lock writes] numbers are below; sys/kernel/pid_max */

/*
 * Changes: tasklist_lock. Readers may hold that or RCU: a task is freed only a grace period after its last
 * reference went, and a node that was unlinked still leads on to the rest of its chain. Only exchange_pids
 * puts a node onto another chain, which may lead a reader astray: pid_moves is odd during that, and different
 * afterwards.
 */
static struct hlist_head pid_hash[1 << HASH_BITS];
static u32 pid_moves; /* [tasklist_lock] */

/* The first free number from `from` on, PID_MAX when there is none. [pid_lock] */
static unsigned pid_next_free(unsigned from)
{
	unsigned word = from / 64;
	unsigned long rest;

	if (from >= PID_MAX)
		return PID_MAX;
	rest = ~pid_map[word] & (~0UL << from % 64);
	if (!rest) {
		word = find_next_zero_bit(pid_full, MAP_WORDS, word + 1);
		if (word >= MAP_WORDS)
			return PID_MAX;
		rest = ~pid_map[word];
	}
	return word * 64 + __builtin_ctzl(rest);
}

/* Mark a number as taken. The next search begins behind it, so that a number is not used again at once. [pid_lock] */
static void take_number(unsigned nr)
{
	unsigned word = nr / 64;

	pid_map[word] |= BIT(nr % 64);
	if (!~pid_map[word])
		pid_full[word / 64] |= BIT(word % 64);
	last_pid = nr;
}

/*
 * The next free number above the last one given, so that a number comes back as late as possible; from the start again
 * behind the last. 0 or -EAGAIN: all are taken.
 */
pid_t alloc_pid(struct task_struct *p)
{
	unsigned long flags;
	unsigned pid;
	bool found;

	spin_lock_irqsave(&pid_lock, flags);
	pid = pid_next_free(last_pid + 1);
	if (pid >= pid_max)
		pid = pid_next_free(RESERVED_PIDS);
	found = pid < pid_max;
	if (found)
		take_number(pid);
	spin_unlock_irqrestore(&pid_lock, flags);
	if (!found)
		return -EAGAIN;
	p->pid = pid;
	return pid;
}

void free_pid(pid_t pid)
{
	unsigned long flags;

	spin_lock_irqsave(&pid_lock, flags);
	pid_map[pid / 64] &= ~BIT(pid % 64);
	pid_full[pid / 64 / 64] &= ~BIT(pid / 64 % 64);
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
		hlist_for_each_entry(p, &pid_hash[hash_64(pid, HASH_BITS)], pid_node)
			if (READ_ONCE(p->pid) == pid)
				return p;
		smp_rmb(); /* the count is read after the chain */
	} while (unlikely(moves & 1 || READ_ONCE(pid_moves) != moves));
	return NULL;
}
EXPORT_SYMBOL(find_task_by_pid);

struct task_struct *find_get_task(pid_t pid)
{
	struct task_struct *p;

	rcu_read_lock();
	p = find_task_by_pid(pid);
	/* At zero it is being freed: to us it is gone already. */
	if (p && !atomic_inc_not_zero(&p->usage))
		p = NULL;
	rcu_read_unlock();
	return p;
}
EXPORT_SYMBOL(find_get_task);

struct task_struct *get_process_leader(struct signal_struct *sig)
{
	struct task_struct *p = NULL;
	unsigned long flags;

	spin_lock_irqsave(&tasklist_lock, flags);
	if (sig->nr_threads) {
		p = sig->leader;
		get_task_struct(p);
	}
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return p;
}

/* The first number in use from `from` on, PID_MAX when there is none. It may be free again when the caller looks. */
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

/*
 * Threads are found by number and not by their place in the ring, so that a walk can go on after threads have come and
 * gone. The list has no order, so each call goes through the whole of it.
 */
struct task_struct *next_thread(struct task_struct *leader, pid_t from)
{
	struct task_struct *t, *best = NULL;
	unsigned long flags;

	spin_lock_irqsave(&tasklist_lock, flags);
	for_each_thread(leader, t)
		if (t->pid >= from && (!best || t->pid < best->pid))
			best = t;
	if (best)
		get_task_struct(best);
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return best;
}

/*
 * Groups and sessions: their processes by number, in the order in which they joined. A bucket may hold several groups:
 * code that walks one skips the others' processes. [tasklist_lock]
 */
static struct list_head group_hash[NR_PID_TYPES][1 << HASH_BITS];

void pid_init(void)
{
	for (unsigned type = 0; type < NR_PID_TYPES; type++)
		for (unsigned i = 0; i < ARRAY_SIZE(group_hash[type]); i++)
			INIT_LIST_HEAD(&group_hash[type][i]);
}

static struct list_head *group_bucket(enum pid_type type, pid_t nr)
{
	return &group_hash[type][hash_64(nr, HASH_BITS)];
}

struct signal_struct *next_in_group(enum pid_type type, pid_t nr, struct signal_struct *sig)
{
	struct list_head *bucket = group_bucket(type, nr), *at = sig ? &sig->group_node[type] : bucket;

	while ((at = at->next) != bucket) {
		sig = container_of(at, struct signal_struct, group_node[type]);
		if (sig->group_nr[type] == nr)
			return sig;
	}
	return NULL;
}

/*
 * Put the process at the end of its group's bucket. `joined` numbers the joins, so that a walk (walk.c) finds its
 * place again after it has released the lock. [T]
 */
static void join_one(struct signal_struct *sig, enum pid_type type, pid_t nr)
{
	static u64 joins; /* [tasklist_lock] */

	sig->group_nr[type] = nr;
	sig->joined = ++joins;
	list_add_tail(&sig->group_node[type], group_bucket(type, nr));
}

void join_groups(struct signal_struct *sig, pid_t pgrp, pid_t session)
{
	join_one(sig, PIDTYPE_SID, session);
	join_one(sig, PIDTYPE_PGID, pgrp);
}

/* Does a task, a process group or a session have this number? [T] */
static bool number_in_use(pid_t nr)
{
	return find_task_by_pid(nr) || next_in_group(PIDTYPE_PGID, nr, NULL) || next_in_group(PIDTYPE_SID, nr, NULL);
}

/*
 * Free those of the three numbers that nothing has any more. Equal ones are asked about once: after the first free
 * the number may belong to a new task, and a second free would take it from that task. [T]
 */
static void pid_free_unused(pid_t a, pid_t b, pid_t c)
{
	if (a && !number_in_use(a))
		free_pid(a);
	if (b && b != a && !number_in_use(b))
		free_pid(b);
	if (c && c != a && c != b && !number_in_use(c))
		free_pid(c);
}

/*
 * Move the process to another group or session. The number that it leaves is freed when it was the last
 * that had it. [T]
 */
void change_group(struct signal_struct *sig, enum pid_type type, pid_t nr)
{
	pid_t old = sig->group_nr[type];

	if (old == nr)
		return;
	list_del(&sig->group_node[type]);
	join_one(sig, type, nr);
	pid_free_unused(old, 0, 0);
}

/*
 * A number outlives the task that had it: `kill(-5)` must not reach strangers while a group 5 exists, even
 * when process 5 is gone. So a number is free when no task, group or session has it any more, which
 * pid_free_unused asks under tasklist_lock.
 *
 * It asks once for each of the process's three numbers, though they are often the same. A number that has
 * been freed may be given out at once, since alloc_pid does not take tasklist_lock; freed a second time, it
 * would be taken away from its new owner.
 *
 * A number that has been given out, and whose task is not published yet, looks unused but is safe: this
 * function would have to ask for it, and no process is in a group of that number, because setpgid makes
 * only groups whose number is a task's own.
 */
void leave_groups(struct task_struct *p)
{
	struct signal_struct *sig = p->signal;

	if (!thread_group_leader(p)) {
		pid_free_unused(p->pid, 0, 0);
		return;
	}
	list_del_init(&sig->group_node[PIDTYPE_PGID]);
	list_del_init(&sig->group_node[PIDTYPE_SID]);
	pid_free_unused(p->pid, sig->pgrp, sig->session);
}

/*
 * Linux's bounds, but PID_MAX at most, since the tables of tracing are as long as that. Tasks with higher numbers
 * keep them. 0 or -EINVAL.
 */
static int pid_max_store(char *text, void *data)
{
	u64 max;
	int err = kstrtoull(text, 10, &max);

	if (err)
		return err;
	if (max < RESERVED_PIDS + 1 || max > PID_MAX)
		return -EINVAL;
	spin_lock_irq(&pid_lock);
	pid_max = max;
	spin_unlock_irq(&pid_lock);
	return 0;
}

static int pid_max_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(pid_max));
	return 0;
}

static const struct text_file pid_max_entry = {
	.path = "sys/kernel/pid_max", .mode = 0644, .show = pid_max_show, .store = pid_max_store};
REGISTER_PROC(pid_max_entry);
