/* errno and its values as the kernel returns them. */
#ifndef VT_SYS_ERRNO_H
#define VT_SYS_ERRNO_H

#include <uapi/errno.h> /* newlib's own numbers differ from 35 up */

/* Each thread of newlib has its own errno; it lies behind this function. */
extern int *__errno(void);
#define errno (*__errno())
/* What newlib's own sources write for the errno of a reentrancy structure. */
#define __errno_r(ptr) ((ptr)->_errno)

#endif
