/* errno and its values as the kernel returns them. */
#ifndef VT_SYS_ERRNO_H
#define VT_SYS_ERRNO_H

/* Each thread of newlib has its own errno; it lies behind this function. */
extern int *__errno(void);
#define errno	       (*__errno())
/* What newlib's own sources write for the errno of a reentrancy structure. */
#define __errno_r(ptr) ((ptr)->_errno)

/* Linux's numbers (uapi/asm-generic/errno*.h); newlib's own differ from 35 up. */
#define EPERM	     1
#define ENOENT	     2
#define ESRCH	     3
#define EINTR	     4
#define EIO	     5
#define ENXIO	     6
#define E2BIG	     7
#define ENOEXEC	     8
#define EBADF	     9
#define ECHILD	     10
#define EAGAIN	     11
#define ENOMEM	     12
#define EACCES	     13
#define EFAULT	     14
#define ENOTBLK	     15
#define EBUSY	     16
#define EEXIST	     17
#define EXDEV	     18
#define ENODEV	     19
#define ENOTDIR	     20
#define EISDIR	     21
#define EINVAL	     22
#define ENFILE	     23
#define EMFILE	     24
#define ENOTTY	     25
#define ETXTBSY	     26
#define EFBIG	     27
#define ENOSPC	     28
#define ESPIPE	     29
#define EROFS	     30
#define EMLINK	     31
#define EPIPE	     32
#define EDOM	     33
#define ERANGE	     34
#define EDEADLK	     35
#define ENAMETOOLONG 36
#define ENOLCK	     37
#define ENOSYS	     38
#define ENOTEMPTY    39
#define ELOOP	     40
#define ENODATA	     61
#define ETIME	     62
#define EOVERFLOW    75
#define ELIBBAD	     80
#define EILSEQ	     84
#define EOPNOTSUPP   95
#define ETIMEDOUT    110
#define EWOULDBLOCK  EAGAIN
#define ENOTSUP	     EOPNOTSUPP

#endif
