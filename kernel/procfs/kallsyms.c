/*
 * /proc/kallsyms: the symbols of the kernel and of its modules with their addresses, and who gets to see these. An
 * address tells an attacker where things lie, so a task without CAP_SYSLOG reads zeros (kptr_restrict 0 or 1), or
 * everybody does (2).
 */
#include "internal.h"

#include <kernel/ksyms.h>
#include <proc/capability.h>

static int kptr_restrict; /* sysctl, 0 to 2: a word, read whole */

bool kallsyms_show_value(void)
{
	return READ_ONCE(kptr_restrict) < 2 && capable(CAP_SYSLOG);
}

/*
 * The table is too long for one buffer, so it is walked one symbol after the other, those of modules behind the
 * kernel's. The iterator is the symbol's index + 1, as NULL means the end. A module that comes or goes in between moves
 * the numbers of others, so a reader may miss some of these or see them twice, as on Linux.
 */
static void *kallsyms_start(struct seq_file *m, loff_t *pos)
{
	struct module_ksym sym;

	if (*pos < kallsyms_count() || kallsyms_module_symbol(*pos - kallsyms_count(), &sym))
		return (void *)(unsigned long)(*pos + 1);
	return NULL;
}

static void *kallsyms_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return kallsyms_start(m, pos);
}

static void kallsyms_stop(struct seq_file *m, void *v)
{
}

/*
 * One symbol, unless its module has just gone. m->private tells whether the task that opened the file may see
 * addresses: that was decided at the opening, since the descriptor may be handed to another task.
 */
static int kallsyms_show(struct seq_file *m, void *v)
{
	size_t i = (unsigned long)v - 1;
	struct module_ksym of_module;
	struct ksym sym;

	if (kallsyms_symbol(i, &sym)) {
		seq_printf(m, "%016lx %c %s\n", m->private ? sym.address : 0, sym.type, sym.name);
		return 0;
	}
	if (!kallsyms_module_symbol(i - kallsyms_count(), &of_module))
		return SEQ_SKIP;
	seq_printf(m, "%016lx %c %s\t[%s]\n", m->private ? of_module.address : 0, of_module.type, of_module.name,
		   of_module.module);
	return 0;
}

static const struct seq_operations kallsyms_ops = {kallsyms_start, kallsyms_stop, kallsyms_next, kallsyms_show};

static int kallsyms_open(struct inode *inode, struct file *f)
{
	int err = seq_open(f, &kallsyms_ops);

	if (!err)
		((struct seq_file *)f->private_data)->private = (void *)(unsigned long)kallsyms_show_value();
	return err;
}

static const struct file_operations kallsyms_fops = {
	.open = kallsyms_open, .read = seq_read, .llseek = seq_lseek, .release = seq_release};
static const struct text_file kallsyms_entry = {.path = "kallsyms", .mode = 0444, .fop = &kallsyms_fops};
REGISTER_PROC(kallsyms_entry);

static int kptr_restrict_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(kptr_restrict));
	return 0;
}

/* Takes 0, 1 or 2. Files that are open keep what was decided for them. */
static int kptr_restrict_store(char *text, void *data)
{
	char *end;
	u64 value = simple_strtoull(text, &end, 10);

	if (end == text || (*end && !isspace(*end)) || value > 2)
		return -EINVAL;
	WRITE_ONCE(kptr_restrict, value);
	return 0;
}

static const struct text_file kptr_restrict_entry = {
	.path = "sys/kernel/kptr_restrict", .mode = 0644, .show = kptr_restrict_show, .store = kptr_restrict_store};
REGISTER_PROC(kptr_restrict_entry);
