/*
 * Checked copies between kernel and user memory, over the machine's bare ones (uaccess_asm.S). The bare ones fault on
 * bad addresses, and their fix-ups return how many bytes are not done; here the range is checked before, and the rest
 * is cleaned up afterwards.
 */
#include <kernel/export.h>
#include <lib/string.h>
#include <mm/uaccess.h>
#include <sched/sched.h>

/* Out of line, since it runs only after a fault. */
unsigned long copy_from_user_rest(void *to, unsigned long n, unsigned long left)
{
	memset((char *)to + (n - left), 0, left);
	return left;
}
EXPORT_SYMBOL(copy_from_user_rest);

unsigned long clear_user(void __user *to, unsigned long n)
{
	return likely(access_ok(to, n)) ? __clear_user(to, n) : n;
}
EXPORT_SYMBOL(clear_user);

/* 0 when all n bytes are zero, -E2BIG when one is not, -EFAULT. */
static int check_zeroed_user(const u8 __user *from, size_t n)
{
	u8 part[64];

	while (n) {
		size_t len = min(n, sizeof(part));

		if (copy_from_user(part, from, len))
			return -EFAULT;
		for (size_t i = 0; i < len; i++)
			if (part[i])
				return -E2BIG;
		from += len;
		n -= len;
	}
	return 0;
}

/*
 * The check of the bytes that this kernel does not know comes first, so that an unknown request is refused as a whole.
 */
int copy_struct_from_user(void *to, size_t ksize, const void __user *from, size_t usize)
{
	size_t known = min(ksize, usize);
	int err = check_zeroed_user((const u8 __user *)from + known, usize - known);

	if (err)
		return err;
	memset((char *)to + known, 0, ksize - known);
	return copy_from_user(to, from, known) ? -EFAULT : 0;
}
EXPORT_SYMBOL(copy_struct_from_user);

/* A string that runs into the end of user space without a zero byte cannot be read, so it gives -EFAULT, and not n. */
long strncpy_from_user(char *dst, const char __user *src, long n)
{
	unsigned long room = TASK_SIZE - (unsigned long)src;
	long len;

	if (unlikely(n <= 0))
		return 0;
	if (unlikely((unsigned long)src >= TASK_SIZE))
		return -EFAULT;
	if (likely((unsigned long)n <= room))
		return __strncpy_from_user(dst, src, n);
	len = __strncpy_from_user(dst, src, room);
	return len == (long)room ? -EFAULT : len;
}
EXPORT_SYMBOL(strncpy_from_user);

/*
 * Only the kernel's half: with a user address the fault handler could sleep. A fault at a kernel address goes straight
 * to the fix-up.
 */
notrace long copy_from_kernel_nofault(void *dst, const void *src, size_t n)
{
	unsigned long start = (unsigned long)src;

	if (start < PAGE_OFFSET || start + n < start)
		return -EFAULT;
	return __copy_user(dst, src, n) ? -EFAULT : 0;
}
EXPORT_SYMBOL(copy_from_kernel_nofault);

/* While preemption is off, the fault handler does nothing for user addresses and goes straight to the fix-up. */
notrace long copy_from_user_nofault(void *dst, const void __user *src, size_t n)
{
	unsigned long left;

	if (!access_ok(src, n))
		return -EFAULT;
	preempt_disable_notrace();
	left = __copy_user(dst, src, n);
	preempt_enable_notrace();
	return left ? -EFAULT : 0;
}
