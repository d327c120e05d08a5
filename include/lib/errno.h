/*
 * Error numbers of the system-call ABI (Linux, asm-generic), and errors carried in pointers. A function that can fail
 * returns 0 or a negative one of these; a function that returns a pointer returns NULL when memory is the only thing
 * that can be lacking, and ERR_PTR() otherwise.
 */
#pragma once

#include <lib/types.h>

#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define EWOULDBLOCK EAGAIN
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define ETXTBSY 26
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define EDOM 33
#define ERANGE 34
#define EDEADLK 35
#define ENAMETOOLONG 36
#define ENOSYS 38
#define ENOTEMPTY 39
#define ELOOP 40
#define ENODATA 61
#define EOVERFLOW 75
#define ELIBBAD 80
#define EOPNOTSUPP 95
#define ETIMEDOUT 110

/*
 * These exist inside the kernel only and tell how an interrupted system call goes on. The signal code turns them into
 * EINTR or a restart before user space sees them.
 */
#define ERESTARTSYS           512 /* restart if SA_RESTART or no handler */
#define ERESTARTNOINTR        513 /* always restart */
#define ERESTARTNOHAND        514 /* restart only when no handler runs */
#define ERESTART_RESTARTBLOCK 516 /* restart through restart_syscall() */

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
