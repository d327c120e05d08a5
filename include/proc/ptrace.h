/* Looking into other processes: who may. It is the rule that /proc, prlimit and debuggers share. */
#pragma once

#include <lib/types.h>

struct mm_struct;
struct task_struct;

/* What for. */
#define PTRACE_MODE_READ   0x01u
#define PTRACE_MODE_ATTACH 0x02u
/* The ids that are compared: those that count for files (/proc), or the real ones (system calls). One of the two. */
#define PTRACE_MODE_FSCREDS	     0x08u
#define PTRACE_MODE_REALCREDS	     0x10u
#define PTRACE_MODE_READ_FSCREDS     (PTRACE_MODE_READ | PTRACE_MODE_FSCREDS)
#define PTRACE_MODE_ATTACH_FSCREDS   (PTRACE_MODE_ATTACH | PTRACE_MODE_FSCREDS)
#define PTRACE_MODE_READ_REALCREDS   (PTRACE_MODE_READ | PTRACE_MODE_REALCREDS)
#define PTRACE_MODE_ATTACH_REALCREDS (PTRACE_MODE_ATTACH | PTRACE_MODE_REALCREDS)

/* Are the real, effective and saved ids of `task` all these? It is held by a reference or RCU. Any context. */
bool ids_match(const struct task_struct *task, u32 uid, u32 gid);

/*
 * May the current task look into `task` (mode: PTRACE_MODE_*)? Threads of one process always may, and root; others
 * when all ids of `task` are theirs and its memory is dumpable, which it is not once it has run a set-user-id program.
 * The answer holds for what `task` was at that moment: it may exec a set-user-id program right after it. So a caller
 * first takes what it is going to show (a reference, a text) and asks then; for memory there is mm_access().
 * `task` is held by a reference or RCU. Takes its pi_lock; any context but nmi.
 */
bool ptrace_may_access(struct task_struct *task, unsigned mode);

/*
 * The address space of `task` with a reference (mmput), if the current task may look into that very one. NULL: it has
 * none (a kernel thread, or it has exited); ERR_PTR(-EACCES). Thread context: it may sleep.
 */
struct mm_struct *mm_access(struct task_struct *task, unsigned mode);
