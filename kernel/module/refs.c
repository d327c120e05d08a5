/*
 * References to modules. A count of 1 is the loader's own, as long as the module is there. 0 means that it goes, and
 * then the count never rises again. So taking a reference and unloading need no lock against each other: one of the
 * two changes the count first.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/module.h>

#include <fs/vfs.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <proc/fork.h>
#include <sched/task_inline.h>

#include "internal.h"

/* Of a module that is UNFORMED nothing can be used: a file that is refused then goes at once. */
static bool take_reference(struct module *mod, unsigned long ip)
{
	enum module_state state = READ_ONCE(mod->state);

	if (state == MODULE_STATE_GOING || state == MODULE_STATE_UNFORMED || !atomic_inc_not_zero(&mod->refcnt))
		return false;
	trace_module_get(mod, ip);
	return true;
}

/*
 * When the count is down, another CPU may unload the module. Preemption is off here, so its memory stays until the
 * tracepoint below has run.
 */
static void drop_reference(struct module *mod, unsigned long ip)
{
	preempt_disable();
	WARN_ON(atomic_dec_return(&mod->refcnt) < 0);
	trace_module_put(mod, ip);
	preempt_enable();
}

static const struct module_loader loader = {.get = take_reference, .put = drop_reference, .request = module_request};

static int module_loader_init(void)
{
	module_loader = &loader;
	return 0;
}
core_initcall(module_loader_init);

int module_refcount(const struct module *mod)
{
	return max(atomic_read(&mod->refcnt) - 1, 0);
}

#define MAX_NAMED 8 /* lines in the log for one rmmod */

/*
 * References are only counted, so the holders are looked for: every descriptor of every process. The reference to a
 * file that is dropped here may be its last, and then its release runs, so no lock may be held.
 */
void module_name_openers(const struct module *mod, const char *name)
{
	struct task_struct *p;
	unsigned named = 0;

	for (pid_t from = 1; (p = next_process(from)); put_task_struct(p)) {
		struct file *f;

		from = p->pid + 1;
		for (unsigned fd = 0; (f = fget_task_next(p, &fd)); fd++) {
			if (f->f_owner == mod && named++ < MAX_NAMED)
				pr_notice("%s: %s-%d has %pd open as descriptor %u\n", name, p->comm, p->pid,
					  f->f_dentry, fd);
			fput(f);
		}
	}
}
