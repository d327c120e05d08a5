/*
 * Capabilities: the rights of root, one by one (capabilities(7)). The numbers are Linux's, and those that name
 * something which does not exist here can be held and dropped like the others.
 */
#pragma once

#include <lib/types.h>
#include <sched/current.h>
#include <sched/task.h>

#define CAP_CHOWN	       0
#define CAP_DAC_OVERRIDE       1
#define CAP_DAC_READ_SEARCH    2
#define CAP_FOWNER	       3
#define CAP_FSETID	       4
#define CAP_KILL	       5
#define CAP_SETGID	       6
#define CAP_SETUID	       7
#define CAP_SETPCAP	       8
#define CAP_IPC_LOCK	       14
#define CAP_SYS_MODULE	       16
#define CAP_SYS_CHROOT	       18
#define CAP_SYS_PTRACE	       19
#define CAP_SYS_ADMIN	       21
#define CAP_SYS_BOOT	       22
#define CAP_SYS_NICE	       23
#define CAP_SYS_RESOURCE       24
#define CAP_SYS_TIME	       25
#define CAP_MKNOD	       27
#define CAP_SYSLOG	       34
#define CAP_PERFMON	       38
#define CAP_CHECKPOINT_RESTORE 40
#define CAP_LAST_CAP	       CAP_CHECKPOINT_RESTORE
#define CAP_BIT(cap)	       (1ULL << (cap))
#define CAP_FULL_SET	       (CAP_BIT(CAP_LAST_CAP + 1) - 1)

/* Does the current task act with this right? Any context. */
static inline bool capable(int cap)
{
	return current->caps.effective >> cap & 1;
}

/*
 * The current task has got other user ids than `old`: its sets follow, so that a program that leaves user 0 loses its
 * rights (capability.c). `files`: only the id for files has changed. The task itself calls this, after the change.
 */
struct cred_ids;
bool caps_follow_root(const struct task_struct *t); /* do its sets follow user 0 (securebits)? */
void caps_follow_ids(const struct cred_ids *old, bool files);
/*
 * exec: the sets of the new program, whose ids are `ids`. id_changed: a set-id bit has given other ids; unsafe: another
 * process could reach into the program, or it must get no rights. Context: the last thread, before its ids change.
 */
void caps_for_exec(const struct cred_ids *ids, bool id_changed, bool unsafe, struct task_caps *new);
long prctl_caps(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5);
