/*
 * The point of no return of execve: the process becomes single-threaded and sheds what belonged to the old
 * program.
 *
 * Against exit and other execs: signal->group_exec is set under siglock, and only when no group exit and no other exec
 * is under way. From then on every other thread finds it on its way to user mode or in fork, and exits. A thread that
 * calls exit_group meanwhile ends only itself. A SIGKILL from outside still ends the whole process, the exec included,
 * because the wait for the other threads is killable.
 */
#include <arch/thread.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/debugger.h>
#include <proc/exec.h>
#include <proc/fork.h>
#include <proc/personality.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <uapi/mount.h>

/*
 * Is this thread the only one left, but for a leader that is a zombie? The leader cannot be released before: it holds
 * the process number, which the exec'ing thread is to take over. [T]
 */
static bool others_gone(struct task_struct *t)
{
	if (thread_group_leader(t))
		return t->signal->nr_threads == 1;
	return t->signal->nr_threads == 2 && t->group_leader->exit_state == EXIT_ZOMBIE;
}

/* Sleep until all other threads are gone. False: a SIGKILL came, and this thread is to die with the others. */
static bool wait_for_others(struct task_struct *t)
{
	bool done;

	for (;;) {
		set_current_state(TASK_KILLABLE); /* before the look: an exit after it wakes us (wake_group_exec) */
		spin_lock_irq(&tasklist_lock);
		done = others_gone(t);
		spin_unlock_irq(&tasklist_lock);
		if (done || fatal_signal_pending(t))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return done;
}

/*
 * A thread that is not the leader has survived. POSIX wants the process to keep its number over an exec, so
 * everything that others know the process by goes from the dead leader to this thread: the number, the children, the
 * place in the lists. Returns the old leader, which is EXIT_DEAD now, for the caller to release.
 */
static struct task_struct *become_leader(struct task_struct *t)
{
	struct task_struct *leader = t->group_leader, *p;

	spin_lock_irq(&tasklist_lock);
	spin_lock(&t->sighand->siglock);
	t->start_time = leader->start_time; /* before the number: /proc knows a process by both, and takes no lock */
	exchange_pids(t, leader);
	list_for_each_entry(p, &leader->children, sibling)
		p->parent = t;
	list_for_each_entry(p, &leader->zombies, sibling)
		p->parent = t;
	list_splice_tail_init(&leader->children, &t->children);
	list_splice_tail_init(&leader->zombies, &t->zombies);
	t->parent = leader->parent;
	list_add(&t->sibling, &leader->sibling);
	list_del_init(&leader->sibling);
	list_add(&t->tasks, &leader->tasks);
	list_del_init(&leader->tasks);
	t->group_leader = t;
	leader->group_leader = t;
	t->signal->leader = t;
	t->exit_signal = SIGCHLD;
	leader->exit_signal = -1;
	if (child_reaper == leader)
		child_reaper = t;
	leader->exit_state = EXIT_DEAD;
	spin_unlock(&t->sighand->siglock);
	spin_unlock_irq(&tasklist_lock);
	return leader;
}

/*
 * Become the only thread of the process. Whether the process is alone, or going already, is decided under siglock
 * together with setting group_exec, so two threads that exec at the same moment cannot both win. 0, or -EAGAIN:
 * another exec or an exit was faster, and this thread is about to die.
 */
static int de_thread(struct task_struct *t)
{
	struct signal_struct *sig = t->signal;
	bool alone, busy, done = true;

	spin_lock_irq(&t->sighand->siglock);
	busy = signal_group_exit(sig);
	alone = sig->nr_threads == 1;
	if (!busy && !alone) {
		sig->group_exec = t;
		zap_other_threads(t);
	}
	spin_unlock_irq(&t->sighand->siglock);
	if (busy)
		return -EAGAIN;
	if (alone)
		return 0;
	done = wait_for_others(t);
	if (done && !thread_group_leader(t))
		release_task(become_leader(t));
	spin_lock_irq(&tasklist_lock); /* wake_group_exec() has this one alone */
	spin_lock(&t->sighand->siglock);
	sig->group_exec = NULL;
	spin_unlock(&t->sighand->siglock);
	spin_unlock_irq(&tasklist_lock);
	return done ? 0 : -EAGAIN;
}

/*
 * The handlers may be shared with another process (CLONE_SIGHAND without CLONE_THREAD). The new program's handlers
 * must not become that process's, so take a copy. lock_task_sighand() reads t->sighand without a lock and compares
 * after it has locked; the old one therefore stays allocated until all such readers are through. 0 or -ENOMEM.
 */
static int unshare_sighand(struct task_struct *t)
{
	struct sighand_struct *old = t->sighand, *new;

	if (atomic_read(&old->count) == 1)
		return 0;
	new = alloc_sighand();
	if (!new)
		return -ENOMEM;
	atomic_set(&new->count, 1);
	spin_lock_init(&new->siglock);
	spin_lock_irq(&tasklist_lock);
	spin_lock(&old->siglock);
	memcpy(new->action, old->action, sizeof(new->action));
	WRITE_ONCE(t->sighand, new);
	spin_unlock(&old->siglock);
	spin_unlock_irq(&tasklist_lock);
	synchronize_rcu(); /* lock_task_sighand may be about to lock the old one */
	put_sighand(old);
	return 0;
}

/*
 * Apply the file's set-user-id and set-group-id bits to *ids. The file is that of the program itself; for a script it
 * is the interpreter's, so a script's bits do nothing. Mode and owner are read under one lock, and the right to
 * execute is asked for again: a file whose owner and mode change during the exec must not give its new owner's rights
 * to a user who may not run it any more.
 */
static void take_file_ids(const struct binprm *bprm, struct cred_ids *ids)
{
	struct inode *inode = bprm->file->f_inode;
	const struct mount *mnt = bprm->file->f_mnt;

	if (current->no_new_privs || debugger_forbids_setid() || !mnt || (mnt->mnt_flags & MS_NOSUID))
		return;
	mutex_lock(&inode->i_lock);
	if (!inode_permission(inode, MAY_EXEC)) {
		if (inode->i_mode & S_ISUID)
			ids->euid = inode->i_uid;
		if ((inode->i_mode & S_ISGID) && (inode->i_mode & 0010))
			ids->egid = inode->i_gid;
	}
	mutex_unlock(&inode->i_lock);
}

/* Would the process act with other rights than it has now? */
static bool ids_change(const struct cred_ids *ids, const struct task_struct *t)
{
	return ids->euid != t->euid || ids->egid != t->egid;
}

/*
 * The ids of the new program, and whether its memory is closed to its user. A process that shares its root directory
 * with another process gains no rights (unless it has CAP_SETUID), because the other one could exchange the directory
 * that the program takes for /etc. By now this is the only thread of the process, so a second user of `fs` is another
 * process; and when there is none, none can appear.
 */
static struct cred_ids exec_ids(struct binprm *bprm, struct mm_struct *mm, struct task_caps *caps)
{
	struct task_struct *t = current;
	struct cred_ids ids = current_ids();
	bool shared = atomic_read(&t->fs->users) > 1;

	take_file_ids(bprm, &ids);
	if (ids_change(&ids, t) && !capable(CAP_SETUID) && shared) {
		ids.euid = ids.uid;
		ids.egid = ids.gid;
	}
	caps_for_exec(&ids, ids_change(&ids, t), shared || t->no_new_privs || debugger_forbids_setid(), caps);
	ids.suid = ids.fsuid = ids.euid;
	ids.sgid = ids.fsgid = ids.egid;
	bprm->secure = ids.euid != ids.uid || ids.egid != ids.gid;
	if (ids_change(&ids, t) || t->euid != t->uid || t->egid != t->gid || bprm->unreadable ||
	    inode_permission(bprm->file->f_inode, MAY_READ))
		mm->dumpable = SUID_DUMP_DISABLE;
	return ids;
}

/*
 * What can fail comes first: the three steps up to the point of no return leave a process that can still return to
 * its old program, even if it has lost its other threads. The order after it: the memory is exchanged before the ids
 * change, so that a process that may look at the old program's memory does not see the new one's, and signals are reset
 * last.
 */
int begin_new_exec(struct binprm *bprm, struct mm_struct *mm)
{
	struct task_struct *t = current;
	const char *slash = strrchr(bprm->filename, '/');
	struct task_caps caps;
	struct cred_ids ids;
	int err = de_thread(t);

	if (!err)
		err = unshare_sighand(t);
	if (!err)
		err = unshare_files(NULL);
	if (err)
		return err;
	bprm->point_of_no_return = true;
	mutex_lock(&t->signal->exec_guard); /* a debugger comes before the ids are chosen, or when they are set */
	ids = exec_ids(bprm, mm, &caps);
	mm_release(t);
	WRITE_ONCE(t->self_exec_id, t->self_exec_id + 1);
	smp_wmb();     /* a reader that sees something of the new program sees the new number (pid_show) */
	exec_mmap(mm); /* before the ids change: may_access_mm relies on it */
	do_close_on_exec(t->files);
	set_task_comm(t, slash ? slash + 1 : bprm->filename);
	commit_ids(&ids);
	t->caps = caps;
	mutex_unlock(&t->signal->exec_guard);
	t->personality &= ~(bprm->secure ? PER_CLEAR_ON_SETID : READ_IMPLIES_EXEC);
	if (bprm->secure)
		t->pdeath_signal = 0;
	task_parts_release_process();
	t->flags &= ~(PF_KTHREAD | PF_FORKNOEXEC);
	t->sas_ss_sp = t->sas_ss_size = 0;
	t->sas_ss_flags = SS_DISABLE;
	t->restart_fn = NULL;
	t->exit_signal = SIGCHLD;
	spin_lock_irq(&t->sighand->siglock);
	flush_signal_handlers(t);
	spin_unlock_irq(&t->sighand->siglock);
	return 0;
}
