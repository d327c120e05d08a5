/*
 * Filters by module. "GLOB:mod:ext4" names functions of ext4. If ext4 is loaded, they join the set. If it is not, the
 * filter is kept, in order, and shown, and it takes effect before the module's init runs. So `echo :mod:demo >
 * set_ftrace_filter; insmod demo.ko` traces the init, too. When the module goes, its functions leave the set
 * (ftrace_set_refresh), and nothing of them is kept for a second time, as in Linux. "GLOB:mod:!ext4" names all
 * functions that are not ext4's: they join the set at once.
 *
 * While set_ftrace_filter keeps such filters it does not count as empty, even if no function is in it: a user who asks
 * for one module does not want the whole kernel until that module is loaded (ftrace_set_wait).
 */
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/tracer.h"
#include "ftrace/internal.h"
#include "tracers/function_modules.h"

/* A kept filter. Only `next` changes once it is in its list. */
struct ftrace_module {
	struct ftrace_module *next; /* [ftrace_lock] tr->modules[] or a file's words, the oldest first */
	const char *glob, *module;  /* in texts */
	char texts[];
};

/* An empty pattern means the same as a star, and Linux shows the star. So the star is what is stored and compared. */
static const char *glob_or_star(const char *glob)
{
	return *glob ? glob : "*";
}

/*
 * Appends to the list, so that the file shows the filters in the order in which they were written. The struct and both
 * texts are one allocation. ftrace_lock held. 0 or -ENOMEM.
 */
static int add_module(struct ftrace_module **list, const char *glob, const char *module)
{
	size_t glob_size = strlen(glob_or_star(glob)) + 1, module_size = strlen(module) + 1;
	struct ftrace_module *new = kmalloc(sizeof(*new) + glob_size + module_size, GFP_KERNEL);

	if (!new)
		return -ENOMEM;
	new->next = NULL;
	new->glob = memcpy(new->texts, glob_or_star(glob), glob_size);
	new->module = memcpy(new->texts + glob_size, module, module_size);
	while (*list)
		list = &(*list)->next;
	*list = new;
	return 0;
}

/*
 * Frees each entry with this module and this pattern; the pattern "*" means all entries of the module. ftrace_lock
 * held. 0, or -EINVAL when there was none.
 */
static int remove_module(struct ftrace_module **list, const char *glob, const char *module)
{
	struct ftrace_module *old;
	int ret = -EINVAL;

	while ((old = *list)) {
		if (strcmp(old->module, module) || (strcmp(glob_or_star(glob), "*") && strcmp(old->glob, glob))) {
			list = &old->next;
			continue;
		}
		*list = old->next;
		kfree(old);
		ret = 0;
	}
	return ret;
}

/*
 * 1: functions of a loaded module matched, and have joined or left the set; 0: no function matches, so the filter must
 * be kept; -ENOMEM. An empty set has no function to lose, so that a function matches is found out with another one.
 * [ftrace_lock]
 */
static int match_loaded(struct ftrace_set *set, const char *glob, const char *module, bool add)
{
	struct ftrace_set other = {};
	bool empty = !add && !set->bits;
	int ret = ftrace_set_match_module(empty ? &other : set, glob_or_star(glob), module, add || empty);

	ftrace_set_clear(&other);
	return ret == -EINVAL ? 0 : ret ?: 1;
}

static void module_filters_end(struct ftrace_module **list)
{
	struct ftrace_module *old;

	while ((old = *list)) {
		*list = old->next;
		kfree(old);
	}
}

static int module_filters_join(struct ftrace_module *words, struct ftrace_set *set)
{
	int ret = 0;

	for (; words && ret >= 0; words = words->next)
		ret = match_loaded(set, words->glob, words->module, true);
	return min(ret, 0);
}

/* [ftrace_lock] Kept in the array's list from now on, and among the words of the open file. 0; -ENOMEM. */
static int keep_word(struct trace_array *tr, struct ftrace_module **words, bool exclude, const char *glob,
		     const char *module)
{
	return add_module(words, glob, module) ?: add_module(&tr->modules[exclude], glob, module);
}

