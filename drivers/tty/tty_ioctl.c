/*
 * ioctls of terminals: sizes and queues, with Linux's numbers. Modes are in tty_termios.c, and what belongs to job
 * control is in tty_jobctrl.c.
 *
 * A background process that changes the terminal gets SIGTTOU first (tty_check_change). User memory
 * is copied before or after the lock is held and never under it, since it may fault. Context: a
 * thread, no locks.
 */
#include "tty.h"

#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/capability.h>
#include <proc/signal.h>
#include <sched/current.h>

/* TIOCGWINSZ. On a serial line only TIOCSWINSZ can tell the size; 24 by 80 is the beginning. */
static long get_winsize(struct tty_struct *tty, struct winsize __user *to)
{
	struct winsize w;
	unsigned long flags;

	spin_lock_irqsave(&tty->lock, flags);
	w = tty->winsize;
	spin_unlock_irqrestore(&tty->lock, flags);
	return copy_to_user(to, &w, sizeof(w)) ? -EFAULT : 0;
}

/* The foreground group is told by SIGWINCH, but only of a change: programs redraw for it. */
static long set_winsize(struct tty_struct *tty, const struct winsize __user *from)
{
	struct winsize w;
	unsigned long flags;
	bool changed;
	pid_t pgrp;

	if (copy_from_user(&w, from, sizeof(w)))
		return -EFAULT;
	spin_lock_irqsave(&tty->lock, flags);
	changed = memcmp(&w, &tty->winsize, sizeof(w));
	tty->winsize = w;
	pgrp = tty->pgrp;
	spin_unlock_irqrestore(&tty->lock, flags);
	if (changed && pgrp > 0)
		kill_pgrp(pgrp, SIGWINCH); /* -ESRCH: the group is empty */
	return 0;
}

/* tcflush(3). Input that no reader has taken is dropped, and a sender that was held back by it may go on. */
static long flush_queues(struct tty_struct *tty, unsigned long which)
{
	unsigned long flags;
	long err = tty_check_change(tty, SIGTTOU);

	if (err)
		return err;
	if (which != TCIFLUSH && which != TCOFLUSH && which != TCIOFLUSH)
		return -EINVAL;
	if (which != TCOFLUSH) {
		spin_lock_irqsave(&tty->lock, flags);
		n_tty_flush_input(tty);
		spin_unlock_irqrestore(&tty->lock, flags);
		n_tty_process(tty); /* unthrottles */
	}
	if (which != TCIFLUSH)
		tty_flush_output(tty);
	return 0;
}

/*
 * tcflow(3). TCOOFF and TCOON stop and start our own output. TCIOFF and TCION ask the other side to stop and start, by
 * sending ^S and ^Q.
 */
static long flow_control(struct tty_struct *tty, unsigned long what)
{
	unsigned long flags;
	long err = tty_check_change(tty, SIGTTOU);

	if (err)
		return err;
	switch (what) {
	case TCOOFF:
	case TCOON:
		tty_set_stopped(tty, what == TCOOFF);
		break;
	case TCIOFF:
	case TCION:
		spin_lock_irqsave(&tty->lock, flags);
		tty_echo_char(tty, tty->termios.c_cc[what == TCIOFF ? VSTOP : VSTART]);
		spin_unlock_irqrestore(&tty->lock, flags);
		break;
	default:
		return -EINVAL;
	}
	tty_kick(tty);
	return 0;
}

/* FIONREAD: how many bytes reads would return now; in canonical mode only complete lines count. */
static long input_queue_size(struct tty_struct *tty)
{
	unsigned long flags;
	long n;

	spin_lock_irqsave(&tty->lock, flags);
	n = n_tty_input_bytes(tty);
	spin_unlock_irqrestore(&tty->lock, flags);
	return n;
}

/*
 * TIOCSTI: a byte as if it had been typed. Only a process whose terminal this is may do that, or
 * root: it could run commands in another's shell.
 */
static long fake_input(struct tty_struct *tty, const char __user *from)
{
	char c;

	if (get_current_tty() != tty && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (get_user(c, from))
		return -EFAULT;
	tty_receive(tty, &c, 1);
	return 0;
}

/* What is left of a terminal that is hung up has no groups, and can do nothing else either. */
long tty_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	struct tty_struct *tty = f->private_data;

	if (READ_ONCE(tty->hung_up))
		return cmd == TIOCSPGRP ? -ENOTTY : -EIO;
	return tty_do_ioctl(tty, cmd, arg);
}

/* An unknown request is asked of job control, which returns -ENOTTY in the end. */
long tty_do_ioctl(struct tty_struct *tty, unsigned cmd, unsigned long arg)
{
	bool known;
	long res = tty_mode_ioctl(tty, cmd, arg, true, &known);

	if (known)
		return res;
	switch (cmd) {
	case TIOCGWINSZ:
		return get_winsize(tty, (struct winsize __user *)arg);
	case TIOCSWINSZ:
		return set_winsize(tty, (const struct winsize __user *)arg);
	case TCFLSH:
		return flush_queues(tty, arg);
	case TCXONC:
		return flow_control(tty, arg);
	case TCSBRK: /* with an argument: tcdrain(3). There is no break to send. */
	case TCSBRKP:
		return tty_check_change(tty, SIGTTOU) ?: tty_wait_sent(tty);
	case FIONREAD:
		return put_user((int)input_queue_size(tty), (int __user *)arg);
	case TIOCOUTQ:
		return put_user((int)tty_output_pending(tty), (int __user *)arg);
	case TIOCSTI:
		return fake_input(tty, (const char __user *)arg);
	default:
		return tty_jobctrl_ioctl(tty, cmd, arg);
	}
}
