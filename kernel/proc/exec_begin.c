/*
 * The point of no return of execve: the process becomes single-threaded and sheds what belonged to the old
 * program.
 *
 * Against exit and other execs: signal->group_exec is set under siglock when no group exit and no other exec
 * is under way; from then on every other thread that comes near user mode or forks finds it, and exits.
 * Whoever calls exit_group meanwhile only exits himself. A SIGKILL from outside still ends everybody, us
 * included: the wait is killable.
 */
#include <asm/thread.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <proc/exec.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <sched/current.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

/* Are we alone, but for a leader that is a zombie? [T] */
static bool others_gone(struct task_struct *t)
{
	if (thread_group_leader(t))
		return t->signal->nr_threads == 1;
	return t->signal->nr_threads == 2 && t->group_leader->exit_state == EXIT_ZOMBIE;
}

/* False: we are to die ourselves. */
static bool wait_for_others(struct task_struct *t)
{
	bool done;

	for (;;) {
		set_current_state(
			TASK_KILLABLE); /* before the look: an exit after it wakes us (wake_group_exec) */
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

/* Everything that others know the process by goes from the dead leader to us: number, family, place in lists. */
static struct task_struct *become_leader(struct task_struct *t)
{
	struct task_struct *leader = t->group_leader, *p;

	spin_lock_irq(&tasklist_lock);
	spin_lock(&t->sighand->siglock);
	exchange_pids(t, leader);
	list_for_each_entry(p, &leader->children, sibling)
		p->parent = t;
	list_splice_tail_init(&leader->children, &t->children);
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
	t->start_time = leader->start_time;
	if (child_reaper == leader)
		child_reaper = t;
	leader->exit_state = EXIT_DEAD;
	spin_unlock(&t->sighand->siglock);
	spin_unlock_irq(&tasklist_lock);
	return leader;
}

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
	spin_lock_irq(&t->sighand->siglock);
	sig->group_exec = NULL;
	spin_unlock_irq(&t->sighand->siglock);
	return done ? 0 : -EAGAIN;
}

/* Handlers of our own, when they are shared with another process (CLONE_SIGHAND). */
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

static void set_ids(struct binprm *bprm, struct task_struct *t)
{
	const struct inode *inode = bprm->file->f_inode;

	if (inode->i_mode & S_ISUID)
		t->euid = inode->i_uid;
	if ((inode->i_mode & S_ISGID) && (inode->i_mode & 0010))
		t->egid = inode->i_gid;
	t->suid = t->euid;
	t->sgid = t->egid;
	bprm->secure = t->euid != t->uid || t->egid != t->gid;
	if (bprm->secure)
		t->pdeath_signal = 0;
}

int begin_new_exec(struct binprm *bprm, struct mm_struct *mm)
{
	struct task_struct *t = current;
	const char *slash = strrchr(bprm->filename, '/');
	int err = de_thread(t);

	if (!err)
		err = unshare_sighand(t);
	if (!err)
		err = unshare_files();
	if (err)
		return err;
	bprm->point_of_no_return = true;
	mm_release(t);
	exec_mmap(mm);
	do_close_on_exec(t->files);
	set_task_comm(t, slash ? slash + 1 : bprm->filename);
	set_ids(bprm, t);
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
