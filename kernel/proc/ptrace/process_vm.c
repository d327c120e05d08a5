/*
 * process_vm_readv(2) and process_vm_writev(2): from buffers of one process into those of another, without a stop. The
 * bytes go through a page of the kernel's own, since the caller must not fault while the other address space is locked.
 */
#include <proc/ptrace.h>

#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <uapi/uio.h>

/* A place in scattered buffers. */
struct place {
	struct iovec *vec;
	unsigned long n; /* parts from here on */
	struct iovec fast[UIO_FASTIOV], *all;
};

/* 0 or -errno; put_place() follows in any case. */
static int get_place(struct place *p, const struct iovec __user *uvec, unsigned long n)
{
	int err;

	p->all = p->fast;
	err = import_iovec(uvec, n, p->fast, &p->all);
	p->vec = p->all;
	p->n = n;
	return err;
}

static void put_place(struct place *p)
{
	if (p->all != p->fast)
		kfree(p->all);
}

/* Bytes in one piece from here on; 0: it is the end. */
static size_t piece(struct place *p)
{
	while (p->n && !p->vec->iov_len) {
		p->vec++;
		p->n--;
	}
	return p->n ? p->vec->iov_len : 0;
}

static void advance(struct place *p, size_t n)
{
	p->vec->iov_base = (char *)p->vec->iov_base + n;
	p->vec->iov_len -= n;
}

/* At most a page from one to the other; the bytes that were done, or -EFAULT. */
static int copy_piece(struct mm_struct *mm, struct place *local, struct place *remote, char *page, bool write)
{
	size_t n = min(min(piece(local), piece(remote)), PAGE_SIZE);
	unsigned long addr = n ? (unsigned long)remote->vec->iov_base : 0;
	int got;

	if (!n)
		return 0;
	if (write && copy_from_user(page, local->vec->iov_base, n))
		return -EFAULT;
	got = access_remote_vm(mm, addr, page, n, write ? FAULT_FLAG_WRITE : 0);
	if (!got || (!write && copy_to_user(local->vec->iov_base, page, got)))
		return -EFAULT;
	advance(local, got);
	advance(remote, got);
	return got;
}

/* Until one of the two has no more. What was done before an error is told, and not the error. */
static ssize_t copy_all(struct mm_struct *mm, struct place *local, struct place *remote, bool write)
{
	char *page = get_free_page(GFP_KERNEL);
	ssize_t done = 0;
	int got;

	if (!page)
		return -ENOMEM;
	for (;;) {
		got = copy_piece(mm, local, remote, page, write);
		if (got <= 0 || fatal_signal_pending(current))
			break;
		done += got;
	}
	free_page(page);
	return done || got >= 0 ? done : got;
}

/* With the memory of process `pid`, if the caller may look into it as a debugger: else -ESRCH, -EPERM. */
static ssize_t copy_process_vm(pid_t pid, struct place *local, struct place *remote, bool write)
{
	struct task_struct *task = find_get_task(pid);
	struct mm_struct *mm;
	ssize_t done;

	if (!task)
		return -ESRCH;
	mm = mm_access(task, PTRACE_MODE_ATTACH_REALCREDS);
	put_task_struct(task);
	if (!mm)
		return -ESRCH;
	if (IS_ERR(mm))
		return -EPERM;
	done = copy_all(mm, local, remote, write);
	mmput(mm);
	return done;
}

/* As on Linux the other process's vector is not looked at when there is nothing to copy. */
static ssize_t process_vm_rw(pid_t pid, const struct iovec __user *lvec, unsigned long ln,
			     const struct iovec __user *rvec, unsigned long rn, unsigned long flags, bool write)
{
	struct place local, remote = {.all = remote.fast};
	ssize_t ret;

	if (flags)
		return -EINVAL;
	ret = get_place(&local, lvec, ln);
	if (!ret && piece(&local)) {
		ret = get_place(&remote, rvec, rn);
		if (!ret)
			ret = copy_process_vm(pid, &local, &remote, write);
	}
	put_place(&remote);
	put_place(&local);
	return ret;
}

SYSCALL_DEFINE6(process_vm_readv, pid_t, pid, const struct iovec __user *, lvec, unsigned long, liovcnt,
		const struct iovec __user *, rvec, unsigned long, riovcnt, unsigned long, flags)
{
	return process_vm_rw(pid, lvec, liovcnt, rvec, riovcnt, flags, false);
}

SYSCALL_DEFINE6(process_vm_writev, pid_t, pid, const struct iovec __user *, lvec, unsigned long, liovcnt,
		const struct iovec __user *, rvec, unsigned long, riovcnt, unsigned long, flags)
{
	return process_vm_rw(pid, lvec, liovcnt, rvec, riovcnt, flags, true);
}
