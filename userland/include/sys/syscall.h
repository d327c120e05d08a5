/* Numbers of the system calls, SYS_<name>, from the kernel's own table of this machine; the names are that table's. */
#ifndef VT_SYS_SYSCALL_H
#define VT_SYS_SYSCALL_H

#define SYSCALL(nr, name, ...) SYS_##name = (nr),
enum {
#include <generated/syscall_table.h>
};
#undef SYSCALL

#endif
