/*
 * User memory. A load or store at a user address may fault; each instruction that may has an entry in __ex_table, and
 * the fault handler goes on at its fix-up when the access cannot be made good. Context: thread, interrupts on (a fault
 * may sleep), unless a function says otherwise.
 */
#pragma once

#include <asm/page.h>
#include <lib/errno.h>
#include <lib/types.h>

/* Are all n bytes at addr below TASK_SIZE? This says nothing about what is mapped there. */
static __always_inline bool access_ok(const void __user *addr, unsigned long n)
{
	return n <= TASK_SIZE && (unsigned long)addr <= TASK_SIZE - n;
}

/* The machine's (uaccess_asm.S), without a check of the address. They return the bytes that are not done. */
unsigned long __copy_user(void *to, const void *from, unsigned long n);
unsigned long __clear_user(void __user *to, unsigned long n);
/* Like strncpy_from_user, for a range that is known to be in user space, n > 0. */
long __strncpy_from_user(char *dst, const char __user *src, long n);

/* Zeroes the last `left` of n bytes and returns `left`. */
unsigned long copy_from_user_rest(void *to, unsigned long n, unsigned long left);

/*
 * Returns the bytes that are NOT copied. The destination behind what was copied is zeroed, so that no stale kernel
 * memory is taken for the user's.
 */
static __always_inline unsigned long copy_from_user(void *to, const void __user *from, unsigned long n)
{
	unsigned long left = likely(access_ok(from, n)) ? __copy_user(to, from, n) : n;

	return likely(!left) ? 0 : copy_from_user_rest(to, n, left);
}

/* These return the bytes that are NOT done. */
static __always_inline unsigned long copy_to_user(void __user *to, const void *from, unsigned long n)
{
	return likely(access_ok(to, n)) ? __copy_user(to, from, n) : n;
}
unsigned long clear_user(void __user *to, unsigned long n);
/*
 * Copy a structure that begins with its oldest fields and grows with time: `usize` bytes at the user's, `ksize` bytes
 * known here. What a short one lacks becomes zero; what a long one has beyond must be zero. 0, -EFAULT or -E2BIG.
 */
int copy_struct_from_user(void *to, size_t ksize, const void __user *from, size_t usize);
/* Copies a string. Returns its length without the zero, n when the first n bytes have no zero, or -EFAULT. */
long strncpy_from_user(char *dst, const char __user *src, long n);
/* Kernel memory that may not be there. 0 or -EFAULT (also for user addresses). Any context. */
long copy_from_kernel_nofault(void *dst, const void *src, size_t n);

/*
 * User memory that happens to be mapped: 0, or -EFAULT where a fault would have to bring it. Never sleeps. Any context
 * but nmi; the caller makes sure which address space is in use.
 */
long copy_from_user_nofault(void *dst, const void __user *src, size_t n);

/*
 * The machine's get_user and put_user, with a check of the address. get: the value and 0, or 0 and -EFAULT, in two
 * registers.
 */
struct user_value {
	u64 value;
	long error;
};
struct user_value __get_user_1(const void __user *p);
struct user_value __get_user_2(const void __user *p);
struct user_value __get_user_4(const void __user *p);
struct user_value __get_user_8(const void __user *p);
long __put_user_1(u64 v, void __user *p);
long __put_user_2(u64 v, void __user *p);
long __put_user_4(u64 v, void __user *p);
long __put_user_8(u64 v, void __user *p);
/* *p becomes `to` if it is `from`, in one step that other CPUs see whole. What it was, and 0; or 0 and -EFAULT. */
struct user_value __cmpxchg_user_4(u32 from, u32 to, u32 __user *p);

/* Never defined: a size that no machine has an instruction for is an error of the compiler. */
void __uaccess_bad_size(void) __attribute__((error("get_user/put_user: 1, 2, 4 or 8 bytes")));

/* Read *ptr into x: 0, or -EFAULT with x 0. */
#define get_user(x, ptr)                                 \
	({                                               \
		const __typeof__(*(ptr)) *_gu_p = (ptr); \
		struct user_value _gu = {0, -EFAULT};    \
		switch (sizeof(*_gu_p)) {                \
		case 1:                                  \
			_gu = __get_user_1(_gu_p);       \
			break;                           \
		case 2:                                  \
			_gu = __get_user_2(_gu_p);       \
			break;                           \
		case 4:                                  \
			_gu = __get_user_4(_gu_p);       \
			break;                           \
		case 8:                                  \
			_gu = __get_user_8(_gu_p);       \
			break;                           \
		default:                                 \
			__uaccess_bad_size();            \
		}                                        \
		(x) = (__typeof__(*(ptr)))_gu.value;     \
		(int)_gu.error;                          \
	})
/* Write x to *ptr: 0 or -EFAULT. */
#define put_user(x, ptr)                                    \
	({                                                  \
		__typeof__(*(ptr)) *_pu_p = (ptr);          \
		u64 _pu_v = (u64)(__typeof__(*(ptr)))(x);   \
		long _pu_e = -EFAULT;                       \
		switch (sizeof(*_pu_p)) {                   \
		case 1:                                     \
			_pu_e = __put_user_1(_pu_v, _pu_p); \
			break;                              \
		case 2:                                     \
			_pu_e = __put_user_2(_pu_v, _pu_p); \
			break;                              \
		case 4:                                     \
			_pu_e = __put_user_4(_pu_v, _pu_p); \
			break;                              \
		case 8:                                     \
			_pu_e = __put_user_8(_pu_v, _pu_p); \
			break;                              \
		default:                                    \
			__uaccess_bad_size();               \
		}                                           \
		(int)_pu_e;                                 \
	})
