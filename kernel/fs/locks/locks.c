/*
 * Locks on files, by which programs that ask keep out of each other's way: the part that flock(2) (flock.c) and the
 * record locks of fcntl(2) (fcntl_lock.c) share. A lock has an owner, which is an open file or a process, a type, and a
 * range of bytes.
 *
 * The locks of a file are a list at its inode, those of one owner beside each other and by their first byte. No two
 * locks of an owner overlap, and two of one type do not touch. A second list has all locks, newest first, for
 * /proc/locks, and a third one the requests that wait.
 *
 * A request that cannot be granted waits for the first lock that forbids it. If another request waits for that lock
 * already and would forbid this one, too, the new request waits behind the other request, and so on. So each request
 * has one `blocker`, and the requests form trees whose roots are locks:
 *
 *     lock A: write 0..99  <-- request B: write 0..9  <-- request C: read 5..5
 *                          <-- request D: read 50..59
 *
 * When a lock goes, is cut or is replaced, the requests directly below it (B and D) try again, in the order in which
 * they came. B becomes a lock, and C goes on waiting for it. So no task is woken in vain when many wait for one lock.
 *
 * One mutex guards everything. All tasks that wait are on one queue, each with its own condition: that its request has
 * no blocker any more.
 */
#include "locks.h"

#include <fs/text_file.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <sched/wait.h>
#include <uapi/fcntl.h>

#define CREATE_TRACE_POINTS
#include <trace/events/filelock.h>

#define MAX_CHAIN 10 /* of processes that wait for each other: Linux looks as far for a deadlock */

#define MAX_LOCKS 8192 /* of a user, with requests: a bound on the kernel's memory, and on the length of a list */

static DEFINE_MUTEX(file_lock_mutex);
static DECLARE_WAIT_QUEUE_HEAD(file_lock_wait);
static LIST_HEAD(all_locks);	 /* [m] newest first */
static LIST_HEAD(waiting_locks); /* [m] requests, oldest first */

unsigned locks_flags(const struct file_lock *l, unsigned more)
{
	if (l->kind == LOCK_FLOCK)
		return FL_FLOCK | more;
	return l->kind == LOCK_OFD && more != FL_CLOSE ? FL_POSIX | FL_OFDLCK | more : FL_POSIX | more;
}

/* A try to set or remove a lock has come to its end; ret: 0, -errno, or QUEUED. `more` as in locks_flags(). */
static void tell_try(const struct file_lock *l, unsigned more, int ret)
{
	if (l->kind == LOCK_FLOCK)
		trace_flock_lock_inode(l, locks_flags(l, more), ret);
	else
		trace_posix_lock_inode(l, locks_flags(l, more), ret);
}

static bool same_owner(const struct file_lock *a, const struct file_lock *b)
{
	return a->kind == b->kind && a->owner == b->owner;
}

static bool overlap(const struct file_lock *a, const struct file_lock *b)
{
	return a->start <= b->end && b->start <= a->end;
}

/* Do they overlap, or does one begin where the other ends? Neither sum overflows: a start is never below 0. */
static bool touch(const struct file_lock *a, const struct file_lock *b)
{
	return a->start - 1 <= b->end && b->start - 1 <= a->end;
}

/* May these two not exist together? */
static bool conflict(const struct file_lock *a, const struct file_lock *b)
{
	return (a->kind == LOCK_FLOCK) == (b->kind == LOCK_FLOCK) && !same_owner(a, b) && overlap(a, b) &&
	       (a->type == F_WRLCK || b->type == F_WRLCK);
}

/* [m] The first lock of the inode that forbids the request. */
static struct file_lock *find_conflict(const struct file_lock *request)
{
	struct file_lock *l = request->file->f_inode->i_locks;

	while (l && !conflict(l, request))
		l = l->next;
	return l;
}

/* [m] All that wait for `l` itself may try again. */
static void unblock(struct file_lock *l)
{
	struct file_lock *w;
	bool any = false;

	list_for_each_entry(w, &waiting_locks, link) {
		if (w->blocker != l)
			continue;
		WRITE_ONCE(w->blocker, NULL);
		any = true;
	}
	if (any)
		wake_up_all(&file_lock_wait);
}

static void free_lock(struct file_lock *l)
{
	if (!l)
		return;
	atomic_dec(&l->user->file_locks);
	put_user_struct(l->user);
	kfree(l);
}

