/* available_events and set_event: events by name. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#include "tracefs/tracefs.h"
#include "text_file.h"

#define SET_EVENT_MAX 4096 /* bytes of a write that are looked at; the rest comes with another */

static void show_name(struct seq_file *m, const struct trace_event_file *file)
{
	seq_printf(m, "%s:%s\n", file->call->class->system, file->call->name);
}

static int available_events_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	struct trace_event_file *file;

	for_each_event(tr->events, file)
		show_name(m, file);
	return 0;
}
TRACEFS_TEXT_FILE(available_events, "available_events", 0440, TRACEFS_TOP, available_events_show, NULL);

static int set_event_show(struct seq_file *m, void *v)
{
	struct trace_event_file *file;

	mutex_lock(&event_mutex);
	for_each_event(tracefs_array(m->file)->events, file)
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

/*
 * Words, one after the other, until one is wrong: those before it count. That one is copied to `refused`. All of them
 * take one stop of the machine.
 */
static int set_by_words(struct trace_event_set *set, char *text, char *refused, size_t size)
{
	char *word;
	int ret = 0;

	mutex_lock(&event_mutex);
	while (!ret && (word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		strscpy(refused, word, size); /* before it is cut into its parts */
		ret = trace_event_set_by_text_later(set, word);
	}
	trace_events_complete(set);
	mutex_unlock(&event_mutex);
	return ret;
}

static ssize_t set_event_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	char *text = kmalloc(SET_EVENT_MAX, GFP_KERNEL), refused[64];
	ssize_t taken;
	int ret = 0;

	if (!text)
		return -ENOMEM;
	taken = copy_words_from_user(text, SET_EVENT_MAX, buf, n);
	if (taken > 0)
		ret = set_by_words(tracefs_array(file)->events, text, refused, sizeof(refused));
	kfree(text);
	return ret ? tracefs_refused(file, NULL, refused, ret) : tracefs_refused(file, NULL, NULL, taken);
}

static const struct file_operations set_event_fops = {
	.open = set_event_open,
	.read = seq_read,
	.write = set_event_write,
	.llseek = seq_lseek,
	.release = single_release,
};
TRACEFS_FILE(set_event, "set_event", 0640, TRACEFS_ARRAY, &set_event_fops);
