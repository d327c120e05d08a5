/*
 * The capabilities of a task: capget(2), capset(2), the options of prctl(2) about them, and what becomes of them when
 * the task gets other ids or executes a program. <proc/capability.h> has the sets' numbers, <sched/task.h> the sets.
 *
 * No file has capabilities of its own here. So exec gives rights to user 0 alone, within the bounding set; an ordinary
 * program of another user has what is ambient. The sets belong to their task, which alone writes them, without a lock;
 * capget of another task reads each set whole.
 */
#include <asm/uaccess.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

#define CAP_VERSION_1 0x19980330u /* sets of 32 bits */
#define CAP_VERSION_2 0x20071026u
#define CAP_VERSION_3 0x20080522u /* as 2 */

/* Bits of securebits; the bit above each of them locks it. */
#define SECURE_NOROOT	       1u  /* exec gives user 0 nothing */
#define SECURE_NO_SETUID_FIXUP 4u  /* the sets do not follow the ids */
#define SECURE_KEEP_CAPS       16u /* what is permitted stays when user 0 is left, until the next exec */
#define SECURE_NO_RAISE	       64u /* nothing becomes ambient */
#define SECURE_ALL	       0x55u
#define SECURE_ALL_LOCKS       0xaau

/* What counts for files: chown, both DAC_, FOWNER, FSETID, LINUX_IMMUTABLE, MKNOD, MAC_OVERRIDE. */
#define CAP_FILES_SET (0x1fULL | CAP_BIT(9) | CAP_BIT(CAP_MKNOD) | CAP_BIT(32))

static bool is_subset(u64 set, u64 of)
{
	return !(set & ~of);
}

bool caps_follow_root(const struct task_struct *t)
{
	return !(t->caps.securebits & SECURE_NO_SETUID_FIXUP);
}

static bool any_is_root(const struct cred_ids *ids)
{
	return !ids->uid || !ids->euid || !ids->suid;
}

/*
 * A task that had user 0 among its three ids and has it no more loses what is permitted, unless it has asked to keep
 * it. What is effective follows the effective id, and for files the id that counts for them.
 */
void caps_follow_ids(const struct cred_ids *old, bool files)
{
	struct task_caps *caps = &current->caps;
	struct cred_ids new = current_ids();

	if (!caps_follow_root(current))
		return;
	if (files) {
		if (!old->fsuid && new.fsuid)
			caps->effective &= ~CAP_FILES_SET;
		else if (old->fsuid && !new.fsuid)
			caps->effective |= caps->permitted & CAP_FILES_SET;
		return;
	}
	if (any_is_root(old) && !any_is_root(&new)) {
		if (!(caps->securebits & SECURE_KEEP_CAPS))
			caps->permitted = caps->effective = 0;
		caps->ambient = 0;
	}
	if (!old->euid && new.euid)
		caps->effective = 0;
	else if (old->euid && !new.euid)
		caps->effective = caps->permitted;
}

/*
 * User 0 gets the bounding set and what it inherits. Where others could reach into the program, it gets nothing that
 * the old one did not have.
 */
void caps_for_exec(const struct cred_ids *ids, bool id_changed, bool unsafe, struct task_caps *new)
{
	const struct task_caps *old = &current->caps;
	bool root = !(old->securebits & SECURE_NOROOT) && (!ids->euid || !ids->uid);
	bool effective = root && !ids->euid;

	*new = *old;
	new->permitted = root ? old->bounding | old->inheritable : 0;
	if (unsafe && (id_changed || !is_subset(new->permitted, old->permitted)))
		new->permitted &= old->permitted;
	if (id_changed)
		new->ambient = 0;
	new->permitted |= new->ambient;
	new->effective = effective ? new->permitted : new->ambient;
	new->securebits &= ~SECURE_KEEP_CAPS;
}

struct cap_header {
	u32 version;
	int pid;
};
struct cap_words {
	u32 effective, permitted, inheritable;
};

/*
 * How many words a set has in the caller's version. An unknown version is answered with the newest in its place, which
 * is how programs ask for it: -EINVAL; or -EFAULT.
 */
static int words_of_version(struct cap_header __user *uheader, struct cap_header *header)
{
	if (copy_from_user(header, uheader, sizeof(*header)))
		return -EFAULT;
	if (header->version == CAP_VERSION_1)
		return 1;
	if (header->version == CAP_VERSION_2 || header->version == CAP_VERSION_3)
		return 2;
	return put_user(CAP_VERSION_3, &uheader->version) ? -EFAULT : -EINVAL;
}

/* The sets of a task by its number, 0 for the caller: 0 or -ESRCH. */
static int caps_of(pid_t pid, struct task_caps *caps)
{
	struct task_struct *t;
	unsigned long flags;

	if (!pid) {
		*caps = current->caps;
		return 0;
	}
	spin_lock_irqsave(&tasklist_lock, flags);
	t = find_task_by_pid(pid);
	if (t)
		*caps = t->caps;
	spin_unlock_irqrestore(&tasklist_lock, flags);
	return t ? 0 : -ESRCH;
}

