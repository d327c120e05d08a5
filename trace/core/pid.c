/*
 * set_ftrace_pid, set_event_pid and their like with notrace: of which tasks functions and events are recorded.
 *
 * An array has four lists, two for functions and two for events:
 *
 *     only   NULL: every task;     else only the tasks in it     set_ftrace_pid, set_event_pid
 *     but    NULL: no exception;   else all but the tasks in it  set_ftrace_notrace_pid, set_event_notrace_pid
 *
 * A list is a bitmap of all pids, so a callback decides with one load and one test. Callbacks read it with
 * preemption off and without a lock. A write makes a new list and replaces the old one, which is freed a grace
 * period later. Order of locks: event_mutex, trace_types_lock, pid_lock (interrupts off).
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/bitmap.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <trace/events/sched.h>
#include <uapi/fcntl.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracefs/words.h"
#include "tracer.h"

/*
 * Guards the bits of the lists, and which list is in force. Forks take it in the scheduler's tracepoints, so it cannot
 * be a mutex. Callbacks read without it.
 */
static DEFINE_SPINLOCK(pid_lock);

/* Has the list no pid? Such a list is not kept: NULL says the same, and callbacks need not look at its bits. */
static bool list_empty_pids(const struct trace_pid_list *list)
{
	return find_first_bit(list->bits, TRACE_PID_MAX) == TRACE_PID_MAX;
}

/* Is it one of the two lists for events? A change of these is told to other code, and an empty one shows nothing. */
static bool of_events(struct trace_array *tr, struct trace_pid_list **which)
{
	return which == &tr->event_pids.only || which == &tr->event_pids.but;
}

/*
 * Put a new list (NULL: none) in force, with the pids of the old one when `add`. A list that ends up empty counts as
 * none. pid_lock keeps forks from adding a child to the old list after it was copied. event_mutex and trace_types_lock
 * held; sleeps.
 */
static void replace_list(struct trace_array *tr, struct trace_pid_list **which, struct trace_pid_list *new, bool add)
{
	struct trace_pid_list *old, *unused = NULL;
	unsigned long flags;

	spin_lock_irqsave(&pid_lock, flags);
	old = *which;
	for (unsigned i = 0; new &&add &&old &&i < BITS_TO_LONGS(TRACE_PID_MAX); i++)
		new->bits[i] |= old->bits[i];
	if (new &&list_empty_pids(new)) {
		unused = new;
		new = NULL;
	}
	smp_store_release(which, new);
	spin_unlock_irqrestore(&pid_lock, flags);
	if (of_events(tr, which))
		trace_array_changed(tr, TRACE_CHANGED_PIDS);
	else if ((new || old) && tr->current_trace->update_pids)
		tr->current_trace->update_pids(tr);
	if (old)
		synchronize_rcu(); /* the tracer and events read lists with preemption off */
	kfree(old);
	kfree(unused);
}

/* ---- function-fork, event-fork: children of the tasks in a list join it, and a task that ends leaves it */

/*
 * pid_lock held. One store of the whole word: a callback that reads it meanwhile sees it before or after, never
 * half.
 */
static void change_pid(struct trace_pid_list *list, int pid, bool in)
{
	unsigned long *word = &list->bits[pid / 64], bit = BIT(pid % 64);

	WRITE_ONCE(*word, in ? *word | bit : *word & ~bit);
}

/*
 * Forks change a set of pids that the tracer is reading.
 *
 * The function tracer reads set_ftrace_pid's bits without a lock. With function-fork a fork sets a child's bit in the
 * list that is in force, in place, before the child can run; a task's bit is cleared before its pid is free for
 * another. A write to the file makes a new list, and takes over the old one's bits while it holds the same lock
 * as forks do: a child that was added until then is in both, and one that comes later is added to the new one.
 */
static void follow_fork(struct trace_pid_list *list, struct task_struct *parent, struct task_struct *child)
{
	if (list && trace_pid_in(list, parent->pid) && child->pid < TRACE_PID_MAX)
		change_pid(list, child->pid, true);
}

