/*
 * pidfd_open(2) and its relatives: a process as a file. A number may be given to another process when its owner is
 * gone; the file keeps the signal_struct, which is the process's own and that of no other, also when the process has a
 * new leader after an exec. The tasks may be gone: signal->leader counts only while nr_threads says so, under
 * tasklist_lock.
 */
#include <proc/pidfd.h>

#include <asm/uaccess.h>
#include <fs/anon_inode.h>
#include <fs/poll.h>
#include <fs/seq_file.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <proc/task_alloc.h>
#include <sched/spinlock.h>
#include <uapi/fcntl.h>

/* Ready when the process has ended, all threads of it. */
static unsigned pidfd_poll(struct file *f, struct poll_table *pt)
{
	struct signal_struct *sig = f->private_data;
	bool ended;

	poll_wait(f, &sig->pidfd_wait, pt);
	spin_lock_irq(&tasklist_lock);
	ended = !sig->nr_threads || (sig->leader->exit_state && thread_group_empty(sig->leader));
	spin_unlock_irq(&tasklist_lock);
	return ended ? POLLIN | POLLRDNORM : 0;
}

static struct task_struct *pidfd_process(const struct file *f)
{
	return get_process_leader(f->private_data);
}

/* The number of the process; -1 when it was waited for. There is one namespace of numbers. */
static void pidfd_show_fdinfo(struct seq_file *m, const struct file *f)
{
	struct task_struct *p = pidfd_process(f);
	pid_t pid = p ? p->tgid : -1;

	seq_printf(m, "Pid:\t%d\nNSpid:\t%d\n", pid, pid);
	if (p)
		put_task_struct(p);
}

static int pidfd_release(struct inode *inode, struct file *f)
{
	put_signal(f->private_data);
	return 0;
}

static const struct file_operations pidfd_fops = {
	.poll = pidfd_poll,
	.release = pidfd_release,
	.process = pidfd_process,
	.show_fdinfo = pidfd_show_fdinfo,
};

static struct signal_struct *pidfd_signal(const struct file *f)
{
	return f->f_op == &pidfd_fops ? f->private_data : NULL;
}

/* flags: O_NONBLOCK. ERR_PTR. Thread context. */
static struct file *pidfd_file(struct signal_struct *sig, unsigned flags)
{
	struct file *f;

	atomic_inc(&sig->sigcnt);
	f = anon_inode_file("[pidfd]", &pidfd_fops, sig, O_RDWR | flags);
	if (IS_ERR(f))
		put_signal(sig);
	return f;
}

/* All that can fail is done while the child is not there yet. */
static int pidfd_reserve(struct signal_struct *sig, int __user *to, struct reserved_pidfd *r)
{
	int err = -EFAULT;

	r->fd = get_unused_fd_flags(O_CLOEXEC);
	if (r->fd < 0)
		return r->fd;
	r->file = pidfd_file(sig, 0);
	if (!IS_ERR(r->file) && !put_user(r->fd, to))
		return 0;
	if (IS_ERR(r->file))
		err = PTR_ERR(r->file);
	else
		fput(r->file);
	put_unused_fd(r->fd);
	r->file = NULL;
	return err;
}

static const struct pidfd_ops the_pidfd_ops = {.reserve = pidfd_reserve, .process = pidfd_signal};
REGISTER_PIDFD_OPS(the_pidfd_ops);

/* There is no such file for a thread that is not the leader of its process. */
SYSCALL_DEFINE2(pidfd_open, pid_t, pid, unsigned int, flags)
{
	struct task_struct *p;
	int fd = -EINVAL;
	struct file *f;

	if (flags & ~O_NONBLOCK || pid <= 0)
		return -EINVAL;
	p = find_get_task(pid);
	if (!p)
		return -ESRCH;
	if (thread_group_leader(p))
		fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd >= 0) {
		f = pidfd_file(p->signal, flags);
		if (!IS_ERR(f)) {
			fd_install(fd, f);
		} else {
			put_unused_fd(fd);
			fd = PTR_ERR(f);
		}
	}
	put_task_struct(p);
	return fd;
}

/* The siginfo is kill(2)'s, or the program's as for rt_sigqueueinfo(2), which must name the same signal. */
static int pidfd_siginfo(struct siginfo *info, const struct siginfo __user *uinfo, int sig, pid_t pid)
{
	int err;

	if (!uinfo) {
		siginfo_from_user(info, sig, SI_USER);
		return 0;
	}
	if (copy_from_user(info, uinfo, sizeof(*info)))
		return -EFAULT;
	err = info->si_signo == sig ? 0 : -EINVAL;
	return err ? err : check_siginfo(info, pid);
}

/*
 * A descriptor of the directory /proc/<pid> is as good as a pidfd here, and nowhere else. A process that has ended and
 * was not waited for takes signals without effect, as for kill(2).
 */
SYSCALL_DEFINE4(pidfd_send_signal, int, pidfd, int, sig, siginfo_t __user *, info, unsigned int, flags)
{
	struct siginfo kinfo;
	struct task_struct *p;
	bool stands;
	struct file *f;
	int err;

	if (flags)
		return -EINVAL;
	f = fget(pidfd);
	stands = f && f->f_op->process;
	p = stands ? f->f_op->process(f) : NULL;
	err = stands ? -ESRCH : -EBADF;
	if (p) {
		err = pidfd_siginfo(&kinfo, info, sig, p->tgid);
		if (!err)
			err = kill_process(sig, &kinfo, p);
		put_task_struct(p);
	}
	if (f)
		fput(f);
	return err;
}
