/* A switch changes who is current, and nothing else: there is one stack. */
#pragma once

struct task_struct;
struct thread_struct {
	int unused;
};
struct task_struct *cpu_switch_to(struct task_struct *prev, struct task_struct *next);
static inline void arch_thread_switch(struct task_struct *prev, struct task_struct *next)
{
}
