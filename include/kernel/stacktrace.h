/*
 * Walking stacks by frame records. Both machines keep, at the frame pointer, the caller's frame pointer and then the
 * return address; what differs is where a walk starts (<arch/stacktrace.h>).
 */
#pragma once

#include <lib/types.h>

struct task_struct;
struct pt_regs;

/*
 * Store return addresses, innermost first. `task` NULL: ourselves, `skip` callers left out; with `regs` the walk
 * starts at the interrupted frame (its pc first). Every frame must lie on a stack of the task or this CPU, and go
 * outwards, or the walk ends. Context: any. Not traced. Returns the count.
 */
unsigned stack_trace_save(unsigned long *store, unsigned size, unsigned skip);
unsigned stack_trace_save_tsk(struct task_struct *task, unsigned long *store, unsigned size, unsigned skip);
unsigned stack_trace_save_regs(const struct pt_regs *regs, unsigned long *store, unsigned size);
/*
 * The program that entered the kernel in this task: its pc, then the return addresses that its frame pointers lead to,
 * read without faulting anything in. Only as far as every frame lies above the one before: what a program's memory
 * holds is its own choice. The task must be a user's and its address space in use. Context: preemption off, not nmi.
 */
unsigned stack_trace_save_user(unsigned long *store, unsigned size);
/* The function that a sleeping task waits in, the scheduler's own left out; 0: it runs, or that cannot be told. */
unsigned long get_wchan(struct task_struct *task);
/* Of ourselves, from the frame record at fp on, which must be one of our callers'. Preemption off. */
unsigned stack_trace_save_fp(unsigned long fp, unsigned long *store, unsigned size, unsigned skip);
