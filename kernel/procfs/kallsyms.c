/*
 * /proc/kallsyms: the kernel's symbols with their addresses, and who gets to see these. An address tells an attacker
 * where things lie, so others than root read zeros (kptr_restrict 0 or 1), or everybody does (2).
 */
#include "internal.h"

#include <kernel/ksyms.h>

static int kptr_restrict; /* sysctl, 0 to 2: a word, read whole */

bool kallsyms_show_value(void)
{
	return READ_ONCE(kptr_restrict) < 2 && current->euid == 0;
}

/*
 * The table is too long for one buffer, so it is walked one symbol after the other. The iterator is the
 * symbol's index + 1, as NULL means the end.
 */
static void *kallsyms_start(struct seq_file *m, loff_t *pos)
{
	return *pos < kallsyms_count() ? (void *)(unsigned long)(*pos + 1) : NULL;
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
 * One symbol. m->private tells whether the task that opened the file may see addresses: it was decided at
 * the opening, since the descriptor may be handed to another task.
 */
static int kallsyms_show(struct seq_file *m, void *v)
{
	struct ksym sym;

	if (!kallsyms_symbol((unsigned long)v - 1, &sym))
		return SEQ_SKIP;
	seq_printf(m, "%016lx %c %s\n", m->private ? sym.address : 0, sym.type, sym.name);
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
