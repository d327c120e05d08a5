/* PTRACE_GETREGSET and PTRACE_SETREGSET: sets of registers, which <arch/ptrace.h> describes, in a program's buffer. */
#include "ptrace.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <mm/page.h>
#include <uapi/uio.h>

/*
 * The set as it is goes into a page first, and the program's bytes over that: so a program may write the first
 * registers of a set only. The length that was copied goes back into the program's iovec. -EINVAL: no such set, or a
 * length that ends within a register; -EFAULT; -ENOMEM; or what the set says to the values.
 */
long ptrace_regset(struct task_struct *child, unsigned type, void __user *uiov, bool set)
{
	const struct regset *rs = arch_regset(type);
	struct iovec iov;
	long err = 0;
	void *buf;

	if (copy_from_user(&iov, uiov, sizeof(iov)))
		return -EFAULT;
	if (!rs || iov.iov_len % rs->unit)
		return -EINVAL;
	iov.iov_len = min_t(size_t, iov.iov_len, rs->size);
	buf = get_free_page(GFP_KERNEL | __GFP_ZERO);
	if (!buf)
		return -ENOMEM;
	rs->get(child, buf);
	if (!set && copy_to_user(iov.iov_base, buf, iov.iov_len))
		err = -EFAULT;
	if (set && copy_from_user(buf, iov.iov_base, iov.iov_len))
		err = -EFAULT;
	else if (set)
		err = rs->set(child, buf, iov.iov_len);
	free_page(buf);
	if (!err && put_user(iov.iov_len, &((struct iovec __user *)uiov)->iov_len))
		err = -EFAULT;
	return err;
}
