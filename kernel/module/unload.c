/*
 * delete_module(2): whether the module may go, the call of its exit, and the steps after that (main.c explains why its
 * memory may go then).
 */
#include "internal.h"

#include <asm/uaccess.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <time/jiffies.h>
#include <time/timer.h>

/* [module_mutex] Into the log: what keeps the module from going. */
static int refuse_to_stop(const struct module *mod)
{
	const struct module_use *use;

	list_for_each_entry(use, &mod->used_by, users)
		pr_notice("%s: it is in use by the module %s\n", mod->name, use->user->name);
	if (list_empty(&mod->used_by))
		pr_notice("%s: it is in use by %d open files, threads or others that hold a reference\n", mod->name,
			  module_refcount(mod));
	return -EWOULDBLOCK;
}

/* [module_mutex] May the module go? If so, it has no reference any more and never gets one again. */
static int stop_module(struct module *mod)
{
	if (!list_empty(&mod->used_by))
		return refuse_to_stop(mod);
	if (mod->state != MODULE_STATE_LIVE) {
		pr_notice("%s: it is still being loaded, or on its way out\n", mod->name);
		return -EBUSY;
	}
	if (mod->init && !mod->exit) {
		pr_notice("%s: it has no exit function, so it cannot be unloaded\n", mod->name);
		return -EBUSY;
	}
	if (atomic_cmpxchg(&mod->refcnt, 1, 0) != 1)
		return refuse_to_stop(mod);
	WRITE_ONCE(mod->state, MODULE_STATE_GOING);
	return 0;
}

#define SLOW_EXIT (10 * HZ)

/* An exit that has not returned yet. */
struct slow_exit {
	struct timer_list timer;
	const struct module *mod;
	pid_t pid;
};

/* Interrupt. The module is there as long as its exit runs. */
static void tell_slow_exit(struct timer_list *timer)
{
	const struct slow_exit *slow = from_timer(slow, timer, timer);

	pr_warn("%s: its exit has not returned for %d s: cat /proc/%d/stack shows what it waits for\n", slow->mod->name,
		SLOW_EXIT / HZ, slow->pid);
}

/*
 * Exit waits for all that still runs of the module: a thread that never asks kthread_should_stop() keeps it for ever,
 * and rmmod, which no signal ends here, says nothing. So the log says it, once.
 */
static void run_exit(const struct module *mod)
{
	struct slow_exit slow = {.mod = mod, .pid = current->pid};

	if (!mod->exit)
		return;
	timer_setup(&slow.timer, tell_slow_exit, 0);
	mod_timer(&slow.timer, jiffies + SLOW_EXIT);
	mod->exit();
	timer_delete_sync(&slow.timer);
}

/*
 * [module_mutex] Whoever was to end this module was killed while it waited: the caller takes that up. Its exit has
 * returned already, or its init has failed.
 */
static bool take_up(struct module *mod)
{
	bool abandoned = mod->abandoned;

	mod->abandoned = false;
	return abandoned;
}

/*
 * As on Linux since 3.13, a module in use is refused whether O_NONBLOCK is given or not. Exit runs without
 * module_mutex, so it may sleep and wait for whatever uses the module's callbacks. No reference can be taken meanwhile:
 * its count is 0 and its state GOING.
 */
SYSCALL_DEFINE2(delete_module, const char __user *, name_user, unsigned int, flags)
{
	char name[MODULE_NAME_LEN];
	struct module *mod;
	bool taken_up = false;
	ssize_t len = module_may_load();

	if (!len)
		len = strncpy_from_user(name, name_user, sizeof(name));
	if (len < 0)
		return len;
	if (len == sizeof(name))
		return -ENOENT;
	len = module_lock();
	if (len)
		return len;
	mod = find_module(name);
	if (mod)
		taken_up = take_up(mod);
	if (!taken_up)
		len = mod ? stop_module(mod) : -ENOENT;
	mutex_unlock(&module_mutex);
	if (len == -EWOULDBLOCK)
		module_name_openers(mod, name);
	if (len)
		return len;
	if (!taken_up)
		run_exit(mod);
	module_note_unloaded(mod);
	return module_let_go(mod);
}
