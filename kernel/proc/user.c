/*
 * Users, for what their tasks have in common: how many there are, and how many signals wait for them.
 *
 * A task's user is found by others under RCU (a signal is counted for who gets it): the task itself may
 * exchange it at that moment, so they take a reference that is not zero or look again.
 */
#include <lib/errno.h>
#include <lib/hash.h>
#include <mm/slab.h>
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
}

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

/* With a reference, also to `fresh` when that is taken in; it is not when the user is there. [user_lock] */
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

/* With a reference; NULL: no memory. */
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

bool nproc_exceeded(const struct user_struct *user)
{
	return (u64)atomic_read(&user->processes) > rlimit(RLIMIT_NPROC) && user != &root_user && current->euid != 0;
}

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