/* The call is registered under its own name, as on Linux. Without `dataptr` it only asks for the version. */
SYSCALL_DEFINE2(capget, struct cap_header __user *, header, struct cap_words __user *, dataptr)
{
	struct cap_words data[2];
	struct cap_header h;
	struct task_caps caps;
	int words = words_of_version(header, &h), err;

	if (words < 0 || !dataptr)
		return !dataptr && words == -EINVAL ? 0 : min(words, 0);
	if (h.pid < 0)
		return -EINVAL;
	err = caps_of(h.pid, &caps);
	if (err)
		return err;
	for (int i = 0; i < 2; i++)
		data[i] = (struct cap_words){caps.effective >> 32 * i, caps.permitted >> 32 * i,
					     caps.inheritable >> 32 * i};
	return copy_to_user(dataptr, data, words * sizeof(data[0])) ? -EFAULT : 0;
}

/*
 * Of the caller alone. Nothing becomes permitted that is not, and only CAP_SETPCAP makes inheritable what is neither
 * permitted nor inheritable; that must lie within the bounding set, too.
 */
static int set_caps(u64 effective, u64 permitted, u64 inheritable)
{
	struct task_caps *caps = &current->caps;

	if (!capable(CAP_SETPCAP) && !is_subset(inheritable, caps->inheritable | caps->permitted))
		return -EPERM;
	if (!is_subset(inheritable, caps->inheritable | caps->bounding) || !is_subset(permitted, caps->permitted) ||
	    !is_subset(effective, permitted))
		return -EPERM;
	caps->effective = effective;
	caps->permitted = permitted;
	caps->inheritable = inheritable;
	caps->ambient &= permitted & inheritable;
	return 0;
}

/* Bits of capabilities that do not exist are left out. */
SYSCALL_DEFINE2(capset, struct cap_header __user *, header, const struct cap_words __user *, data)
{
	struct cap_words w[2] = {};
	struct cap_header h;
	int words = words_of_version(header, &h);

	if (words < 0)
		return words;
	if (h.pid && h.pid != current->pid)
		return -EPERM;
	if (copy_from_user(w, data, words * sizeof(w[0])))
		return -EFAULT;
	return set_caps((w[0].effective | (u64)w[1].effective << 32) & CAP_FULL_SET,
			(w[0].permitted | (u64)w[1].permitted << 32) & CAP_FULL_SET,
			(w[0].inheritable | (u64)w[1].inheritable << 32) & CAP_FULL_SET);
}

#define PR_GET_KEEPCAPS	  7
#define PR_SET_KEEPCAPS	  8
#define PR_CAPBSET_READ	  23
#define PR_CAPBSET_DROP	  24
#define PR_GET_SECUREBITS 27
#define PR_SET_SECUREBITS 28
#define PR_CAP_AMBIENT	  47

enum { AMBIENT_IS_SET = 1, AMBIENT_RAISE, AMBIENT_LOWER, AMBIENT_CLEAR_ALL };

/* PR_CAP_AMBIENT. Only what is permitted and inheritable can be ambient. */
static long set_ambient(unsigned long how, unsigned long cap)
{
	struct task_caps *caps = &current->caps;

	if (cap > CAP_LAST_CAP || (how == AMBIENT_CLEAR_ALL && cap))
		return -EINVAL;
	if (how == AMBIENT_CLEAR_ALL) {
		caps->ambient = 0;
		return 0;
	}
	if (how == AMBIENT_IS_SET)
		return caps->ambient >> cap & 1;
	if (how != AMBIENT_RAISE && how != AMBIENT_LOWER)
		return -EINVAL;
	if (how == AMBIENT_LOWER) {
		caps->ambient &= ~CAP_BIT(cap);
		return 0;
	}
	if (!(caps->permitted & caps->inheritable & CAP_BIT(cap)) || caps->securebits & SECURE_NO_RAISE)
		return -EPERM;
	caps->ambient |= CAP_BIT(cap);
	return 0;
}

/* A bit that is locked stays, and so does its lock. */
static long set_securebits(unsigned long bits)
{
	u32 old = current->caps.securebits;

	if (((old & SECURE_ALL_LOCKS) >> 1 & (old ^ bits)) || (old & SECURE_ALL_LOCKS & ~bits) ||
	    (bits & ~(unsigned long)(SECURE_ALL | SECURE_ALL_LOCKS)) || !capable(CAP_SETPCAP))
		return -EPERM;
	current->caps.securebits = bits;
	return 0;
}

/* An option that none of these is: -EINVAL. */
long prctl_caps(int option, unsigned long arg2, unsigned long arg3, unsigned long arg4, unsigned long arg5)
{
	struct task_caps *caps = &current->caps;

	switch (option) {
	case PR_CAPBSET_READ:
		return arg2 > CAP_LAST_CAP ? -EINVAL : (long)(caps->bounding >> arg2 & 1);
	case PR_CAPBSET_DROP:
		if (!capable(CAP_SETPCAP))
			return -EPERM;
		if (arg2 > CAP_LAST_CAP)
			return -EINVAL;
		caps->bounding &= ~CAP_BIT(arg2);
		return 0;
	case PR_GET_SECUREBITS:
		return caps->securebits;
	case PR_SET_SECUREBITS:
		return set_securebits(arg2);
	case PR_GET_KEEPCAPS:
		return !!(caps->securebits & SECURE_KEEP_CAPS);
	case PR_SET_KEEPCAPS:
		if (arg2 > 1)
			return -EINVAL;
		if (caps->securebits & SECURE_KEEP_CAPS << 1)
			return -EPERM;
		caps->securebits = (caps->securebits & ~SECURE_KEEP_CAPS) | (arg2 ? SECURE_KEEP_CAPS : 0);
		return 0;
	case PR_CAP_AMBIENT:
		return arg4 || arg5 ? -EINVAL : set_ambient(arg2, arg3);
	}
	return -EINVAL;
}
