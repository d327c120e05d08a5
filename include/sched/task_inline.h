/* Small helpers on tasks. Included by <sched/task.h>. */
#pragma once

static inline void set_tsk_thread_flag(struct task_struct *t, int flag)
{
	__atomic_fetch_or(&t->thread_flags, 1U << flag, __ATOMIC_RELEASE);
}
static inline void clear_tsk_thread_flag(struct task_struct *t, int flag)
{
	__atomic_fetch_and(&t->thread_flags, ~(1U << flag), __ATOMIC_RELAXED);
}
static inline bool test_tsk_thread_flag(const struct task_struct *t, int flag)
{
	return (READ_ONCE(t->thread_flags) >> flag) & 1;
}
static inline bool signal_pending(const struct task_struct *t)
{
	return test_tsk_thread_flag(t, TIF_SIGPENDING);
}
static inline void get_task_struct(struct task_struct *t)
{
	atomic_inc(&t->usage);
}
void __put_task_struct(struct task_struct *t); /* frees; any context (stack goes to a per-CPU cache or a worker) */
static inline void put_task_struct(struct task_struct *t)
{
	if (atomic_dec_and_test(&t->usage))
		__put_task_struct(t);
}
static inline void task_io_add(struct task_io *sum, const struct task_io *io)
{
	sum->rchar += READ_ONCE(io->rchar);
	sum->wchar += READ_ONCE(io->wchar);
	sum->syscr += READ_ONCE(io->syscr);
	sum->syscw += READ_ONCE(io->syscw);
}
static inline bool is_idle_task(const struct task_struct *t)
{
	return t->flags & PF_IDLE;
}
static inline unsigned long task_stack_end(const struct task_struct *t)
{
	return (unsigned long)t->stack + THREAD_SIZE;
}
