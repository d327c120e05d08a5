/* The caller's memory: copy_to_user() and its like return how many bytes they have not copied. Thread context. */
#pragma once

#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/uaccess.h>
/* Without access_ok() before them: the address is looked at in any case. */
#define __get_user(x, p) get_user(x, p)
#define __put_user(x, p) put_user(x, p)

/* A copy of the caller's bytes, with a 0 behind them (_nul) or without. ERR_PTR: ENOMEM, EFAULT. kfree() frees it. */
static inline void *memdup_user_nul(const void __user *from, size_t n)
{
	char *copy = kmalloc(size_add(n, 1), GFP_KERNEL | __GFP_NOWARN);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(copy, from, n)) {
		kfree(copy);
		return ERR_PTR(-EFAULT);
	}
	copy[n] = '\0';
	return copy;
}
static inline void *memdup_user(const void __user *from, size_t n)
{
	return memdup_user_nul(from, n);
}

/* A number that a program has written to a file: n bytes of text, of which the first 71 are looked at, as in Linux. */
#define KSTRTO_FROM_USER(name, type)                                                                           \
	static inline int name##_from_user(const char __user *from, size_t n, unsigned int base, type *number) \
	{                                                                                                      \
		char text[72];                                                                                 \
                                                                                                               \
		n = n < sizeof(text) - 1 ? n : sizeof(text) - 1;                                               \
		if (copy_from_user(text, from, n))                                                             \
			return -EFAULT;                                                                        \
		text[n] = '\0';                                                                                \
		return name(text, base, number);                                                               \
	}
KSTRTO_FROM_USER(kstrtoint, int)
KSTRTO_FROM_USER(kstrtouint, unsigned int)
KSTRTO_FROM_USER(kstrtol, long)
KSTRTO_FROM_USER(kstrtoul, unsigned long)