/* [m] Take a lock out of both lists and free it. */
static void lock_remove(struct file_lock **link)
{
	struct file_lock *l = *link;

	*link = l->next;
	list_del(&l->link);
	unblock(l);
	free_lock(l);
}

/* [m] Put a lock into both lists: in its inode's, where the owner's others are, in the order of their first bytes. */
static void lock_insert(struct file_lock *new)
{
	struct file_lock **link = &new->file->f_inode->i_locks, **place = NULL;

	for (; *link; link = &(*link)->next) {
		if (!same_owner(*link, new))
			continue;
		place = link;
		if ((*link)->start > new->start)
			break;
		place = &(*link)->next;
	}
	link = place ? place : link;
	new->next = *link;
	WRITE_ONCE(*link, new); /* locks_remove_posix's callers look whether the inode has locks at all */
	list_add(&new->link, &all_locks);
}

/*
 * [m] A lock of the same owner and another type overlaps `by`: only its part outside of `by` is left. When the lock
 * lies around `by`, two parts are left, and `spare` becomes the second one. Returns whether `spare` was used.
 */
static bool cut(struct file_lock *l, const struct file_lock *by, struct file_lock *spare)
{
	loff_t end = l->end;
	bool around = l->start < by->start && end > by->end;

	if (l->start >= by->start) {
		l->start = by->end + 1;
	} else {
		l->end = by->start - 1;
		if (around) {
			spare->type = l->type;
			spare->start = by->end + 1;
			spare->end = end;
			lock_insert(spare);
		}
	}
	unblock(l);
	return around;
}

/*
 * [m] Make room for `new` among its owner's locks. Those of its type that it touches become a part of it, and what it
 * covers of others goes. `spare` may be NULL when `new` covers all bytes, since then no lock lies around it. Returns
 * whether `spare` was used. At most one lock lies around `new`, because no two locks of an owner overlap; the part that
 * is inserted lies behind `new` and is left alone.
 */
static bool lock_make_room(struct file_lock *new, struct file_lock *spare)
{
	struct file_lock **link = &new->file->f_inode->i_locks, *l;
	bool used = false;

	while ((l = *link)) {
		if (same_owner(l, new) && l->type == new->type && touch(l, new)) {
			new->start = min(new->start, l->start);
			new->end = max(new->end, l->end);
			lock_remove(link);
		} else if (same_owner(l, new) && l->start >= new->start && l->end <= new->end) {
			lock_remove(link);
		} else {
			if (same_owner(l, new) && overlap(l, new))
				used |= cut(l, new, spare);
			link = &l->next;
		}
	}
	return used;
}

/* [m] A waiting request of the process that has this lock; NULL: there is no such request. */
static const struct file_lock *request_of_owner(const struct file_lock *l)
{
	const struct file_lock *w;

	list_for_each_entry(w, &waiting_locks, link)
		if (w->blocker && same_owner(w, l))
			return w;
	return NULL;
}

/*
 * [m] Would the process of `request` wait for itself, if it waited for the lock `l`? The process that has that lock may
 * wait for another one, and so on. Several threads of a process may wait: the first that is found counts, so a process
 * of which another thread could go on gets the error, too, as on Linux. Locks of open files end the chain, because they
 * do not tell which process would release them.
 */
static bool would_deadlock(const struct file_lock *request, const struct file_lock *l)
{
	for (unsigned i = 0; i <= MAX_CHAIN && l->kind == LOCK_POSIX; i++) {
		l = request_of_owner(l);
		if (!l)
			return false;
		while (l->blocker)
			l = l->blocker;
		if (same_owner(request, l))
			return true;
	}
	return false;
}

/* [m] Let the request wait for `l`, or behind a request that waits for `l` already and would forbid this one, too. */
static void wait_behind(struct file_lock *request, struct file_lock *l)
{
	struct file_lock *w;

	list_for_each_entry(w, &waiting_locks, link)
		if (w->blocker == l && conflict(w, request))
			l = w;
	request->blocker = l;
	list_add_tail(&request->link, &waiting_locks);
}

#define QUEUED 1 /* no error of lock_try_set(): the request is in the list of those that wait */

