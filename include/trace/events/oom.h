/*
 * Tracepoints of the choice of a process when memory is full. Fields and texts are Linux's.
 * Try: echo $((i % 9)) > /proc/self/oom_score_adj
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM oom

#if !defined(_TRACE_OOM_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_OOM_H

#include <mm/mm.h>
#include <mm/pgtable.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

/* The process has another oom_score_adj; of several that share their memory, the one that was asked for. */
TRACE_EVENT(oom_score_adj_update,
	TP_PROTO(struct task_struct *task),
	TP_ARGS(task),
	TP_STRUCT__entry(
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
		__field(short, oom_score_adj)
	),
	TP_fast_assign(
		__entry->pid = task->pid;
		memcpy(__entry->comm, task->comm, TASK_COMM_LEN);
		__entry->oom_score_adj = task->signal->oom_score_adj;
	),
	TP_printk("pid=%d comm=%s oom_score_adj=%hd", __entry->pid, __entry->comm, __entry->oom_score_adj)
);

/* SIGKILL has been sent to the process. mm: its memory, which the caller holds. Sizes in KiB; there is no shmem-rss. */
TRACE_EVENT(mark_victim,
	TP_PROTO(struct task_struct *task, struct mm_struct *mm),
	TP_ARGS(task, mm),
	TP_STRUCT__entry(
		__field(int, pid)
		__string(comm, task->comm)
		__field(unsigned long, total_vm)
		__field(unsigned long, anon_rss)
		__field(unsigned long, file_rss)
		__field(unsigned long, shmem_rss)
		__field(uid_t, uid)
		__field(unsigned long, pgtables)
		__field(short, oom_score_adj)
	),
	TP_fast_assign(
		__entry->pid = task->pid;
		__assign_str(comm);
		__entry->total_vm = mm->total_vm << (PAGE_SHIFT - 10);
		__entry->anon_rss = (unsigned long)atomic_read(&mm->rss_anon) << (PAGE_SHIFT - 10);
		__entry->file_rss = (unsigned long)atomic_read(&mm->rss_file) << (PAGE_SHIFT - 10);
		__entry->shmem_rss = 0;
		__entry->uid = task->uid;
		__entry->pgtables = pgd_pages(mm->pgd) << (PAGE_SHIFT - 10);
		__entry->oom_score_adj = task->signal->oom_score_adj;
	),
	TP_printk("pid=%d comm=%s total-vm=%lukB anon-rss=%lukB file-rss:%lukB "
		"shmem-rss:%lukB uid=%u pgtables=%lukB oom_score_adj=%hd",
		__entry->pid, __get_str(comm), __entry->total_vm, __entry->anon_rss, __entry->file_rss,
		__entry->shmem_rss, __entry->uid, __entry->pgtables, __entry->oom_score_adj)
);

#endif

#include <trace/define_trace.h>
