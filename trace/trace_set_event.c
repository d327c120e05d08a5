/* available_events and set_event: events by name. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#include "trace_event_file.h"

#define SET_EVENT_MAX 4096 /* bytes of a write that are looked at */

static void show_name(struct seq_file *m, const struct trace_event_file *file)
{
	seq_printf(m, "%s:%s\n", file->call->class->system, file->call->name);
}

static int available_events_show(struct seq_file *m, struct trace_array *tr, int cpu)
{
	struct trace_event_file *file;

	for_each_event (tr->events, file)
		show_name(m, file);
	return 0;
}
TRACEFS_TEXT_FILE(available_events, "available_events", 0440, TRACEFS_TOP, available_events_show, NULL);

static int set_event_show(struct seq_file *m, void *v)
{
	struct trace_event_file *file;

	mutex_lock(&event_mutex);
	for_each_event (tracefs_array(m->file)->events, file)
		if (file->flags & EVENT_FILE_ENABLED)
			show_name(m, file);
	mutex_unlock(&event_mutex);
	return 0;
}

/* `>` begins with none, `>>` adds. */
static int set_event_open(struct inode *inode, struct file *file)
{
	struct trace_event_set *set = tracefs_array(file)->events;

	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC)) {
		mutex_lock(&event_mutex);
		trace_events_enable(set, &(struct trace_event_match){}, false);
		mutex_unlock(&event_mutex);
	}
	return single_open(file, set_event_show, NULL);
}

/* Words, one after the other, until one is wrong: those before it count. */
static int set_by_words(struct trace_event_set *set, char *text)
{
	char *word;
	int ret = 0;

	mutex_lock(&event_mutex);
	while (!ret && (word = strsep(&text, " \t\n")))
		if (*word)
			ret = trace_event_set_by_text(set, word);
	mutex_unlock(&event_mutex);
	return ret;
}

/* Ends the text behind its last whole word; its new length. */
static size_t cut_to_words(char *text, size_t n)
{
	while (n && !strchr(" \t\n", text[n - 1]))
		n--;
	text[n] = '\0';
	return n;
}

/* Of a long list, such as the file's own content written back, as many words as there is room for: the writer comes
 * again with the rest. */
static ssize_t set_event_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	char *text = kmalloc(SET_EVENT_MAX, GFP_KERNEL);
	bool long_list = n >= SET_EVENT_MAX;
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	if (long_list)
		n = SET_EVENT_MAX - 1;
	ret = copy_text_from_user(text, SET_EVENT_MAX, buf, n);
	if (ret >= 0 && long_list) {
		n = cut_to_words(text, n);
		ret = n ? 0 : -EINVAL;
	}
	if (ret >= 0)
		ret = set_by_words(tracefs_array(file)->events, text);
	kfree(text);
	return ret ? ret : (ssize_t)n;
}

static const struct file_operations set_event_fops = {
	.open = set_event_open,
	.read = seq_read,
	.write = set_event_write,
	.llseek = seq_lseek,
	.release = single_release,
};
static const struct tracefs_file set_event_file = { "set_event", 0640, &set_event_fops, TRACEFS_ARRAY };
REGISTER_TRACEFS(set_event_file);
