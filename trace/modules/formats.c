/*
 * Formats of trace_printk() in a module. A record has the address of its format, and may be read after the module has
 * gone. So the texts are copied when the module comes, and its table leads to the copies (records/printk_text.c).
 */
#include <kernel/module.h>
#include <kernel/module_check.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "records/records.h"

/* The lasting copy of a text, NULL when out of memory. [module_mutex] */
static const char *keep_format(const char *text)
{
	size_t size = strlen(text) + 1;
	struct trace_late_format *kept;

	for (const struct trace_late_format *late = trace_late_formats; late; late = late->next)
		if (!strcmp(late->text, text))
			return late->text;
	kept = kmalloc(sizeof(*kept) + size, GFP_KERNEL);
	if (!kept)
		return NULL;
	kept->next = trace_late_formats;
	memcpy(kept->text, text, size);
	smp_store_release(&trace_late_formats, kept);
	return kept->text;
}

static int formats_coming(struct module *mod)
{
	unsigned n;
	const char **formats = module_section(mod, "ptrs_printk_formats", sizeof(*formats), &n);

	for (; n; n--, formats++) {
		const char *copy = *formats ? keep_format(*formats) : "";

		if (!copy)
			return -ENOMEM;
		if (*formats)
			*formats = copy;
	}
	return 0;
}

/* The texts are copied when the module comes, so they may lie anywhere in it. The table is written then. */
static int formats_check(struct module_check *c)
{
	unsigned n;
	int err;
	const char *const *formats = module_check_table(c, "ptrs_printk_formats", sizeof(*formats), true, &n, &err);

	for (; n && !err; n--, formats++)
		if (*formats && !module_reaches_text(c, *formats))
			err = module_bad_table(c, "ptrs_printk_formats");
	return err;
}

static const struct module_notifier format_notifier = {.coming = formats_coming, .check = formats_check};
REGISTER_MODULE_NOTIFIER_FIRST(format_notifier);
