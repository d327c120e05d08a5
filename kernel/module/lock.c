/*
 * The locks of the loader, and what becomes of them when the task that holds one dies in an oops.
 *
 * What such a lock guards may be half changed then. So the locks are given back, in order that nobody waits for ever,
 * and from that moment on no module is loaded or unloaded: the three system calls say EPERM, and the log says why. What
 * only looks, such as /proc/modules, goes on. The state is that of /proc/sys/kernel/modules_disabled, which root can
 * also set, as on Linux, and which lsmod asks for.
 */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/oops_exit.h>
#include <sched/sched.h>

DEFINE_MUTEX(module_files_lock);
DEFINE_MUTEX(module_texts_lock);

/* Both only ever become true. */
static bool modules_disabled; /* [atomic] root has said so, or: */
static bool loader_is_dead;   /* [atomic] a task has died with one of the locks */

int module_may_load(void)
{
	if (!capable(CAP_SYS_MODULE))
		return -EPERM;
	if (!READ_ONCE(modules_disabled))
		return 0;
	if (loader_is_dead)
		pr_err("modules: refused, since a task has died with a lock of the loader (see the oops above)\n");
	return -EPERM;
}

bool module_loader_is_dead(void)
{
	return READ_ONCE(loader_is_dead);
}

int module_lock(void)
{
	int err = mutex_lock_interruptible(&module_mutex);

	if (err)
		return err;
	err = module_may_load();
	if (err)
		mutex_unlock(&module_mutex);
	return err;
}

int module_lock_again(void)
{
	mutex_lock(&module_mutex);
	if (!module_loader_is_dead())
		return 0;
	mutex_unlock(&module_mutex);
	return -EPERM;
}

/* ---- An oops */

/* The flag comes first: who gets the lock next must see it. */
static void give_back_lock(struct mutex *lock)
{
	if (mutex_owner(lock) != current)
		return;
	WRITE_ONCE(loader_is_dead, true);
	WRITE_ONCE(modules_disabled, true);
	pr_emerg("modules: %s-%d has died with a lock of the loader: no module is loaded or unloaded any more\n",
		 current->comm, current->pid);
	mutex_unlock(lock);
	module_tell_waiters();
}

/*
 * The values of a module's parameters are the module's own affair, so its param_lock is only given back. A module whose
 * lock the task holds cannot go; the others are looked at with preemption off.
 */
static void give_back_param_lock(void)
{
	struct mutex *held = NULL;

	preempt_disable();
	for (struct list_head *p = READ_ONCE(modules.next); p != &modules; p = READ_ONCE(p->next)) {
		struct module *mod = list_entry(p, struct module, list);

		if (mutex_owner(&mod->param_lock) == current)
			held = &mod->param_lock;
	}
	preempt_enable();
	if (held)
		mutex_unlock(held);
}

static void loader_died(void)
{
	give_back_param_lock();
	give_back_lock(&module_texts_lock);
	give_back_lock(&module_files_lock);
	give_back_lock(&module_mutex);
}

static const struct oops_exit loader_exit = {loader_died};
REGISTER_OOPS_EXIT(loader_exit);

/* ---- The file */

static int disabled_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%d\n", READ_ONCE(modules_disabled));
	return 0;
}

/* 1 is all that can be written, and nothing takes it back. */
static int disabled_store(char *text, void *data)
{
	int value, err = kstrtoint(strim(text), 0, &value);

	if (err || value != 1)
		return -EINVAL;
	WRITE_ONCE(modules_disabled, true);
	return 0;
}
static const struct text_file disabled_entry = {
	.path = "sys/kernel/modules_disabled", .mode = 0644, .show = disabled_show, .store = disabled_store};
REGISTER_PROC(disabled_entry);
