/* What the files of this folder share: numbers of ptrace(2), and where requests find a tracee. */
#pragma once

#include <arch/ptrace.h>
#include <arch/user_step.h>
#include <proc/debugger.h>
#include <proc/ptrace.h>

#define PTRACE_TRACEME		0
#define PTRACE_PEEKTEXT		1
#define PTRACE_PEEKDATA		2
#define PTRACE_POKETEXT		4
#define PTRACE_POKEDATA		5
#define PTRACE_CONT		7
#define PTRACE_KILL		8
#define PTRACE_SINGLESTEP	9
#define PTRACE_ATTACH		16
#define PTRACE_DETACH		17
#define PTRACE_SYSCALL		24
#define PTRACE_SETOPTIONS	0x4200
#define PTRACE_GETEVENTMSG	0x4201
#define PTRACE_GETSIGINFO	0x4202
#define PTRACE_SETSIGINFO	0x4203
#define PTRACE_GETREGSET	0x4204
#define PTRACE_SETREGSET	0x4205
#define PTRACE_SEIZE		0x4206
#define PTRACE_INTERRUPT	0x4207
#define PTRACE_LISTEN		0x4208
#define PTRACE_GETSIGMASK	0x420a
#define PTRACE_SETSIGMASK	0x420b
#define PTRACE_GET_SYSCALL_INFO 0x420e

#define PTRACE_O_TRACESYSGOOD 1u
#define PTRACE_O_TRACEEXEC    (1u << PTRACE_EVENT_EXEC)
#define PTRACE_O_EXITKILL     (1u << 20)
#define PTRACE_O_MASK	      (0xffu | PTRACE_O_EXITKILL)

#define PTRACE_EVENTMSG_SYSCALL_ENTRY 1
#define PTRACE_EVENTMSG_SYSCALL_EXIT  2

/*
 * stop.c. The stop of a system call or an event: `code` for a wait. The signal to go on with, 0, or NOT_STOPPED. Thread
 * context, no lock.
 */
int ptrace_notify(int code, unsigned long message);
#define NOT_STOPPED (-1) /* the task has no tracer any more, or is being killed */
/* t has something new to stop for: out of user mode, out of a wait, and out of a stop with PTRACE_LISTEN. [S] */
void ptrace_wake(struct task_struct *t);

/* Members of struct debugger_ops, which says what they do. stop.c */
int ptrace_signal(int sig, struct siginfo *info);
void ptrace_trap(void);
void ptrace_trap_notify(struct task_struct *t);
void ptrace_event(unsigned event, unsigned long message);
void ptrace_stepped(void);
/* syscall.c */
int ptrace_syscall_enter(struct pt_regs *regs);
void ptrace_syscall_exit(struct pt_regs *regs);

/* attach.c. Thread context; 0 or -errno as ptrace(2) tells it. */
long ptrace_traceme(void);
long ptrace_attach(struct task_struct *child, bool seize, unsigned long options);
/* The tracee goes on without its debugger, and with this signal (0: none). [it is frozen] */
void ptrace_detach(struct task_struct *child, int sig);

/* regset.c: PTRACE_GETREGSET and PTRACE_SETREGSET of a frozen tracee; uiov is the program's struct iovec. */
long ptrace_regset(struct task_struct *child, unsigned type, void __user *uiov, bool set);
/* syscall.c: PTRACE_GET_SYSCALL_INFO. The size of what there is to tell, or -EFAULT. */
long ptrace_syscall_info(struct task_struct *child, unsigned long size, void __user *to);
