/*
 * available_events and set_event: events by name. set_event shows the events that are on; what is written to it
 * switches events on, or off with "!" in front:
 *
 *	echo sched_switch '!irq:*' >> set_event
 *
 * The work is trace_event_set_by_text_later()'s; here are the two files. event_mutex is held where the state of events
 * is read or changed.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#include "tracefs/tracefs.h"
#include "text_file.h"

#define SET_EVENT_MAX 4096 /* bytes of a write that are looked at; the rest comes with another */

/* The form that set_event takes, so that a saved list can be written back. */
static void show_name(struct seq_file *m, const struct trace_event_file *file)
{
	seq_printf(m, "%s:%s\n", file->call->class->system, file->call->name);
}

/* The order is that of the linker's table, system by system, with late ones at the end. */
static int available_events_show(struct seq_file *m, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	struct trace_event_file *file;

	mutex_lock(&event_mutex);
	for_each_event(tr->events, file)
		show_name(m, file);
	mutex_unlock(&event_mutex);
	return 0;
}
TRACEFS_TEXT_FILE(available_events, "available_events", 0440, TRACEFS_TOP, available_events_show, NULL);

/* Soft-disabled events count as on here, as in Linux: their probe is registered. */
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

/* The shell's `>` opens with O_TRUNC, which switches all events off; `>>` adds to those that are on. */
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
 * Takes word after word until one is wrong; the words before it are in force. The wrong word is copied to `refused`,
 * for the explanation. All sites that the words switch change in one stop of the machine.
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

/* Returns the bytes taken, which may be fewer than n: a word that is cut at the end comes again with the next write. */
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
