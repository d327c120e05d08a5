/* Names of values that a module's event headers define (TRACE_DEFINE_ENUM, events/eval_map.c). */
#include <kernel/module.h>
#include <kernel/module_check.h>
#include <lib/errno.h>
#include <mm/slab.h>

#include "events/event_file.h"

/*
 * A module is loaded: its names of values count from here on in `format` and in eval_map. 0 or -ENOMEM, which refuses
 * the module. Thread context.
 */
static int evals_coming(struct module *mod)
{
	unsigned n;
	const struct trace_eval_map *const *maps = module_section(mod, "ptrs_trace_eval_maps", sizeof(*maps), &n);
	struct trace_late_evals *evals;

	if (!n)
		return 0;
	evals = kmalloc(sizeof(*evals), GFP_KERNEL);
	if (!evals)
		return -ENOMEM;
	*evals = (struct trace_late_evals){.owner = mod, .maps = maps, .n = n};
	mutex_lock(&event_mutex);
	list_add_tail(&evals->list, &trace_late_evals);
	mutex_unlock(&event_mutex);
	return 0;
}

static void evals_going(struct module *mod)
{
	struct trace_late_evals *evals, *next;

	mutex_lock(&event_mutex);
	list_for_each_entry_safe(evals, next, &trace_late_evals, list) {
		if (evals->owner != mod)
			continue;
		list_del(&evals->list);
		kfree(evals);
	}
	mutex_unlock(&event_mutex);
}

static int evals_check(struct module_check *c)
{
	unsigned n;
	int err;
	const struct trace_eval_map *const *maps =
		module_check_table(c, "ptrs_trace_eval_maps", sizeof(*maps), false, &n, &err);

	for (; n && !err; n--, maps++)
		if (!module_has_const(c, *maps, sizeof(**maps)) || !module_has_text(c, (*maps)->system) ||
		    !module_has_text(c, (*maps)->name))
			err = module_bad_table(c, "ptrs_trace_eval_maps");
	return err;
}

static const struct module_notifier evals_notifier = {
	.coming = evals_coming, .going = evals_going, .check = evals_check};
REGISTER_MODULE_NOTIFIER(evals_notifier);
