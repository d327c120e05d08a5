/*
 * Tables of a module that several parts of tracing follow: its tracepoints, since others find them by name, put probes
 * on them and switch their keys; and the functions that kprobes may not enter. They are proved before the module is
 * known (<kernel/module_check.h>).
 */
#include <kernel/module.h>
#include <kernel/module_check.h>
#include <trace/tracepoint.h>

#include "modules.h"

/*
 * Its key is claimed by itself, since sites lead to that. There is no probe before the module is known.
 */
bool tracepoint_check(struct module_check *c, const struct tracepoint *tp)
{
	return module_claim(c, tp, offsetof(struct tracepoint, key), CLAIM_STRUCT) &&
	       module_claim(c, &tp->key, sizeof(tp->key), CLAIM_KEY) &&
	       module_claim(c, &tp->regfunc, sizeof(*tp) - offsetof(struct tracepoint, regfunc), CLAIM_STRUCT) &&
	       !((unsigned long)tp % 8) && module_has_name(c, tp->name) && module_may_call(c, tp->regfunc) &&
	       module_may_call(c, tp->unregfunc) && !tp->funcs && !tp->key.switched && !static_key_enabled(&tp->key);
}

static int tracepoints_check(struct module_check *c)
{
	unsigned n;
	int err;
	struct tracepoint *const *tps = module_check_table(c, "ptrs_tracepoints", sizeof(*tps), false, &n, &err);

	for (; n && !err; n--, tps++)
		if (!tracepoint_check(c, *tps))
			err = module_bad_table(c, "ptrs_tracepoints");
	return err;
}

/* NOKPROBE_SYMBOL: addresses of functions, which are only compared (trace/kprobes). */
static int blacklist_check(struct module_check *c)
{
	unsigned n;
	int err;

	module_check_table(c, "_kprobe_blacklist", sizeof(unsigned long), false, &n, &err);
	return err;
}

static int tables_check(struct module_check *c)
{
	return tracepoints_check(c) ?: blacklist_check(c);
}

static const struct module_notifier tables_notifier = {.check = tables_check};
REGISTER_MODULE_NOTIFIER(tables_notifier);
