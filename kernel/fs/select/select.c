/* select(2) and pselect6(2): waiting for several files, which are bits of a set. poll.c does the waiting. */
#include "../files.h"
#include "../poll_call.h"

#include <lib/bitmap.h>
#include <mm/slab.h>
#include <proc/personality.h>
#include <proc/syscall.h>
#include <time/posix.h>
#include <uapi/time.h>

typedef unsigned long fd_set; /* the first of its words */

/* The three sets of select(2), as asked for and as answered: read, write, exception. */
struct select_set {
	unsigned n;
	unsigned long in[3][__FD_SETSIZE / 64], out[3][__FD_SETSIZE / 64];
	bool bad;
};

#define SELECT_IN  (POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR)
#define SELECT_OUT (POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR)
#define SELECT_EX  POLLPRI

/*
 * Ask one file, and set its bit in each answer that applies. Returns how many; a descriptor that is not open makes the
 * whole call fail.
 */
static int select_one(struct select_set *s, unsigned fd, struct poll_table *pt)
{
	static const unsigned wanted[3] = {SELECT_IN, SELECT_OUT, SELECT_EX};
	struct fd f = fdget(fd);
	unsigned mask;
	int count = 0;

	if (!f.file) {
		s->bad = true;
		return 0;
	}
	mask = vfs_poll(f.file, pt);
	fdput(f);
	for (unsigned k = 0; k < 3; k++)
		if (test_bit(fd, s->in[k]) && (mask & wanted[k])) {
			s->out[k][fd / 64] |= BIT(fd % 64);
			count++;
		}
	return count;
}

/* Ask all files that are in any of the three sets. */
static int select_scan(void *what, struct poll_table *pt)
{
	struct select_set *s = what;
	int count = 0;

	for (unsigned w = 0; w < DIV_ROUND_UP(s->n, 64); w++)
		for (unsigned long bits = s->in[0][w] | s->in[1][w] | s->in[2][w]; bits; bits &= bits - 1) {
			count += select_one(s, w * 64 + __builtin_ctzl(bits), pt);
			if (s->bad)
				return -EBADF;
			if (count)
				pt->queueing = false;
		}
	return count;
}

/*
 * The three sets of select(2), each of n bits; a set that is NULL is empty. Bits behind n mean nothing, and are
 * cleared. 0 or -EFAULT.
 */
static int copy_sets_in(struct select_set *s, unsigned long __user *const usets[3])
{
	unsigned bytes = DIV_ROUND_UP(s->n, 64) * sizeof(long);

	for (unsigned k = 0; k < 3; k++) {
		if (usets[k] && copy_from_user(s->in[k], usets[k], bytes))
			return -EFAULT;
		if (s->n % 64)
			s->in[k][s->n / 64] &= BIT(s->n % 64) - 1;
	}
	return 0;
}

/* Each set that the caller gave is overwritten by its answer. */
static int copy_sets_out(const struct select_set *s, unsigned long __user *const usets[3])
{
	unsigned bytes = DIV_ROUND_UP(s->n, 64) * sizeof(long);

	for (unsigned k = 0; k < 3; k++)
		if (usets[k] && copy_to_user(usets[k], s->out[k], bytes))
			return -EFAULT;
	return 0;
}

/* The sets are answered only when the call succeeds. Descriptors behind __FD_SETSIZE are ignored. */
static long do_select(int n, unsigned long __user *const usets[3], ktime_t deadline)
{
	struct select_set *s;
	long res;

	if (n < 0)
		return -EINVAL;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	s->n = min(n, __FD_SETSIZE);
	res = copy_sets_in(s, usets);
	if (!res)
		res = poll_files(deadline, select_scan, s);
	if (res >= 0 && copy_sets_out(s, usets))
		res = -EFAULT;
	kfree(s);
	return res;
}

/* pselect6(2)'s sixth argument points to the mask and its size. */
struct sigset_argpack {
	const sigset_t __user *mask;
	size_t size;
};

/* Everything that can be wrong with the arguments is looked at before the signal mask changes. */
SYSCALL_DEFINE6(pselect6, int, n, fd_set __user *, inp, fd_set __user *, outp, fd_set __user *, exp,
		struct timespec __user *, tsp, void __user *, sig)
{
	unsigned long __user *const sets[3] = {inp, outp, exp};
	struct sigset_argpack pack = {NULL, 0};
	ktime_t deadline;
	long res = poll_deadline(tsp, &deadline);

	if (!res && sig && copy_from_user(&pack, sig, sizeof(pack)))
		res = -EFAULT;
	if (!res)
		res = poll_sigmask(pack.mask, pack.size);
	if (res)
		return res;
	res = do_select(n, sets, deadline);
	return poll_finish(tsp, deadline, res);
}

/*
 * The same with microseconds, of which there may be more than a second's. The seconds are added with a limit, so a huge
 * timeout means for ever and not a moment in the past.
 */
SYSCALL_DEFINE5(select, int, n, fd_set __user *, inp, fd_set __user *, outp, fd_set __user *, exp,
		struct timeval __user *, tvp)
{
	const s64 second = NSEC_PER_SEC / NSEC_PER_USEC;
	unsigned long __user *const sets[3] = {inp, outp, exp};
	ktime_t deadline = NO_TIMEOUT;
	struct timeval tv;
	long res = 0;

	if (tvp && copy_from_user(&tv, tvp, sizeof(tv)))
		return -EFAULT;
	if (tvp && (tv.tv_sec < 0 || tv.tv_usec < 0))
		return -EINVAL;
	if (tvp)
		res = poll_deadline_in(ktime_add_safe(tv.tv_sec, tv.tv_usec / second), /* a sum of seconds, not of ns */
				       tv.tv_usec % second * NSEC_PER_USEC, &deadline);
	if (res)
		return res;
	res = do_select(n, sets, deadline);
	if (deadline != NO_TIMEOUT && unlikely(current->personality & STICKY_TIMEOUTS))
		return poll_sticky_result(res);
	if (deadline != NO_TIMEOUT) {
		tv = ns_to_timeval(poll_time_left(deadline));
		if (copy_to_user(tvp, &tv, sizeof(tv)))
			return res; /* a bad address is no error here, see poll_finish() */
	}
	return res;
}