/* Get the lock, or say why not, or begin to wait. A request that is granted is a lock now, or, to unlock, is freed. */
static int lock_try_set(struct file_lock *new, struct file_lock **spare, bool wait)
{
	struct file_lock *l;
	int err = 0;

	mutex_lock(&file_lock_mutex);
	l = new->type == F_UNLCK ? NULL : find_conflict(new);
	if (l && !wait) {
		err = -EAGAIN;
	} else if (l && new->kind == LOCK_POSIX && would_deadlock(new, l)) {
		err = -EDEADLK;
	} else if (l) {
		wait_behind(new, l);
		err = QUEUED;
	} else {
		if (lock_make_room(new, *spare))
			*spare = NULL;
	}
	tell_try(new, wait ? FL_SLEEP : 0, err);
	if (!err && new->type == F_UNLCK)
		free_lock(new);
	else if (!err)
		lock_insert(new);
	mutex_unlock(&file_lock_mutex);
	return err;
}

/* Sleep until the request may try again. When this returns, it is in no list. 0 or -ERESTARTSYS. */
static int sleep_behind(struct file_lock *request)
{
	int err = wait_event_interruptible(&file_lock_wait, !READ_ONCE(request->blocker));

	mutex_lock(&file_lock_mutex);
	list_del(&request->link);
	request->blocker = NULL;
	mutex_unlock(&file_lock_mutex);
	return err;
}

/* A request has failed: free it, and let the requests that wait behind it try again. */
static void give_up(struct file_lock *request)
{
	mutex_lock(&file_lock_mutex);
	unblock(request);
	mutex_unlock(&file_lock_mutex);
	free_lock(request);
}

/* A request of the current process's user; NULL: there is no memory, or the user has as many as it may. */
static struct file_lock *lock_alloc(const struct file_lock *request)
{
	struct file_lock *l = kmalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	*l = *request;
	l->pid = current->tgid;
	l->user = get_task_user(current);
	if ((unsigned)atomic_inc_return(&l->user->file_locks) <= MAX_LOCKS)
		return l;
	free_lock(l);
	return NULL;
}

/*
 * All that an owner has on the inode goes: `all` is a request to unlock every byte. This takes no memory and cannot
 * fail. `more` as in locks_flags().
 */
static void remove_all(struct file_lock *all, unsigned more)
{
	mutex_lock(&file_lock_mutex);
	lock_make_room(all, NULL);
	tell_try(all, more, 0);
	mutex_unlock(&file_lock_mutex);
}

/*
 * `new` becomes the lock, and `spare` the second part of a lock that it divides. Unlocking all bytes takes neither of
 * them, so it cannot fail. A request that sleep_behind() has woken may find the bytes taken again, and then it waits
 * again.
 */
int locks_set(const struct file_lock *request, bool wait)
{
	struct file_lock *new, *spare;
	int err = request->kind == LOCK_FLOCK ? -ENOMEM : -ENOLCK;

	if (request->type == F_UNLCK && !request->start && request->end == OFFSET_MAX) {
		struct file_lock all = *request;

		remove_all(&all, wait ? FL_SLEEP : 0);
		return 0;
	}
	new = lock_alloc(request);
	spare = lock_alloc(request);
	if (spare && new) {
		err = lock_try_set(new, &spare, wait);
		while (err == QUEUED) {
			err = sleep_behind(new);
			if (!err)
				err = lock_try_set(new, &spare, wait);
		}
	}
	if (err && new)
		give_up(new);
	free_lock(spare);
	return err;
}

/*
 * A close: the locks of this kind go. Nothing is done and recorded when the inode has none of the kind, whoever the
 * owner is: record locks are one kind in this, as in Linux's two lists. True: it had some.
 */
static bool remove_closed(struct file_lock *all)
{
	const struct file_lock *l;

	mutex_lock(&file_lock_mutex);
	for (l = all->file->f_inode->i_locks; l && (l->kind == LOCK_FLOCK) != (all->kind == LOCK_FLOCK);)
		l = l->next;
	mutex_unlock(&file_lock_mutex);
	if (l)
		remove_all(all, FL_CLOSE);
	return l;
}

/* A close of record locks, with its second event. */
static void remove_records(struct file *f, enum lock_kind kind, const void *owner)
{
	struct file_lock all = {.file = f, .kind = kind, .owner = owner, .type = F_UNLCK, .end = OFFSET_MAX};

	if (remove_closed(&all))
		trace_locks_remove_posix(&all, locks_flags(&all, FL_CLOSE), 0);
}

void locks_remove_posix(struct file *f, const void *owner)
{
	remove_records(f, LOCK_POSIX, owner);
}

void locks_remove_file(struct file *f)
{
	struct file_lock all = {.file = f, .kind = LOCK_FLOCK, .owner = f, .type = F_UNLCK, .end = OFFSET_MAX};

	remove_records(f, LOCK_OFD, f);
	remove_closed(&all);
}

