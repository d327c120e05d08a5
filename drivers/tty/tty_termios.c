/*
 * Modes of terminals: TCGETS and TCSETS, the same with the older structure of System V (TCGETA and its like), and the
 * lock by which root keeps modes from being changed.
 *
 * A request is a row of a table: which of the two structures it has, and what happens before the new modes come into
 * force. User memory is copied before or after the lock is held and never under it, since it may fault. Context: a
 * thread, no locks.
 */
#include "tty.h"

#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/capability.h>
#include <proc/signal.h>

/* A copy is made under the lock, so that the modes belong together. */
static struct termios termios_now(struct tty_struct *tty, const struct termios *what)
{
	struct termios t;
	unsigned long flags;

	spin_lock_irqsave(&tty->lock, flags);
	t = *what;
	spin_unlock_irqrestore(&tty->lock, flags);
	return t;
}

/* TCGETS and TIOCGLCKTRMIOS. */
static long put_termios(struct termios t, struct termios __user *to)
{
	return copy_to_user(to, &t, sizeof(t)) ? -EFAULT : 0;
}

/* TCGETA: what the older structure has room for. */
static long put_termio(struct termios t, struct termio __user *to)
{
	struct termio old;

	memset(&old, 0, sizeof(old)); /* the byte behind its members, too */
	old.c_iflag = t.c_iflag;
	old.c_oflag = t.c_oflag;
	old.c_cflag = t.c_cflag;
	old.c_lflag = t.c_lflag;
	old.c_line = t.c_line;
	memcpy(old.c_cc, t.c_cc, sizeof(old.c_cc));
	return copy_to_user(to, &old, sizeof(old)) ? -EFAULT : 0;
}

/* New modes from the older structure: what it has no room for stays as it is. 0 or -EFAULT. */
static long get_termio(struct tty_struct *tty, const struct termio __user *from, struct termios *t)
{
	struct termio old;

	if (copy_from_user(&old, from, sizeof(old)))
		return -EFAULT;
	*t = termios_now(tty, &tty->termios);
	t->c_iflag = (t->c_iflag & 0xffff0000) | old.c_iflag;
	t->c_oflag = (t->c_oflag & 0xffff0000) | old.c_oflag;
	t->c_cflag = (t->c_cflag & 0xffff0000) | old.c_cflag;
	t->c_lflag = (t->c_lflag & 0xffff0000) | old.c_lflag;
	t->c_line = old.c_line;
	memcpy(t->c_cc, old.c_cc, sizeof(old.c_cc));
	return 0;
}

static u32 keep_locked(u32 new, u32 old, u32 locked)
{
	return (new & ~locked) | (old & locked);
}

/* [l] What is locked stays as it is, whoever asks, as on Linux. */
static void keep_locked_modes(const struct tty_struct *tty, struct termios *t)
{
	const struct termios *old = &tty->termios, *locked = &tty->locked;

	t->c_iflag = keep_locked(t->c_iflag, old->c_iflag, locked->c_iflag);
	t->c_oflag = keep_locked(t->c_oflag, old->c_oflag, locked->c_oflag);
	t->c_cflag = keep_locked(t->c_cflag, old->c_cflag, locked->c_cflag);
	t->c_lflag = keep_locked(t->c_lflag, old->c_lflag, locked->c_lflag);
	if (locked->c_line)
		t->c_line = old->c_line;
	for (unsigned i = 0; i < NCCS; i++)
		if (locked->c_cc[i])
			t->c_cc[i] = old->c_cc[i];
}

/* The requests that set modes: at once, after the output has gone, or also with the input thrown away. */
static const struct set_request {
	unsigned cmd;
	bool termio, drain, flush;
} set_requests[] = {
	{TCSETS, false, false, false}, {TCSETSW, false, true, false}, {TCSETSF, false, true, true},
	{TCSETA, true, false, false},  {TCSETAW, true, true, false},  {TCSETAF, true, true, true},
};

/* Readers are woken, as the new mode may let them go on. */
static long set_termios(struct tty_struct *tty, const void __user *from, const struct set_request *how, bool drain)
{
	struct termios t;
	unsigned long flags;
	long err = tty_check_change(tty, SIGTTOU);

	if (err)
		return err;
	if (how->termio)
		err = get_termio(tty, from, &t);
	else
		err = copy_from_user(&t, from, sizeof(t)) ? -EFAULT : 0;
	if (!err && how->drain && drain)
		err = tty_wait_sent(tty);
	if (err)
		return err;
	/* A serial line of QEMU has no speed and eight bits: those stay what they are. */
	t.c_cflag = tty_std_termios.c_cflag;
	spin_lock_irqsave(&tty->lock, flags);
	if (how->flush)
		n_tty_flush_input(tty);
	keep_locked_modes(tty, &t);
	n_tty_set_termios(tty, &t);
	spin_unlock_irqrestore(&tty->lock, flags);
	if (!(t.c_iflag & IXON))
		tty_set_stopped(tty, false);
	tty_kick(tty);
	n_tty_process(tty);
	wake_up_interruptible_all(&tty->read_wait); /* readers look at the new mode */
	return 0;
}

/* TIOCSLCKTRMIOS: root's alone, or a checkpoint's that is restored. */
static long set_locked(struct tty_struct *tty, const struct termios __user *from)
{
	struct termios t;
	unsigned long flags;

	if (!capable(CAP_SYS_ADMIN) && !capable(CAP_CHECKPOINT_RESTORE))
		return -EPERM;
	if (copy_from_user(&t, from, sizeof(t)))
		return -EFAULT;
	spin_lock_irqsave(&tty->lock, flags);
	tty->locked = t;
	spin_unlock_irqrestore(&tty->lock, flags);
	return 0;
}

/* The requests that set modes are in the table; the others copy one of the two sets of modes out, or lock some. */
long tty_mode_ioctl(struct tty_struct *tty, unsigned cmd, unsigned long arg, bool drain, bool *known)
{
	*known = true;
	for (unsigned i = 0; i < ARRAY_SIZE(set_requests); i++)
		if (set_requests[i].cmd == cmd)
			return set_termios(tty, (const void __user *)arg, &set_requests[i], drain);
	switch (cmd) {
	case TCGETS:
		return put_termios(termios_now(tty, &tty->termios), (struct termios __user *)arg);
	case TCGETA:
		return put_termio(termios_now(tty, &tty->termios), (struct termio __user *)arg);
	case TIOCGLCKTRMIOS:
		return put_termios(termios_now(tty, &tty->locked), (struct termios __user *)arg);
	case TIOCSLCKTRMIOS:
		return set_locked(tty, (const struct termios __user *)arg);
	default:
		*known = false;
		return -ENOTTY;
	}
}
