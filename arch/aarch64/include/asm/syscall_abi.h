/* Where this machine's system calls differ from the others' in more than their numbers. */
#pragma once

/* clone(2): its fourth and fifth parameter, types and names. */
#define SYSCALL_CLONE_LAST_ARGS unsigned long, tls, int __user *, child_tidptr
/* Does Linux's new task pass the end of a system call on its way to user mode, so that sys_exit sees it? */
#define NEW_TASK_SHOWS_SYS_EXIT false