bool locks_find(const struct file_lock *request, struct file_lock *out)
{
	struct file_lock *l;

	mutex_lock(&file_lock_mutex);
	l = find_conflict(request);
	if (request->type == F_UNLCK)
		for (l = request->file->f_inode->i_locks; l && !(same_owner(l, request) && overlap(l, request));)
			l = l->next;
	if (l)
		*out = *l;
	mutex_unlock(&file_lock_mutex);
	return l;
}

void locks_give_up(const struct file_lock *request)
{
	struct file_lock all = *request;

	all.type = F_UNLCK;
	mutex_lock(&file_lock_mutex);
	lock_make_room(&all, NULL);
	mutex_unlock(&file_lock_mutex);
}

bool locks_has(const struct file_lock *request, bool wait)
{
	struct file_lock *l;

	mutex_lock(&file_lock_mutex);
	for (l = request->file->f_inode->i_locks; l; l = l->next)
		if (same_owner(l, request) && l->type == request->type && l->start <= request->start &&
		    l->end >= request->end)
			break;
	if (l)
		tell_try(request, wait ? FL_SLEEP : 0, 0);
	mutex_unlock(&file_lock_mutex);
	return l;
}

/* --- What /proc shows --- */

/*
 * [m] A line: number, kind, type, process (-1: it belongs to an open file), device and inode, first and last byte. What
 * waits has an arrow, which stands further right the more requests it waits behind.
 */
static void show_lock(struct seq_file *m, const struct file_lock *l, u64 number, unsigned depth)
{
	static const char *const kinds[] = {"FLOCK ", "POSIX ", "OFDLCK"};
	const struct inode *inode = l->file->f_inode;
	u64 dev = inode->i_sb->s_dev;

	seq_printf(m, "%llu: ", (unsigned long long)number);
	if (depth)
		seq_printf(m, "%*s", (int)depth + 2, "-> ");
	seq_printf(m, "%s ADVISORY  %s %d %02x:%02x:%llu %lld ", kinds[l->kind], l->type == F_WRLCK ? "WRITE" : "READ",
		   l->kind == LOCK_OFD ? -1 : l->pid, (unsigned)(dev >> 20), (unsigned)(dev & 0xfffff),
		   (unsigned long long)inode->i_ino, (long long)l->start);
	if (l->end == OFFSET_MAX)
		seq_puts(m, "EOF\n");
	else
		seq_printf(m, "%lld\n", (long long)l->end);
}

/* [m] The first request behind `l`, or, when `after` is one of them, the next one. */
static const struct file_lock *next_behind(const struct file_lock *l, const struct file_lock *after)
{
	const struct file_lock *w;
	bool passed = !after;

	list_for_each_entry(w, &waiting_locks, link) {
		if (passed && w->blocker == l)
			return w;
		passed |= w == after;
	}
	return NULL;
}

/*
 * [m] A lock and the tree of requests below it. Programs decide how deep the tree is, so it is walked in a loop and not
 * by recursion.
 */
static void show_tree(struct seq_file *m, const struct file_lock *root, u64 number)
{
	const struct file_lock *at = root, *next;
	unsigned depth = 0;

	for (;;) {
		show_lock(m, at, number, depth++);
		next = next_behind(at, NULL);
		while (!next && at != root) {
			next = next_behind(at->blocker, at);
			at = at->blocker;
			depth--;
		}
		if (!next)
			return;
		at = next;
	}
}

/* The text of /proc/locks. */
static int locks_show(struct seq_file *m, void *v)
{
	const struct file_lock *l;
	u64 number = 0;

	mutex_lock(&file_lock_mutex);
	list_for_each_entry(l, &all_locks, link)
		show_tree(m, l, ++number);
	mutex_unlock(&file_lock_mutex);
	return 0;
}

static const struct text_file locks_entry = {.path = "locks", .mode = 0444, .show = locks_show};
REGISTER_PROC(locks_entry);

void locks_show_fd(struct seq_file *m, const struct file *f, const void *owner)
{
	u64 number = 0;

	mutex_lock(&file_lock_mutex);
	for (const struct file_lock *l = f->f_inode->i_locks; l; l = l->next)
		if (l->file == f || l->owner == owner) {
			seq_puts(m, "lock:\t");
			show_lock(m, l, ++number, 0);
		}
	mutex_unlock(&file_lock_mutex);
}
