/*
 * References to modules. A count of 1 is the loader's own, as long as the module is there. 0 means that it goes, and
 * then the count never rises again. So who takes a reference and who unloads need no lock against each other: one of
 * the two changes the count first.
 */
#define CREATE_TRACE_POINTS
#include <trace/events/module.h>

#include <kernel/panic.h>
#include <trace/fgraph.h>

#include "internal.h"

bool try_module_get(struct module *mod)
{
	if (!mod)
		return true;
	if (READ_ONCE(mod->state) == MODULE_STATE_GOING || !atomic_inc_not_zero(&mod->refcnt))
		return false;
	trace_module_get(mod, TRUE_RET_ADDR());
	return true;
}
EXPORT_SYMBOL(try_module_get);

/* Once the count is down the module may go, but not its memory, until this CPU is through with preemption off. */
void module_put(struct module *mod)
{
	if (!mod)
		return;
	preempt_disable();
	WARN_ON(atomic_dec_return(&mod->refcnt) < 0);
	trace_module_put(mod, TRUE_RET_ADDR());
	preempt_enable();
}
EXPORT_SYMBOL(module_put);

int module_refcount(const struct module *mod)
{
	return max(atomic_read(&mod->refcnt) - 1, 0);
}