/* A task ends. Its pid may soon belong to another task, which was not asked for. pid_lock held. */
static void leave_list(struct trace_pid_list *list, struct task_struct *p)
{
	if (list && p->pid < TRACE_PID_MAX)
		change_pid(list, p->pid, false);
}

/* The child does not run yet, so even its first function is recorded. */
static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct trace_pids *pids = data;
	unsigned long flags;

	spin_lock_irqsave(&pid_lock, flags);
	follow_fork(pids->only, parent, child);
	follow_fork(pids->but, parent, child);
	spin_unlock_irqrestore(&pid_lock, flags);
}

static void probe_free(void *data, struct task_struct *p)
{
	struct trace_pids *pids = data;
	unsigned long flags;

	spin_lock_irqsave(&pid_lock, flags);
	leave_list(pids->only, p);
	leave_list(pids->but, p);
	spin_unlock_irqrestore(&pid_lock, flags);
}

void trace_pid_free(struct trace_array *tr)
{
	kfree(tr->function_pids.only);
	kfree(tr->function_pids.but);
	kfree(tr->event_pids.only);
	kfree(tr->event_pids.but);
}

/*
 * Begin or end to follow forks. The probe of exits comes first and goes last (they are unregistered in the opposite
 * order): a child that has joined a list must also leave it. 0, -ENOMEM.
 */
static int follow_forks(struct trace_pids *pids, bool on)
{
	static const struct tracepoint_probe probes[] = {
		{&__tracepoint_sched_process_free, (void *)probe_free},
		{&__tracepoint_sched_process_fork, (void *)probe_fork},
	};

	if (on)
		return tracepoint_probes_register(probes, ARRAY_SIZE(probes), pids);
	tracepoint_probes_unregister(probes, ARRAY_SIZE(probes), pids);
	return 0;
}

int trace_pid_follow_fork(struct trace_array *tr, bool on)
{
	return follow_forks(&tr->function_pids, on);
}

int trace_event_follow_fork(struct trace_array *tr, bool on)
{
	return follow_forks(&tr->event_pids, on);
}

/* ---- The files */

#define PID_WORD 128 /* bytes of a word with its zero, as in Linux */

/* The list that a file of this name stands for. */
static struct trace_pid_list **file_list(const struct file *file)
{
	struct trace_array *tr = tracefs_array(file);
	const char *name = file->f_dentry->d_name.name;

	if (!strcmp(name, "set_event_pid"))
		return &tr->event_pids.only;
	if (!strcmp(name, "set_event_notrace_pid"))
		return &tr->event_pids.but;
	return !strcmp(name, "set_ftrace_pid") ? &tr->function_pids.only : &tr->function_pids.but;
}

/*
 * One pid a line. The lock keeps the list from being freed while it is shown. An empty list of functions says "no
 * pid", and one of events says nothing, as in Linux.
 */
static int trace_pids_show(struct seq_file *m, void *v)
{
	struct trace_pid_list **which = file_list(m->file), *list;

	mutex_lock(&trace_types_lock);
	list = *which;
	if (!list && !of_events(tracefs_array(m->file), which))
		seq_puts(m, "no pid\n");
	for (unsigned pid = 0; list && pid < TRACE_PID_MAX; pid++) {
		pid = find_next_bit(list->bits, TRACE_PID_MAX, pid);
		if (pid < TRACE_PID_MAX)
			seq_printf(m, "%u\n", pid);
	}
	mutex_unlock(&trace_types_lock);
	return 0;
}

/* `echo 12 > set_ftrace_pid` opens with O_TRUNC, which empties the list; `>>` does not, so the pid is added. */
static int trace_pids_open(struct inode *inode, struct file *file)
{
	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC)) {
		mutex_lock(&event_mutex);
		mutex_lock(&trace_types_lock);
		if (*file_list(file))
			replace_list(tracefs_array(file), file_list(file), NULL, false);
		mutex_unlock(&trace_types_lock);
		mutex_unlock(&event_mutex);
	}
	return single_open(file, trace_pids_show, NULL);
}

