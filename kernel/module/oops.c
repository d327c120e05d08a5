/*
 * "Modules linked in:" in the report of an oops, and which module went last, since a reader suspects those first. The
 * list is walked without a lock, because the task that failed may hold it; its links are single words.
 */
#include "internal.h"

#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/printf.h>
#include <lib/string.h>

static char last_unloaded[MODULE_NAME_LEN]; /* [none: a text that is half of two names does no harm] */

void module_note_unloaded(const struct module *mod)
{
	memcpy(last_unloaded, mod->name, sizeof(last_unloaded));
}

/*
 * Linux's marks: (P) it is not under the GPL, (+) its init runs, (-) it is going. The newest first, as many as a line
 * of the log holds. Any context: what has failed may hold module_mutex.
 */
static void list_modules(enum trouble what)
{
	char line[512];
	size_t n = 0;

	if (what != TROUBLE_DYING)
		return;
	line[0] = '\0';
	for (struct list_head *p = READ_ONCE(modules.next); p != &modules; p = READ_ONCE(p->next)) {
		const struct module *mod = list_entry(p, struct module, list);

		n += scnprintf(line + n, sizeof(line) - n, " %s%s%s", mod->name, mod->taints ? "(P)" : "",
			       mod->state == MODULE_STATE_COMING  ? "(+)"
			       : mod->state == MODULE_STATE_GOING ? "(-)"
								  : "");
	}
	if (last_unloaded[0])
		scnprintf(line + n, sizeof(line) - n, " [last unloaded: %.*s]", MODULE_NAME_LEN - 1, last_unloaded);
	pr_emerg("Modules linked in:%s\n", line);
}

static const struct panic_notifier oops_notifier = {"modules", list_modules};
REGISTER_PANIC_NOTIFIER(oops_notifier);