/*
 * A word that takes away is about functions of a loaded module, or else about a filter that is kept; the words of the
 * open file lose it in any case, so that it does not come back when the file is closed.
 */
static int module_filters_word(struct trace_array *tr, struct ftrace_set *set, struct ftrace_module **words,
			       bool exclude, char *text)
{
	bool add = *text != '!';
	char *module = text + !add;
	const char *glob = strsep(&module, ":");
	int ret;

	strsep(&module, ":"); /* "mod" */
	mutex_lock(&ftrace_lock);
	if (!add)
		remove_module(words, glob, module);
	ret = match_loaded(set, glob, module, add);
	if (!ret)
		ret = add ? keep_word(tr, words, exclude, glob, module)
			  : remove_module(&tr->modules[exclude], glob, module);
	mutex_unlock(&ftrace_lock);
	return min(ret, 0);
}

static void module_filters_clear(struct trace_array *tr, bool exclude)
{
	mutex_lock(&ftrace_lock);
	module_filters_end(&tr->modules[exclude]);
	mutex_unlock(&ftrace_lock);
}

static const struct ftrace_module *module_at(const struct trace_array *tr, bool exclude, unsigned n)
{
	const struct ftrace_module *module = tr->modules[exclude];

	while (module && n--)
		module = module->next;
	return module;
}

static bool module_filters_is_there(const struct trace_array *tr, bool exclude, unsigned n)
{
	return module_at(tr, exclude, n);
}

static void module_filters_show(struct seq_file *m, const struct trace_array *tr, bool exclude, unsigned n)
{
	const struct ftrace_module *module = module_at(tr, exclude, n);

	seq_printf(m, "%s:mod:%s\n", module->glob, module->module);
}

static const struct function_modules module_filters = {.word = module_filters_word,
						       .join = module_filters_join,
						       .end = module_filters_end,
						       .clear = module_filters_clear,
						       .is_there = module_filters_is_there,
						       .show = module_filters_show};
REGISTER_FUNCTION_MODULES(module_filters);

/* ---- Modules come and go */

/*
 * [ftrace_lock] The kept filters of one set that are about this module take effect, and are used up. When the set
 * cannot be changed, for lack of memory, they stay; so they are removed last. The set goes on waiting if it keeps
 * filters of other modules.
 */
static void apply_kept(struct trace_array *tr, bool exclude, const char *module)
{
	struct ftrace_set *set = exclude ? &tr->ops->exclude : &tr->ops->filter, new;
	bool any = false, others = false;

	if (ftrace_set_copy(&new, set))
		return;
	for (struct ftrace_module *kept = tr->modules[exclude]; kept; kept = kept->next) {
		if (strcmp(kept->module, module))
			others = true;
		else
			any |= !ftrace_set_match_module(&new, kept->glob, module, true);
	}
	if (any && !ftrace_set_wait(&new, others) && !ftrace_ops_replace_set(tr->ops, set, &new))
		remove_module(&tr->modules[exclude], "*", module);
	ftrace_set_clear(&new);
}

/* For the filter and the notrace set of each array. */
static int kept_coming(struct module *mod)
{
	struct trace_array *tr;

	mutex_lock(&trace_types_lock);
	mutex_lock(&ftrace_lock);
	for_each_trace_array(tr) {
		apply_kept(tr, false, mod->name);
		apply_kept(tr, true, mod->name);
	}
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&trace_types_lock);
	return 0;
}

static const struct module_notifier kept_notifier = {.coming = kept_coming};
REGISTER_MODULE_NOTIFIER(kept_notifier);

static void modules_stop(struct trace_array *tr)
{
	module_filters_clear(tr, false);
	module_filters_clear(tr, true);
}

static const struct trace_part modules_part = {.stop = modules_stop};
REGISTER_TRACE_PART(modules_part);
