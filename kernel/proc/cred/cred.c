/*
 * Who a task acts as: its real, effective and saved user and group, the ids that count for files, and its
 * supplementary groups.
 *
 *     real         who started the program; kill() and access(2) go by it
 *     effective    whose rights it has now; a set-user-id program gets those of the file's owner
 *     saved        an effective id that the program has put aside and may take again
 *     for files    follows the effective one, unless setfsuid(2) says otherwise
 *
 * The capabilities of a task say what it may do beyond that (capability.c); they follow the user ids.
 *
 * The ids belong to their task, which alone writes them, without a lock. Others (kill, ptrace_may_access) read each
 * one whole. The list of groups is shared and never changes; a task exchanges its pointer to one.
 */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>

struct cred_ids current_ids(void)
{
	const struct task_struct *t = current;

	return (struct cred_ids){t->uid, t->euid, t->suid, t->fsuid, t->gid, t->egid, t->sgid, t->fsgid};
}

/*
 * A task with other rights may have read other secrets, so its memory stops being dumpable and stays so until exec.
 * That is written before the ids: a task that sees one of the new ids then finds the memory closed already
 * (may_access_mm).
 */
void commit_ids(const struct cred_ids *new)
{
	struct task_struct *t = current;

	if (new->euid != t->euid || new->egid != t->egid || new->fsuid != t->fsuid || new->fsgid != t->fsgid) {
		if (t->mm)
			WRITE_ONCE(t->mm->dumpable, SUID_DUMP_DISABLE);
		t->pdeath_signal = 0;
		smp_wmb(); /* pairs with the barrier in may_access_mm */
	}
	WRITE_ONCE(t->uid, new->uid);
	WRITE_ONCE(t->euid, new->euid);
	WRITE_ONCE(t->suid, new->suid);
	WRITE_ONCE(t->fsuid, new->fsuid);
	WRITE_ONCE(t->gid, new->gid);
	WRITE_ONCE(t->egid, new->egid);
	WRITE_ONCE(t->sgid, new->sgid);
	WRITE_ONCE(t->fsgid, new->fsgid);
}

/*
 * access(2) asks for the real user. Only the current task looks at these two ids and at what is effective while it
 * walks the path, so they may be exchanged for that time.
 */
struct fsids override_fsids(void)
{
	struct task_struct *t = current;
	struct fsids old = {t->fsuid, t->fsgid, t->caps.effective};

	t->fsuid = t->uid;
	t->fsgid = t->gid;
	if (caps_follow_root(t))
		t->caps.effective = t->uid ? 0 : t->caps.permitted;
	return old;
}

void revert_fsids(struct fsids old)
{
	current->fsuid = old.uid;
	current->fsgid = old.gid;
	current->caps.effective = old.effective;
}

SYSCALL_DEFINE0(getuid)
{
	return current->uid;
}

SYSCALL_DEFINE0(geteuid)
{
	return current->euid;
}

SYSCALL_DEFINE0(getgid)
{
	return current->gid;
}

SYSCALL_DEFINE0(getegid)
{
	return current->egid;
}

#define KEEP ((u32)-1) /* "leave it as it is" */

/* May one of the caller's ids become `id`? Without the capability it must be one of the three that the caller has. */
static bool id_allowed(int cap, u32 id, u32 real, u32 effective, u32 saved)
{
	return id == KEEP || capable(cap) || id == real || id == effective || id == saved;
}

/* The id that is asked for, or the old one for -1. */
static u32 id_or(u32 id, u32 old)
{
	return id == KEEP ? old : id;
}

/*
 * Change the three user ids at once; the one for files follows the effective one. The real user is the one that tasks
 * are counted for, so its count moves first, which may fail: 0 or -EAGAIN.
 */
static int commit_uids(u32 uid, u32 euid, u32 suid)
{
	struct cred_ids old = current_ids(), ids = old;
	int err = set_user(uid);

	if (err)
		return err;
	ids.uid = uid;
	ids.euid = ids.fsuid = euid;
	ids.suid = suid;
	commit_ids(&ids);
	caps_follow_ids(&old, false);
	return 0;
}