/* What a write does to a list of pids. */
struct pid_words {
	struct trace_pid_list *list; /* gets the pids */
	char word[PID_WORD];	     /* the last word, which an error is about */
	const char *why;	     /* the reason of an error, or NULL: the word is no such number */
};

/* A whole word, which is a number without a minus, as in Linux. 0, -EINVAL. */
static int add_pid(struct pid_words *w)
{
	unsigned long pid;

	if (kstrtoul(w->word, 0, &pid) || pid >= TRACE_PID_MAX)
		return -EINVAL;
	w->list->bits[pid / 64] |= BIT(pid % 64);
	return 0;
}

/*
 * Adds the words of a write to the list. Its end ends a word, as in Linux, and a zero byte in place of a word ends the
 * write. Returns how many bytes were taken; -EINVAL, -EFAULT.
 */
static ssize_t read_pids(struct pid_words *w, const char __user *buf, size_t n)
{
	struct word_parser parser;
	char text[TRACEFS_TEXT_MAX];
	size_t done = 0, at = 0, size = 0;

	word_parser_init(&parser, w->word, sizeof(w->word));
	while (done < n) {
		ssize_t used;
		int ret = 0;

		if (at == size) {
			at = 0;
			size = min(n - done, sizeof(text));
			if (copy_from_user(text, buf + done, size))
				return -EFAULT;
		}
		used = word_parse(&parser, text + at, size - at);
		if (used < 0) {
			w->why = WORD_TOO_LONG;
			return used;
		}
		at += used;
		done += used;
		if (parser.len && (!parser.cont || done == n))
			ret = add_pid(w);
		if (ret)
			return ret;
		if (!parser.len && !text[at - 1])
			break;
	}
	return done;
}

/* All words are read before anything changes, so a wrong one changes nothing. -ENOMEM, or as read_pids(). */
static ssize_t trace_pids_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct trace_pid_list **which = file_list(file);
	struct pid_words w = {.list = kzalloc(sizeof(*w.list), GFP_KERNEL)};
	ssize_t taken;

	if (!w.list)
		return -ENOMEM;
	taken = read_pids(&w, buf, n);
	if (taken < 0) {
		kfree(w.list);
		return tracefs_refused_why(file, NULL, w.word, w.why, taken);
	}
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	replace_list(tracefs_array(file), which, w.list, w.list);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
	*pos += taken;
	return taken;
}

#define TAKES_PID "the number of a task, below " __stringify(TRACE_PID_MAX) "; an empty text empties the list"
TRACEFS_TAKES(set_ftrace_pid, "set_ftrace_pid", TAKES_PID);
TRACEFS_TAKES(set_ftrace_notrace_pid, "set_ftrace_notrace_pid", TAKES_PID);
TRACEFS_TAKES(set_event_pid, "set_event_pid", TAKES_PID);
TRACEFS_TAKES(set_event_notrace_pid, "set_event_notrace_pid", TAKES_PID);

static const struct file_operations pid_fops = {
	.open = trace_pids_open,
	.read = seq_read,
	.write = trace_pids_write,
	.llseek = seq_lseek,
	.release = single_release,
};
TRACEFS_FILE(set_ftrace_pid, "set_ftrace_pid", 0640, TRACEFS_ARRAY, &pid_fops);
TRACEFS_FILE(set_ftrace_notrace_pid, "set_ftrace_notrace_pid", 0640, TRACEFS_ARRAY, &pid_fops);
TRACEFS_FILE(set_event_pid, "set_event_pid", 0640, TRACEFS_ARRAY, &pid_fops);
TRACEFS_FILE(set_event_notrace_pid, "set_event_notrace_pid", 0640, TRACEFS_ARRAY, &pid_fops);
