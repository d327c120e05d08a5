/*
 * Files about kprobes: debugfs kprobes/list (all probes), kprobes/blacklist (where none may be), kprobes/enabled (are
 * their places armed), and the sysctl debug.kprobes-optimization (may places become jumps). Texts are Linux's.
 */
#include <fs/text_file.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <fs/seq_file.h>
#include <lib/string.h>

#include "internal.h"

static void show_probe(struct seq_file *m, const struct kprobe_site *site, const struct kprobe *p)
{
	char name[KSYM_NAME_LEN], module[KSYM_MODULE_LEN];
	unsigned long offset = 0;

	if (!kallsyms_lookup_module(site->addr, NULL, &offset, module, name))
		name[0] = module[0] = 0;
	seq_printf(m, "%px  k  %s+0x%lx  %s %s%s%s\n", (void *)site->addr, name, offset, module[0] ? module : " ",
		   p->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "",
		   site->armed && site->how == KPROBE_BY_JUMP ? "[OPTIMIZED]" : "",
		   site->how == KPROBE_BY_FTRACE ? "[FTRACE]" : "");
}

/* The list says "r" of one that is called at a return. */
static void show_ret_probe(struct seq_file *m, const struct kprobe *kp)
{
	char name[KSYM_NAME_LEN], module[KSYM_MODULE_LEN];
	unsigned long offset = 0;

	if (!kallsyms_lookup_module((unsigned long)kp->addr, NULL, &offset, module, name))
		name[0] = module[0] = 0;
	seq_printf(m, "%px  r  %s+0x%lx  %s %s[FTRACE]\n", kp->addr, name, offset, module[0] ? module : " ",
		   kp->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "");
}

static int list_show(struct seq_file *m, void *data)
{
	const struct kprobe *p;

	mutex_lock(&kprobe_mutex);
	for (unsigned i = 0; i < KPROBE_BUCKETS; i++)
		for (const struct kprobe_site *site = kprobe_sites[i]; site; site = site->next)
			list_for_each_entry(p, &site->probes, list)
				show_probe(m, site, p);
	mutex_unlock(&kprobe_mutex);
	kretprobes_show(m, show_ret_probe);
	return 0;
}
static const struct text_file list_file = {.path = "kprobes/list", .mode = 0400, .show = list_show};
REGISTER_DEBUGFS(list_file);

static int blacklist_show(struct seq_file *m, void *data)
{
	unsigned long start, end;

	for (unsigned n = 0; kprobe_blacklist_range(n, &start, &end); n++)
		seq_printf(m, "0x%px-0x%px\t%ps\n", (void *)start, (void *)end, (void *)start);
	return 0;
}
static const struct text_file blacklist_file = {.path = "kprobes/blacklist", .mode = 0400, .show = blacklist_show};
REGISTER_DEBUGFS(blacklist_file);

static int enabled_show(struct seq_file *m, void *data)
{
	seq_puts(m, kprobes_all_disarmed ? "0\n" : "1\n");
	return 0;
}

static int enabled_store(char *text, void *data)
{
	bool on;
	int err = kstrtobool(text, &on);

	return err ?: kprobes_set_armed(on);
}
static const struct text_file enabled_file = {
	.path = "kprobes/enabled", .mode = 0600, .show = enabled_show, .store = enabled_store};
REGISTER_DEBUGFS(enabled_file);

static int optimization_show(struct seq_file *m, void *data)
{
	seq_puts(m, kprobes_allow_optimization ? "1\n" : "0\n");
	return 0;
}

static int optimization_store(char *text, void *data)
{
	unsigned value;
	int err = sysctl_number(text, &value);

	if (!err && value > 1)
		err = -EINVAL;
	return err ?: kprobes_set_optimization(value);
}
static const struct text_file optimization_file = {
	.path = "sys/debug/kprobes-optimization", .mode = 0644, .show = optimization_show, .store = optimization_store};
REGISTER_PROC(optimization_file);
