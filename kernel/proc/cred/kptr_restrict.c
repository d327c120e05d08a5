/*
 * /proc/sys/kernel/kptr_restrict: who gets to see addresses of the kernel. An address tells an attacker where things
 * lie, so a task without CAP_SYSLOG reads zeros (0 or 1), or everybody does (2).
 */
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <kernel/ksyms.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <proc/capability.h>

static int kptr_restrict; /* sysctl, 0 to 2: a word, read whole */

bool kallsyms_show_value(void)
{
	return READ_ONCE(kptr_restrict) < 2 && capable(CAP_SYSLOG);
}

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
