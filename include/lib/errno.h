/*
 * Error numbers, those of the ABI and those inside the kernel, and errors carried in pointers. A function that can fail
 * returns 0 or a negative one of these; a function that returns a pointer returns NULL when memory is the only thing
 * that can be lacking, and ERR_PTR() otherwise.
 */
#pragma once

#include <lib/types.h>
#include <uapi/errno.h>

/*
 * These exist inside the kernel only and tell how an interrupted system call goes on. The signal code turns them into
 * EINTR or a restart before user space sees them.
 */
#define ERESTARTSYS	      512 /* restart if SA_RESTART or no handler */
#define ERESTARTNOINTR	      513 /* always restart */
#define ERESTARTNOHAND	      514 /* restart only when no handler runs */
#define ERESTART_RESTARTBLOCK 516 /* restart through restart_syscall() */
#define ENOTSUPP	      524 /* programs see it where Linux shows it: an instruction that has no probe */

#define MAX_ERRNO 4095

/* The text of a positive error number for messages: "Invalid argument". Never NULL. Any context. */
const char *errno_text(int err);

/* Errors in pointers: the top page of the address space is never mapped, so -4095..-1 cannot be addresses. */
static inline void *ERR_PTR(long error)
{
	return (void *)error;
}
static inline long PTR_ERR(const void *ptr)
{
	return (long)ptr;
}
static inline bool IS_ERR(const void *ptr)
{
	return (unsigned long)ptr >= (unsigned long)-MAX_ERRNO;
}
