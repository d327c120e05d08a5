/* /proc/config.gz: what this kernel was built with, made from kernel/init/config.list by tools/kconfig.py. */
#include <fs/libfs.h>
#include <generated/config_gz.h>

static ssize_t config_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return simple_read_from_buffer(buf, n, pos, config_gz, sizeof(config_gz));
}

static const struct file_operations config_fops = {.read = config_read, .llseek = default_llseek};
static const struct text_file config_entry = {.path = "config.gz", .mode = 0444, .fop = &config_fops};
REGISTER_PROC(config_entry);
