/* /proc/sys/kernel/panic, panic_on_oops and tainted: what happens after a panic, and what has happened before one. */
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/current.h>

static int panic_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(panic_timeout));
	return 0;
}

/* Seconds; below 0: at once. */
static int panic_store(char *text, void *data)
{
	char word[16];
	int seconds;

	if (strscpy(word, text, sizeof(word)) < 0)
		return -EINVAL;
	word[strcspn(word, "\n")] = '\0';
	if (kstrtoint(word, 0, &seconds))
		return -EINVAL;
	WRITE_ONCE(panic_timeout, seconds);
	return 0;
}

static int panic_on_oops_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(panic_on_oops));
	return 0;
}

static int panic_on_oops_store(char *text, void *data)
{
	unsigned on;
	int err = sysctl_number(text, &on);

	if (!err && on > 1)
		err = -EINVAL;
	if (!err)
		WRITE_ONCE(panic_on_oops, on);
	return err;
}

static int tainted_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%lu\n", get_taint());
	return 0;
}

static const struct text_file panic_entry = {
	.path = "sys/kernel/panic", .mode = 0644, .show = panic_show, .store = panic_store};
static const struct text_file panic_on_oops_entry = {
	.path = "sys/kernel/panic_on_oops", .mode = 0644, .show = panic_on_oops_show, .store = panic_on_oops_store};
static const struct text_file tainted_entry = {.path = "sys/kernel/tainted", .mode = 0444, .show = tainted_show};
REGISTER_PROC(panic_entry);
REGISTER_PROC(panic_on_oops_entry);
REGISTER_PROC(tainted_entry);
