/*
 * /proc/kallsyms: the symbols of the kernel and of its modules with their addresses.
 */
#include "internal.h"

#include <kernel/ksyms.h>

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
