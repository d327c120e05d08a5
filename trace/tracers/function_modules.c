/*
 * Filters by module. Functions of the kernel itself belong to no module, so "GLOB:mod:ext4" is about
 * functions that may come with ext4 one day: it is kept, in order, and shown. "GLOB:mod:!ext4" is about all
 * functions that are not ext4's, and those of the kernel are there: they join the set at once.
 *
 * While set_ftrace_filter keeps such filters it is no empty filter, even if no function of it is there:
 * nobody who asks for one module wants the whole kernel until it is loaded (ftrace_set_wait).
 */
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/tracer.h"
#include "ftrace/internal.h"
#include "function_modules.h"

/* Immutable once it is in its list but for `next`. */
struct ftrace_module {
	struct ftrace_module *next; /* [ftrace_lock] tr->modules[], the oldest first */
	const char *glob, *module;  /* in texts */
	char texts[];
};

bool ftrace_is_module_word(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && !strncmp(colon, ":mod:", 5);
}

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
 * Handles "!MODULE", which means the functions that are in any other module or in the kernel itself. `add` says whether
 * they join or leave the set. 1: done. 0: the word names a module, so the caller's list takes it. -ENOMEM.
 */
static int match_kernel(struct ftrace_set *set, const char *glob, const char *module, bool add)
{
	int ret;

	if (*module != '!')
		return 0;
	ret = ftrace_set_match(set, glob_or_star(glob), add);
	return ret == -EINVAL ? 0 : ret ?: 1;
}

int ftrace_module_word(struct trace_array *tr, struct ftrace_set *set, bool exclude, char *text)
{
	bool add = *text != '!';
	char *module = text + !add;
	const char *glob = strsep(&module, ":");
	int ret;

	strsep(&module, ":"); /* "mod" */
	mutex_lock(&ftrace_lock);
	ret = match_kernel(set, glob, module, add);
	if (!ret)
		ret = (add ? add_module : remove_module)(&tr->modules[exclude], glob, module);
	mutex_unlock(&ftrace_lock);
	return min(ret, 0);
}

void ftrace_modules_clear(struct trace_array *tr, bool exclude)
{
	struct ftrace_module *old;

	mutex_lock(&ftrace_lock);
	while ((old = tr->modules[exclude])) {
		tr->modules[exclude] = old->next;
		kfree(old);
	}
	mutex_unlock(&ftrace_lock);
}

static const struct ftrace_module *module_at(const struct trace_array *tr, bool exclude, unsigned n)
{
	const struct ftrace_module *module = tr->modules[exclude];

	while (module && n--)
		module = module->next;
	return module;
}

bool ftrace_module_is_there(const struct trace_array *tr, bool exclude, unsigned n)
{
	return module_at(tr, exclude, n);
}

void ftrace_module_show(struct seq_file *m, const struct trace_array *tr, bool exclude, unsigned n)
{
	const struct ftrace_module *module = module_at(tr, exclude, n);

	seq_printf(m, "%s:mod:%s\n", module->glob, module->module);
}

static void modules_stop(struct trace_array *tr)
{
	ftrace_modules_clear(tr, false);
	ftrace_modules_clear(tr, true);
}

static const struct trace_part modules_part = {.stop = modules_stop};
REGISTER_TRACE_PART(modules_part);
