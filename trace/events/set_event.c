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
#include "tracefs/words.h"
#include "text_file.h"

#define SET_EVENT_MAX  4096 /* bytes of a write that are looked at; the rest comes with another */
#define SET_EVENT_WORD 128  /* bytes of a word with its zero, as in Linux */

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
 * Takes word after word of the `n` bytes of `text` until one is wrong; the words before it are in force. All sites that
 * the words switch change in one stop of the machine. The end of a write ends a word, as in Linux.
 *
 * Returns how many bytes were taken, which end before a wrong word that is not the first, so that the program's next
 * write begins with it. -errno of the first word, which is then in `refused`; *why: the reason, or NULL.
 */
static ssize_t set_by_words(struct trace_event_set *set, const char *text, size_t n, char *refused, const char **why)
{
	char word[SET_EVENT_WORD];
	struct word_parser parser;
	size_t done = 0;
	ssize_t ret = 0;

	word_parser_init(&parser, word, sizeof(word));
	mutex_lock(&event_mutex);
	while (done < n) {
		ssize_t used = word_parse(&parser, text + done, n - done);

		if (used < 0)
			*why = WORD_TOO_LONG;
		strscpy(refused, word, SET_EVENT_WORD); /* before it is cut into its parts */
		ret = used < 0 ? used : parser.len ? trace_event_set_by_text_later(set, word) : 0;
		if (ret)
			break;
		parser.cont = false;
		done += used;
	}
	trace_events_complete(set);
	mutex_unlock(&event_mutex);
	return done ? (ssize_t)done : ret;
}

/*
 * Of a long text the first words are taken: those that end in its first SET_EVENT_MAX bytes. The program's next write
 * brings the others.
 */
static ssize_t set_event_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	char *text = kmalloc(SET_EVENT_MAX, GFP_KERNEL), refused[SET_EVENT_WORD] = "";
	size_t size = min_t(size_t, n, SET_EVENT_MAX), whole = size;
	const char *why = NULL;
	ssize_t ret = -EFAULT;

	if (!text)
		return -ENOMEM;
	if (!copy_from_user(text, buf, size)) {
		while (size < n && whole && !word_ends_at(text[whole - 1]))
			whole--;
		ret = set_by_words(tracefs_array(file)->events, text, whole ?: size, refused, &why);
	}
	kfree(text);
	if (ret < 0)
		return tracefs_refused_why(file, NULL, refused, why, ret);
	*pos += ret;
	return ret;
}

static const struct file_operations set_event_fops = {
	.open = set_event_open,
	.read = seq_read,
	.write = set_event_write,
	.llseek = seq_lseek,
	.release = single_release,
};
TRACEFS_FILE(set_event, "set_event", 0640, TRACEFS_ARRAY, &set_event_fops);
