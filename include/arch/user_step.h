/* Single steps of programs, for debuggers and uprobes (arch/<machine>/debug). */
#pragma once

struct task_struct;

/*
 * Begin, or end, stopping the task with SIGTRAP after each instruction. Thread context: the task is current, or it does
 * not run, and its registers are all in memory.
 */
void user_enable_single_step(struct task_struct *t);
void user_disable_single_step(struct task_struct *t);
void user_step_enter(void); /* debug_ops.user_step (<arch/debug_ops.h>) */