/* Change the three group ids at once; the one that counts for files follows the effective one. */
static void commit_gids(u32 gid, u32 egid, u32 sgid)
{
	struct cred_ids ids = current_ids();

	ids.gid = gid;
	ids.egid = ids.fsgid = egid;
	ids.sgid = sgid;
	commit_ids(&ids);
}

/* Each of the three may be set to one of the three, or anything with CAP_SETUID; -1 leaves it. */
SYSCALL_DEFINE3(setresuid, uid_t, ruid, uid_t, euid, uid_t, suid)
{
	const struct task_struct *t = current;

	if (!id_allowed(CAP_SETUID, ruid, t->uid, t->euid, t->suid) ||
	    !id_allowed(CAP_SETUID, euid, t->uid, t->euid, t->suid) ||
	    !id_allowed(CAP_SETUID, suid, t->uid, t->euid, t->suid))
		return -EPERM;
	return commit_uids(id_or(ruid, t->uid), id_or(euid, t->euid), id_or(suid, t->suid));
}

/* As setresuid(), for groups. */
SYSCALL_DEFINE3(setresgid, gid_t, rgid, gid_t, egid, gid_t, sgid)
{
	const struct task_struct *t = current;

	if (!id_allowed(CAP_SETGID, rgid, t->gid, t->egid, t->sgid) ||
	    !id_allowed(CAP_SETGID, egid, t->gid, t->egid, t->sgid) ||
	    !id_allowed(CAP_SETGID, sgid, t->gid, t->egid, t->sgid))
		return -EPERM;
	commit_gids(id_or(rgid, t->gid), id_or(egid, t->egid), id_or(sgid, t->sgid));
	return 0;
}

SYSCALL_DEFINE3(getresuid, uid_t __user *, ruidp, uid_t __user *, euidp, uid_t __user *, suidp)
{
	return put_user(current->uid, ruidp) || put_user(current->euid, euidp) || put_user(current->suid, suidp)
		       ? -EFAULT
		       : 0;
}

SYSCALL_DEFINE3(getresgid, gid_t __user *, rgidp, gid_t __user *, egidp, gid_t __user *, sgidp)
{
	return put_user(current->gid, rgidp) || put_user(current->egid, egidp) || put_user(current->sgid, sgidp)
		       ? -EFAULT
		       : 0;
}

/*
 * With CAP_SETUID all three change, so that there is no way back. Others change the effective id, to the real or the
 * saved one.
 */
SYSCALL_DEFINE1(setuid, uid_t, uid)
{
	const struct task_struct *t = current;

	if (uid == KEEP)
		return -EINVAL;
	if (capable(CAP_SETUID))
		return commit_uids(uid, uid, uid);
	if (uid == t->uid || uid == t->suid)
		return commit_uids(t->uid, uid, t->suid);
	return -EPERM;
}

/*
 * With CAP_SETGID all three change, so that there is no way back; others set the effective one, to the real or the
 * saved one.
 */
SYSCALL_DEFINE1(setgid, gid_t, gid)
{
	const struct task_struct *t = current;

	if (gid == KEEP)
		return -EINVAL;
	if (capable(CAP_SETGID))
		commit_gids(gid, gid, gid);
	else if (gid == t->gid || gid == t->sgid)
		commit_gids(t->gid, gid, t->sgid);
	else
		return -EPERM;
	return 0;
}

/*
 * Real and effective user may be exchanged. The saved id follows the effective one when the real one is set, or when
 * the effective one becomes something other than the real one was: so a program that gives up a right does not keep
 * it saved.
 */
