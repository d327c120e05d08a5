/*
 * signalfd(2): signals of the reader, by read() in the place of a handler. The file is no more than a set; whose
 * signals they are is asked at each read, so a file that a child inherits tells of the child's.
 *
 * All files share one wait queue, which a signal wakes when it is sent. A queue for each process would have to be left
 * by files and instances of epoll that live longer than the process; and a wake-up too many costs one look.
 */
#include <asm/uaccess.h>
#include <fs/anon_inode.h>
#include <fs/poll.h>
#include <fs/seq_file.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <uapi/fcntl.h>

struct signalfd {
	sigset_t mask; /* [a] signals that are told */
};

/* What is read, as signalfd(2) has it. */
struct signalfd_siginfo {
	u32 signo;
	s32 error, code;
	u32 pid, uid;
	s32 fd;
	u32 tid, band, overrun, trapno;
	s32 status, value;
	u64 pointer, utime, stime, addr;
	u8 pad[48];
};
static_assert(sizeof(struct signalfd_siginfo) == 128);

static bool signalfd_take(const struct signalfd *s, struct siginfo *info)
{
	bool got;

	spin_lock_irq(&current->sighand->siglock);
	got = dequeue_signal(~READ_ONCE(s->mask), info);
	spin_unlock_irq(&current->sighand->siglock);
	return got;
}

/* Does the siginfo tell of a file with O_ASYNC? The signals of faults have other meanings for the same codes. */
static bool is_of_a_file(const struct siginfo *info)
{
	const sigset_t faults = sigmask(SIGILL) | sigmask(SIGFPE) | sigmask(SIGSEGV) | sigmask(SIGBUS) |
				sigmask(SIGTRAP) | sigmask(SIGSYS) | sigmask(SIGCHLD);

	if (info->si_code == SI_SIGIO)
		return true;
	return info->si_code >= POLL_IN && info->si_code <= POLL_OUT && !(sigmask(info->si_signo) & faults);
}

/* The fields that a signal of this kind has; the others stay 0. 0 or -EFAULT. */
static int signalfd_put(struct signalfd_siginfo __user *to, const struct siginfo *info)
{
	struct signalfd_siginfo s = {.signo = info->si_signo, .error = info->si_errno, .code = info->si_code};

	if (is_of_a_file(info)) {
		s.band = info->si_band;
		s.fd = info->si_fd;
	} else if (info->si_code > 0 && info->si_code < SI_KERNEL && info->si_signo != SIGCHLD) {
		s.addr = (unsigned long)info->si_addr; /* a fault */
	} else if (info->si_code == SI_TIMER) {
		s.tid = info->si_pid; /* the timer's number, in the same place */
		s.overrun = info->si_uid;
	} else {
		s.pid = info->si_pid;
		s.uid = info->si_uid;
	}
	if (info->si_code < 0 && info->si_code != SI_SIGIO) {
		s.pointer = info->si_value;
		s.value = (s32)info->si_value;
	} else if (info->si_signo == SIGCHLD) {
		s.status = info->si_status;
		s.utime = info->si_utime;
		s.stime = info->si_stime;
	}
	return copy_to_user(to, &s, sizeof(s)) ? -EFAULT : 0;
}

/* As many as there are and fit; waits for the first alone. */
static ssize_t signalfd_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	const struct signalfd *s = f->private_data;
	struct siginfo info;
	ssize_t done = 0;

	if (n < sizeof(struct signalfd_siginfo))
		return -EINVAL;
	if (!signalfd_take(s, &info)) {
		if (f->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(&signalfd_wait, signalfd_take(s, &info)))
			return -ERESTARTSYS;
	}
	do {
		if (signalfd_put((struct signalfd_siginfo __user *)(buf + done), &info))
			return done ? done : -EFAULT;
		done += sizeof(struct signalfd_siginfo);
	} while (n - done >= sizeof(struct signalfd_siginfo) && signalfd_take(s, &info));
	return done;
}

static unsigned signalfd_poll(struct file *f, struct poll_table *pt)
{
	const struct signalfd *s = f->private_data;
	sigset_t pending;

	poll_wait(f, &signalfd_wait, pt);
	spin_lock_irq(&current->sighand->siglock);
	pending = current->pending.signal | current->signal->shared_pending.signal;
	spin_unlock_irq(&current->sighand->siglock);
	return pending & READ_ONCE(s->mask) ? POLLIN : 0;
}

static void signalfd_show_fdinfo(struct seq_file *m, const struct file *f)
{
	const struct signalfd *s = f->private_data;

	seq_printf(m, "sigmask:\t%016llx\n", (unsigned long long)READ_ONCE(s->mask));
}

static int signalfd_release(struct inode *inode, struct file *f)
{
	kfree(f->private_data);
	return 0;
}

static const struct file_operations signalfd_fops = {
	.read = signalfd_read,
	.poll = signalfd_poll,
	.release = signalfd_release,
	.show_fdinfo = signalfd_show_fdinfo,
};

/* Another set for a file that is there. */
static int signalfd_change(int fd, sigset_t mask)
{
	struct file *f = fget(fd);
	int err = -EINVAL;

	if (!f)
		return -EBADF;
	if (f->f_op == &signalfd_fops) {
		WRITE_ONCE(((struct signalfd *)f->private_data)->mask, mask);
		wake_up_all(&signalfd_wait);
		err = fd;
	}
	fput(f);
	return err;
}

/* fd -1: a new file; else the file's set is exchanged, and the flags do not count. */
SYSCALL_DEFINE4(signalfd4, int, ufd, sigset_t __user *, user_mask, size_t, sizemask, int, flags)
{
	struct signalfd *s;
	sigset_t mask;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK) || sizemask != sizeof(mask))
		return -EINVAL;
	if (copy_from_user(&mask, user_mask, sizeof(mask)))
		return -EFAULT;
	mask &= ~SIG_UNBLOCKABLE;
	if (ufd != -1)
		return signalfd_change(ufd, mask);
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	s->mask = mask;
	ufd = anon_inode_fd("[signalfd]", &signalfd_fops, s, O_RDWR | flags);
	if (ufd < 0)
		kfree(s);
	return ufd;
}

SYSCALL_DEFINE3(signalfd, int, ufd, sigset_t __user *, user_mask, size_t, sizemask)
{
	return sys_signalfd4(ufd, (unsigned long)user_mask, sizemask, 0);
}
