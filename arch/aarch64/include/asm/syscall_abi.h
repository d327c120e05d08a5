/* Where this machine's system calls differ from the others' in more than their numbers. */
#pragma once

/* clone(2): its fourth and fifth parameter, types and names. */
#define SYSCALL_CLONE_LAST_ARGS unsigned long, tls, int __user *, child_tidptr
/* Does Linux's new task pass the end of a system call on its way to user mode, so that sys_exit sees it? */
#define NEW_TASK_SHOWS_SYS_EXIT false
/* A debugger's view: the machine's number in PTRACE_GET_SYSCALL_INFO, and si_code where a call was a single step. */
#define AUDIT_ARCH	  0xc00000b7 /* AUDIT_ARCH_AARCH64 */
#define SYSCALL_STEP_CODE SI_USER
/* How struct epoll_event lies in memory. */
#define EPOLL_EVENT_LAYOUT
/* Of an interrupted call: does a debugger that is told of the signal see it taken back already? */
#define RESTART_SHOWN_TO_DEBUGGER true