SYSCALL_DEFINE2(setreuid, uid_t, ruid, uid_t, euid)
{
	const struct task_struct *t = current;
	bool save = ruid != KEEP || (euid != KEEP && euid != t->uid);

	if (!id_allowed(CAP_SETUID, ruid, t->uid, t->euid, t->euid) ||
	    !id_allowed(CAP_SETUID, euid, t->uid, t->euid, t->suid))
		return -EPERM;
	return commit_uids(id_or(ruid, t->uid), id_or(euid, t->euid), save ? id_or(euid, t->euid) : t->suid);
}

/* As setreuid(), for groups. */
SYSCALL_DEFINE2(setregid, gid_t, rgid, gid_t, egid)
{
	const struct task_struct *t = current;
	bool save = rgid != KEEP || (egid != KEEP && egid != t->gid);

	if (!id_allowed(CAP_SETGID, rgid, t->gid, t->egid, t->egid) ||
	    !id_allowed(CAP_SETGID, egid, t->gid, t->egid, t->sgid))
		return -EPERM;
	commit_gids(id_or(rgid, t->gid), id_or(egid, t->egid), save ? id_or(egid, t->egid) : t->sgid);
	return 0;
}

/* The id for files alone. setfsuid and setfsgid return the old id, whether it has changed or not: there is no error. */
SYSCALL_DEFINE1(setfsuid, uid_t, uid)
{
	struct cred_ids ids = current_ids();
	u32 old = ids.fsuid;

	if (uid != KEEP && (uid == old || id_allowed(CAP_SETUID, uid, ids.uid, ids.euid, ids.suid))) {
		struct cred_ids was = ids;

		ids.fsuid = uid;
		commit_ids(&ids);
		caps_follow_ids(&was, true);
	}
	return old;
}

/* The group that counts for files alone. Returns the old one, also when nothing was changed: there is no error. */
SYSCALL_DEFINE1(setfsgid, gid_t, gid)
{
	struct cred_ids ids = current_ids();
	u32 old = ids.fsgid;

	if (gid != KEEP && (gid == old || id_allowed(CAP_SETGID, gid, ids.gid, ids.egid, ids.sgid))) {
		ids.fsgid = gid;
		commit_ids(&ids);
	}
	return old;
}

/* The end of the grace period that put_groups() waits for. */
static void free_groups(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct group_info, rcu));
	no_tail_call();
}

/* The last reference frees the list after a grace period, since /proc may be reading it under RCU. */
void put_groups(struct group_info *groups)
{
	if (groups && atomic_dec_and_test(&groups->count))
		call_rcu(&groups->rcu, free_groups);
}

/* A size of 0 asks for the number of groups only. */
SYSCALL_DEFINE2(getgroups, int, gidsetsize, gid_t __user *, grouplist)
{
	struct group_info *groups = current->groups;
	int n = groups ? groups->ngroups : 0;

	if (gidsetsize < 0 || (gidsetsize && gidsetsize < n))
		return -EINVAL;
	if (gidsetsize && n && copy_to_user(grouplist, groups->gid, n * sizeof(gid_t)))
		return -EFAULT;
	return n;
}

/*
 * Replace the supplementary groups, with CAP_SETGID only. The new list is complete before the pointer changes
 * (release), since a reader of /proc may follow it at any moment. Such a reader may still use the old list, which
 * put_groups() frees later.
 */
SYSCALL_DEFINE2(setgroups, int, gidsetsize, gid_t __user *, grouplist)
{
	struct group_info *groups = NULL, *old = current->groups;

	if (!capable(CAP_SETGID))
		return -EPERM;
	if (gidsetsize < 0 || gidsetsize > NGROUPS_MAX)
		return -EINVAL;
	if (gidsetsize) {
		groups = kmalloc(sizeof(*groups) + gidsetsize * sizeof(gid_t), GFP_KERNEL);
		if (!groups)
			return -ENOMEM;
		atomic_set(&groups->count, 1);
		groups->ngroups = gidsetsize;
		if (copy_from_user(groups->gid, grouplist, gidsetsize * sizeof(gid_t))) {
			kfree(groups);
			return -EFAULT;
		}
	}
	smp_store_release(&current->groups, groups);
	put_groups(old);
	return 0;
}
