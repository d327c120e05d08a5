/*
 * The line discipline's reading side: whole lines, or bytes by VMIN and VTIME.
 *
 *     VMIN > 0, VTIME = 0   wait for VMIN bytes            VMIN = 0, VTIME > 0   wait at most VTIME for one byte
 *     VMIN > 0, VTIME > 0   as the first, but a pause of   VMIN = 0, VTIME = 0   do not wait
 *                           VTIME after a byte ends it
 *
 * Context: a thread that may sleep. read_mutex ([r]) keeps readers in order; bytes leave the ring
 * under tty->lock ([l]), by way of a small buffer, since copying to user memory may fault and
 * sleep.
 */
#include "tty.h"

#include <asm/uaccess.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <uapi/fcntl.h>

#define CHUNK 128

/*
 * [l] Take up to `n` bytes of one line. *end becomes true when the line is complete, or when the file ends here, with
 * nothing. The zero byte that marks the end of the file is not data: it needs no room, and is taken with the last byte
 * before it, or the next read would report an end of the file that was none.
 */
static unsigned take_line(struct tty_struct *tty, char *to, unsigned n, bool *end)
{
	unsigned done = 0;

	*end = false;
	while (tty->tail != tty->canon && !*end) {
		u32 i = tty->tail % TTY_BUF_SIZE;
		bool eof = test_bit(i, tty->mark) && !tty->buf[i];

		if (done == n && !eof)
			break;
		tty->tail++;
		*end = test_bit(i, tty->mark);
		if (!eof)
			to[done++] = tty->buf[i];
	}
	return done;
}

/* [l] Take up to `n` bytes, whatever they are. `canon` never falls behind `tail`. */
static unsigned take_raw(struct tty_struct *tty, char *to, unsigned n)
{
	unsigned done = 0;

	while (done < n && tty->tail != tty->head)
		to[done++] = tty->buf[tty->tail++ % TTY_BUF_SIZE];
	if ((s32)(tty->canon - tty->tail) < 0)
		tty->canon = tty->tail;
	return done;
}

/*
 * Copy what is there. Returns bytes or -EFAULT, and in *end whether this read is complete. Bytes
 * that were taken before a fault are lost, as in Linux.
 */
static ssize_t copy_available(struct tty_struct *tty, char __user *buf, size_t n, bool *end)
{
	char chunk[CHUNK];
	size_t done = 0;

	*end = false;
	while (done < n && !*end) {
		unsigned long flags;
		unsigned got;

		spin_lock_irqsave(&tty->lock, flags);
		if (L_FLAG(tty, ICANON))
			got = take_line(tty, chunk, min_t(size_t, n - done, CHUNK), end);
		else
			got = take_raw(tty, chunk, min_t(size_t, n - done, CHUNK));
		spin_unlock_irqrestore(&tty->lock, flags);
		if (got && copy_to_user(buf + done, chunk, got))
			return -EFAULT;
		done += got;
		if (!got)
			break;
	}
	n_tty_process(tty); /* there is room again: what waited behind, and the driver if it was told to stop */
	return done;
}

/* What a read waits for. min: bytes; time: ns for the first byte (min 0) or between bytes, 0: for ever. */
struct read_goal {
	bool canon;
	unsigned min;
	s64 time;
};

/* What a read of n bytes waits for, in the present mode. VTIME counts tenths of a second. */
static struct read_goal n_tty_read_goal(struct tty_struct *tty, size_t n)
{
	struct read_goal g;
	unsigned long flags;

	spin_lock_irqsave(&tty->lock, flags);
	g.canon = L_FLAG(tty, ICANON);
	g.min = g.canon ? 1 : tty->termios.c_cc[VMIN];
	g.time = g.canon ? 0 : tty->termios.c_cc[VTIME] * 100 * NSEC_PER_MSEC;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (g.min > n)
		g.min = n;
	return g;
}

/* Is there something to read? A change of the mode counts, too, as the reader must then look at its goal again. */
static bool something_there(struct tty_struct *tty, bool canon)
{
	unsigned long flags;
	bool res;

	spin_lock_irqsave(&tty->lock, flags);
	res = canon ? tty->canon != tty->tail : tty->head != tty->tail;
	res |= canon != !!L_FLAG(tty, ICANON) || tty->hung_up;
	spin_unlock_irqrestore(&tty->lock, flags);
	return res;
}

/*
 * Sleep until there is input. Returns 1 if there is, 0 when the time is over, -ERESTARTSYS. The
 * task queues itself before it looks, so a wake-up in between is not lost.
 */
static int wait_input(struct tty_struct *tty, bool canon, s64 time)
{
	s64 left = time;
	int res = 1;
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait(&tty->read_wait, &wait, TASK_INTERRUPTIBLE);
		if (something_there(tty, canon))
			break;
		if (signal_pending(current)) {
			res = -ERESTARTSYS;
			break;
		}
		if (!time) {
			schedule();
			continue;
		}
		if (left <= 0) {
			res = 0;
			break;
		}
		left = schedule_timeout_ns(left);
	}
	finish_wait(&tty->read_wait, &wait);
	return res;
}

/*
 * [r] One read. It begins again after each sleep, since the mode may have changed, and it checks
 * after each sleep whether its process has gone to the background meanwhile.
 */
static ssize_t read_locked(struct tty_struct *tty, struct file *f, char __user *buf, size_t n)
{
	size_t done = 0;

	for (;;) {
		struct read_goal g = n_tty_read_goal(tty, n);
		bool end;
		ssize_t got = copy_available(tty, buf + done, n - done, &end);
		int res;

		if (got < 0)
			return done ? (ssize_t)done : got;
		done += got;
		if (end || done == n || (done && (g.canon || done >= g.min)))
			return done;
		if ((!g.canon && !g.min && !g.time) || READ_ONCE(tty->hung_up))
			return done;
		if (f->f_flags & O_NONBLOCK)
			return done ? (ssize_t)done : -EAGAIN;
		/* VMIN and VTIME: the clock runs from the first byte on. */
		res = wait_input(tty, g.canon, g.min && !done ? 0 : g.time);
		if (res <= 0)
			return done ? (ssize_t)done : res;
		res = tty_check_change(tty, SIGTTIN);
		if (res)
			return done ? (ssize_t)done : res;
	}
}

/*
 * One reader at a time has the terminal's input; the others wait for the mutex, or get -EAGAIN with O_NONBLOCK. -EIO or
 * -ERESTARTSYS for a job in the background (tty_check_change). Thread context.
 */
ssize_t n_tty_read(struct tty_struct *tty, struct file *f, char __user *buf, size_t n)
{
	ssize_t res = tty_check_change(tty, SIGTTIN);

	if (res || !n)
		return res;
	res = tty_lock_users(&tty->read_mutex, f);
	if (res)
		return res;
	res = read_locked(tty, f, buf, n);
	mutex_unlock(&tty->read_mutex);
	return res;
}
