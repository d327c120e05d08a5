/*
 * Garbage of AF_UNIX: sockets that were sent over sockets. A socket that lies in its own queue, or two that lie in each
 * other's, are open files that nobody can reach any more, and their last reference would never go.
 *
 * The collector runs when a socket is closed while any is on its way in a message. It finds the garbage by counting, as
 * Linux's first one did:
 *
 *  1. A candidate is a socket all of whose file's references are in messages.
 *  2. References in the messages of candidates are taken off the count of whom they lead to. A candidate with some left
 *     is held by a message of a socket that is in use.
 *  3. From those on, everything that their messages lead to is in use as well.
 *  4. What remains is garbage: its messages are dropped, and with them the files.
 *
 * Why no reference moves meanwhile: a file gets into a message, or out of one, under unix_mutex. A candidate has no
 * reference outside messages, so nobody can copy one.
 *
 * Files of dropped messages are closed here, too. Closing a socket drops the messages of its queue, whose files may be
 * sockets in turn. So that a long chain of them does not need a long stack, whoever drops messages while others are
 * being dropped only puts them onto the list.
 */
#include "unix.h"

static LIST_HEAD(dropped);   /* [u] messages to be freed */
static bool dropping;	     /* [u] a task is at it */
static unsigned nr_inflight; /* [u] references to sockets in messages */

static struct unix_sock *unix_of_file(const struct file *f)
{
	struct sock *sk = sock_of_file(f);

	return sk && sk->ops->family == AF_UNIX ? unix_sk(sk) : NULL;
}

void unix_count_inflight(const struct scm_files *files, int n)
{
	for (unsigned i = 0; files && i < files->nr; i++) {
		struct unix_sock *u = unix_of_file(files->file[i]);

		if (!u)
			continue;
		u->inflight += n;
		nr_inflight += n;
	}
}

/*
 * One task at a time frees messages, without the mutex, since closing a file may sleep and may come back here with the
 * messages of a socket that it closes. That inner call, and any other task meanwhile, leaves its messages on the list.
 */
void unix_discard(struct list_head *msgs)
{
	struct unix_msg *msg;

	if (list_empty(msgs))
		return;
	mutex_lock(&unix_mutex);
	list_splice_tail_init(msgs, &dropped);
	if (dropping) {
		mutex_unlock(&unix_mutex);
		return;
	}
	dropping = true;
	while ((msg = list_first_entry_or_null(&dropped, struct unix_msg, list))) {
		list_del(&msg->list);
		mutex_unlock(&unix_mutex);
		unix_msg_free(msg);
		mutex_lock(&unix_mutex);
	}
	dropping = false;
	mutex_unlock(&unix_mutex);
}

/* [u] Call f for each candidate that a message in the queue leads to. */
static void scan_queue(const struct unix_sock *u, void (*f)(struct unix_sock *, struct list_head *),
		       struct list_head *list)
{
	const struct unix_msg *msg;

	list_for_each_entry(msg, &u->queue, list) {
		const struct scm_files *files = msg->scm.files;

		for (unsigned i = 0; files && i < files->nr; i++) {
			struct unix_sock *to = unix_of_file(files->file[i]);

			if (to && to->gc_candidate)
				f(to, list);
		}
	}
}

/* [u] The same for all that can be reached through a socket: also by accepting a connection from it. */
static void scan(const struct unix_sock *u, void (*f)(struct unix_sock *, struct list_head *), struct list_head *list)
{
	const struct unix_sock *unaccepted;

	scan_queue(u, f, list);
	list_for_each_entry(unaccepted, &u->backlog, waiting)
		scan_queue(unaccepted, f, list);
}

static void not_from_outside(struct unix_sock *u, struct list_head *list)
{
	u->gc_refs--;
}

/* In use: it is no candidate any more, and what it leads to is looked at later. */
static void in_use(struct unix_sock *u, struct list_head *list)
{
	u->gc_candidate = false;
	list_move_tail(&u->gc_link, list);
}

/* [u] The candidates, on a list. */
static void find_candidates(struct list_head *candidates)
{
	struct unix_sock *u;

	list_for_each_entry(u, &unix_all, all) {
		u->gc_refs = u->inflight;
		u->gc_candidate =
			u->inflight && u->sk.file && (unsigned)atomic_read(&u->sk.file->f_count) == u->inflight;
		if (u->gc_candidate)
			list_add_tail(&u->gc_link, candidates);
	}
}

/* [u] Take the messages of all garbage. */
static void collect(struct list_head *msgs)
{
	struct unix_sock *u, *next, *unaccepted;
	LIST_HEAD(candidates);
	LIST_HEAD(used);

	find_candidates(&candidates);
	list_for_each_entry(u, &candidates, gc_link)
		scan(u, not_from_outside, NULL);
	list_for_each_entry_safe(u, next, &candidates, gc_link)
		if (u->gc_refs)
			in_use(u, &used);
	list_for_each_entry(u, &used, gc_link) /* it grows meanwhile */
		scan(u, in_use, &used);
	list_for_each_entry(u, &candidates, gc_link) {
		unix_take_queue(u, msgs);
		list_for_each_entry(unaccepted, &u->backlog, waiting)
			unix_take_queue(unaccepted, msgs);
	}
}

void unix_gc(void)
{
	LIST_HEAD(msgs);

	mutex_lock(&unix_mutex);
	if (nr_inflight)
		collect(&msgs);
	mutex_unlock(&unix_mutex);
	unix_discard(&msgs);
}
