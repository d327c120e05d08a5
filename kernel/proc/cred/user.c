/*
 * Users, for what all tasks of one real user id have together: how many tasks there are, how many signals wait for
 * them, how many pages their pipes hold. RLIMIT_NPROC and its like bound these sums.
 *
 * A user_struct is found by its id in a hash, and lives as long as it has references: each task and each queued signal
 * holds one. Others look at a task's user under RCU, when they send it a signal; the task may change its user at that
 * moment. So they take a reference only if the count is not zero, and otherwise read the pointer again.
 */
#include <lib/errno.h>
#include <lib/hash.h>
#include <mm/slab.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/resource.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#define HASH_BITS 6

static DEFINE_SPINLOCK(user_lock); /* irqsave; innermost: references are put with runqueues and siglocks held */
static struct hlist_head user_hash[1 << HASH_BITS]; /* [user_lock]; root is not in it */

struct user_struct root_user = {.refs = ATOMIC_INIT(1), .processes = ATOMIC_INIT(1)};

static void free_user_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct user_struct, rcu));
	no_tail_call();
}

/*
 * The count falls to zero under user_lock, so find_or_add() never finds a user whose last reference has gone. The
 * memory waits for readers under RCU (get_task_user).
 */
void put_user_struct(struct user_struct *user)
{
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&user_lock, flags);
	last = atomic_dec_and_test(&user->refs);
	if (last)
		hlist_del(&user->node);
	spin_unlock_irqrestore(&user_lock, flags);
	if (last)
		call_rcu(&user->rcu, free_user_rcu);
}

/*
 * A count of zero means that the task has another user by now: set_user() writes the pointer before it drops the old
 * one. The loop ends because of that.
 */
struct user_struct *get_task_user(struct task_struct *t)
{
	struct user_struct *user;

	rcu_read_lock();
	do
		user = READ_ONCE(t->user);
	while (!atomic_inc_not_zero(&user->refs));
	rcu_read_unlock();
	return user;
}

/*
 * The user with this id, with a reference. If there is none, `fresh` goes into the hash and is the result, with the
 * reference that it was made with. [user_lock]
 */
static struct user_struct *find_or_add(u32 uid, struct user_struct *fresh)
{
	struct hlist_head *bucket = &user_hash[hash_64(uid, HASH_BITS)];
	struct user_struct *user;

	hlist_for_each_entry(user, bucket, node) {
		if (user->uid == uid) {
			atomic_inc(&user->refs);
			return user;
		}
	}
	hlist_add_head(&fresh->node, bucket);
	return fresh;
}

/*
 * The user with this id, with a reference; NULL: no memory. The memory for a new one is taken before the lock,
 * because a spinlock is held there, and is given back if it was not needed.
 */
static struct user_struct *find_user(u32 uid)
{
	struct user_struct *fresh, *user;

	if (!uid) {
		atomic_inc(&root_user.refs);
		return &root_user;
	}
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	if (!fresh)
		return NULL;
	atomic_set(&fresh->refs, 1);
	fresh->uid = uid;
	spin_lock_irq(&user_lock);
	user = find_or_add(uid, fresh);
	spin_unlock_irq(&user_lock);
	if (user != fresh)
		kfree(fresh);
	return user;
}

/* A count that includes the task that is asked for: one more than the limit is too many. */
bool nproc_exceeded(const struct user_struct *user)
{
	return (u64)atomic_read(&user->processes) > rlimit(RLIMIT_NPROC) && user != &root_user &&
	       !capable(CAP_SYS_RESOURCE) && !capable(CAP_SYS_ADMIN);
}

/*
 * The new user is counted before the pointer changes, and the old one is put after it, so get_task_user() always
 * finds one that lives. smp_store_release() makes the new struct's contents visible before the pointer to it.
 */
int set_user(u32 uid)
{
	struct user_struct *old = current->user, *new;

	if (uid == old->uid)
		return 0;
	new = find_user(uid);
	if (!new)
		return -EAGAIN;
	atomic_inc(&new->processes);
	atomic_dec(&old->processes);
	if ((u64)atomic_read(&new->processes) > rlimit(RLIMIT_NPROC) && new != &root_user)
		current->flags |= PF_NPROC_EXCEEDED;
	else
		current->flags &= ~PF_NPROC_EXCEEDED;
	smp_store_release(&current->user, new);
	put_user_struct(old);
	return 0;
}
