/*
 * The tracefs files about traced functions: what can be traced (available_filter_functions), what is traced
 * (enabled_functions), and the filters that choose (set_ftrace_filter, set_ftrace_notrace, set_graph_function,
 * set_graph_notrace, stack_trace_filter).
 *
 * All filters are one kind of file. An open file holds a private copy of its set (struct filter_writer). Writing
 * changes the copy, and closing puts it in force, so that "echo a b c > set_ftrace_filter" stops the machine once and
 * not three times. Locks, outermost first: the file's own mutex, event_mutex (commands), ftrace_lock (sets and sites).
 */
#include <arch/ftrace.h>
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <uapi/fcntl.h>

#include "events/event_file.h"
#include "ftrace/internal.h"
#include "tracefs/words.h"
#include "tracers/graph/graph.h"
#include "function_commands.h"
#include "function_filter.h"
#include "function_modules.h"

/* ---- Lists of records: one seq_file walk, told apart by what it shows. */

/* What distinguishes one list from another. The position in the file is the number of the site. */
struct rec_list {
	bool (*wants)(unsigned rec); /* which records */
	void (*show)(struct seq_file *m, unsigned rec);
};

/* The first site at *pos or behind it that the list shows; *pos moves there. NULL: there are no more. */
static void *rec_from(const struct rec_list *list, loff_t *pos)
{
	for (; *pos < ftrace_nr_recs; ++*pos)
		if (list->wants(*pos))
			return &ftrace_recs[*pos];
	return NULL;
}

/*
 * ftrace_lock is held from start to stop, for one buffer of text at most, so the lines of a buffer show the users of
 * one moment.
 */
static void *rec_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&ftrace_lock);
	return rec_from(m->private, pos);
}

static void *rec_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return rec_from(m->private, pos);
}

static void rec_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int rec_show(struct seq_file *m, void *v)
{
	const struct rec_list *list = m->private;

	list->show(m, (struct dyn_ftrace *)v - ftrace_recs);
	return 0;
}

static const struct seq_operations rec_seq_ops = {rec_start, rec_stop, rec_next, rec_show};

static int rec_list_open(struct file *file, const struct rec_list *list)
{
	int ret = seq_open(file, &rec_seq_ops);

	if (!ret)
		((struct seq_file *)file->private_data)->private = (void *)list;
	return ret;
}

/* A file in tracefs that shows such a list, for reading only. */
#define REC_LIST_FILE(id, filename, wants_fn, show_fn)                                             \
	static const struct rec_list id##_list = {wants_fn, show_fn};                              \
	static int id##_open(struct inode *inode, struct file *file)                               \
	{                                                                                          \
		return rec_list_open(file, &id##_list);                                            \
	}                                                                                          \
	static const struct file_operations id##_fops = {                                          \
		.open = id##_open, .read = seq_read, .llseek = seq_lseek, .release = seq_release}; \
	TRACEFS_FILE(id, filename, 0440, TRACEFS_TOP, &id##_fops)

/* Places that are kept for modules have no function. */
static bool every_rec(unsigned rec)
{
	return test_bit(rec, ftrace_present_map);
}

/* Is any user's callback called from this site now? */
static bool rec_enabled(unsigned rec)
{
	return (ftrace_enabled_map[rec / 64] >> (rec % 64)) & 1;
}

/*
 * Was any user's callback ever called from this site? The bit stays for good, so the file lists all code that was ever
 * patched.
 */
static bool rec_touched(unsigned rec)
{
	return test_bit(rec, ftrace_touched_map);
}

/* "name", or "name [module]". */
static void put_name(struct seq_file *m, unsigned rec)
{
	const char *module = ftrace_rec_module(&ftrace_recs[rec]);

	seq_puts(m, ftrace_rec_name(&ftrace_recs[rec]));
	if (module)
		seq_printf(m, " [%s]", module);
}

static void show_name(struct seq_file *m, unsigned rec)
{
	put_name(m, rec);
	seq_putc(m, '\n');
}

static void show_name_addr(struct seq_file *m, unsigned rec)
{
	seq_printf(m, "%016lx ", ftrace_recs[rec].ip);
	show_name(m, rec);
}

/*
 * One line of enabled_functions: how many users call from this site; R: one of them gets all registers; I: one may
 * replace the function; D: a trampoline is called, which the next line names. When there is only one user, the line
 * says which:
 *
 *	schedule (1)              	ops: global_ops (function_trace_call+0x0/0x1a0)
 */
static void show_users(struct seq_file *m, unsigned rec)
{
	struct ftrace_ops *op, *one = NULL;
	unsigned long direct = 0;
	unsigned users = 0;
	u32 flags = 0;

	for_each_ftrace_op(op)
		if (rec_enabled(rec) && ftrace_ops_wants(op, rec)) {
			users++;
			flags |= op->flags;
			if (op->flags & FTRACE_OPS_FL_DIRECT)
				direct = READ_ONCE(op->direct_call);
			else
				one = op;
		}
	put_name(m, rec);
	seq_printf(m, " (%u)%s%s%s     ", users, flags & FTRACE_OPS_FL_SAVE_REGS ? " R" : "  ",
		   flags & FTRACE_OPS_FL_IPMODIFY ? " I" : "  ", direct ? " D" : "  ");
	if (users == 1 && one)
		seq_printf(m, "\tops: %s (%pS)", one->name ?: "?",
			   one->flags & FTRACE_OPS_FL_GRAPH ? (void *)FTRACE_GRAPH_CALLER_ADDR
							    : (void *)(one->straight_func ?: one->func));
	if (direct)
		seq_printf(m, "\n\tdirect-->%pS", (void *)direct);
	seq_putc(m, '\n');
}

REC_LIST_FILE(available_filter_functions, "available_filter_functions", every_rec, show_name);
REC_LIST_FILE(available_filter_functions_addrs, "available_filter_functions_addrs", every_rec, show_name_addr);
REC_LIST_FILE(enabled_functions, "enabled_functions", rec_enabled, show_users);
REC_LIST_FILE(touched_functions, "touched_functions", rec_touched, show_users);

static int dyn_ftrace_total_info_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u pages:%u groups: %u\n", ftrace_nr_sites, ftrace_nr_pages, 1);
	return 0;
}
TRACEFS_TEXT_FILE(dyn_ftrace_total_info, "dyn_ftrace_total_info", 0440, TRACEFS_TOP, dyn_ftrace_total_info_show, NULL);

/* ---- set_ftrace_filter and set_ftrace_notrace */

#define FTRACE_WORD_MAX 256

/*
 * An open filter file. Writing changes a private copy of the set, one name at a time; closing puts it in force. A name
 * may come in pieces over several writes: it is complete at white space, at a zero byte or at close. Locks: o `mutex`,
 * because several tasks may share the open file; r the file's seq_file.lock; I immutable.
 */
struct filter_writer {
	struct mutex mutex;
	struct ftrace_ops *ops;	    /* [I] whose set the file holds; NULL: that of `graph` */
	struct graph_filter *graph; /* [I] */
	bool exclude;		    /* [I] which of the two sets of `ops` */
	struct trace_array *tr;	    /* [I] the array whose function commands the file takes; NULL: it takes none */
	struct trace_array *array;  /* [I] the array whose set it is; NULL: of none */
	const struct function_modules *modules; /* [I] of `array`: filters by module; NULL: it takes none */
	loff_t command;				/* [r] number of the command that is shown */
	loff_t shown;				/* [r] number of the filter by module that is shown */
	bool changed;				/* [o] */
	struct ftrace_module *words;   /* [o] filters by module that were written, of modules that were not loaded */
	struct ftrace_set set;	       /* [o] the copy */
	struct word_parser parser;     /* [o] of `word` */
	char word[FTRACE_WORD_MAX];    /* [o] name so far */
	char refused[FTRACE_WORD_MAX]; /* [o] the last word as it was written: a command is cut into its parts */
};

/* The set in force that this file is about. ftrace_lock held to read or change what it points to. */
static struct ftrace_set *writer_target(const struct filter_writer *w)
{
	if (w->graph)
		return &w->graph->set;
	return w->exclude ? &w->ops->exclude : &w->ops->filter;
}

bool function_modules_word(const char *text)
{
	const char *colon = strchr(text, ':');

	return function_modules() && colon && !strncmp(colon, ":mod:", 5);
}

/* The commands that were written come in force. 0 or -errno. event_mutex held. */
static int commit_commands(void)
{
	const struct function_commands *commands = function_commands();

	return commands ? commands->commit() : 0;
}

/*
 * One complete word, after which the next one begins. A name or pattern changes the copy; "!" before it takes out of
 * the copy. A command ("schedule:traceoff:5") does not touch the set, and is in force at the end of the write; a filter
 * by module is so at once. *why: the reason of an error, or NULL. w->mutex and event_mutex held.
 */
static int process_word(struct filter_writer *w, const char **why)
{
	const struct function_commands *commands = w->graph || w->exclude ? NULL : function_commands();
	bool remove = w->word[0] == '!';

	w->parser.cont = false;
	strscpy(w->refused, w->word, sizeof(w->refused));
	if (w->modules && function_modules_word(w->word)) {
		w->changed = true;
		return w->modules->word(w->array, &w->set, &w->words, w->exclude, w->word);
	}
	if (strchr(w->word, ':'))
		return commands ? commands->word(w->tr, w->word, why) : -EINVAL;
	w->changed = true;
	return (w->graph ? ftrace_set_match_names : ftrace_set_match)(&w->set, w->word + remove, !remove);
}

/*
 * The words of a text, as far as they are commands, or one name, as on Linux; a word that goes on after the end of the
 * text is kept for the next write. Returns the bytes taken, which end before a wrong word that is not the first: the
 * program writes the rest again, and gets the error then. -EINVAL or another error of the first word; *why as above.
 * w->mutex and event_mutex held.
 */
static ssize_t take_words(struct filter_writer *w, const char *text, size_t n, const char **why)
{
	size_t done = 0;

	while (done < n) {
		ssize_t used = word_parse(&w->parser, text + done, n - done);
		int err = min(used, 0L);

		if (err)
			*why = WORD_TOO_LONG;
		else if (w->parser.len && !w->parser.cont)
			err = process_word(w, why);
		if (err)
			return done ?: (ssize_t)err;
		done += used;
		if (w->parser.len && !w->parser.cont && !strchr(w->refused, ':'))
			break;
	}
	return done;
}

#define FILTER_WRITE_MAX (256UL << 10) /* bytes that one write takes; the program writes the rest again */

/*
 * All commands of a write come in force together, in as few stops of the machine as they allow. An error leaves the
 * words before it in force, as on Linux.
 */
ssize_t ftrace_filter_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	struct seq_file *m = file->f_mode & FMODE_READ ? file->private_data : NULL;
	struct filter_writer *w = m ? m->private : file->private_data;
	size_t size = min(n, FILTER_WRITE_MAX);
	char *text = kvmalloc(size + 1, GFP_KERNEL);
	const char *why = NULL;
	ssize_t ret;
	int err;

	if (!text)
		return -ENOMEM;
	size -= copy_from_user(text, buf, size);
	mutex_lock(&w->mutex);
	mutex_lock(&event_mutex);
	w->refused[0] = '\0';
	ret = take_words(w, text, size, &why);
	err = commit_commands();
	mutex_unlock(&event_mutex);
	if (n && !size) {
		word_parser_drop(&w->parser);
		err = -EFAULT;
	}
	if (err)
		ret = err;
	if (ret < 0) /* the mutex keeps the word */
		ret = tracefs_refused_why(file, NULL, w->refused, why, ret);
	mutex_unlock(&w->mutex);
	kvfree(text);
	return ret;
}

/* The array whose set_ftrace_filter or set_ftrace_notrace this is; NULL: neither. */
static struct trace_array *array_of_filter(const struct file *file, const struct ftrace_ops *ops)
{
	struct trace_array *tr = tracefs_array(file);

	return ops && ops == tr->ops ? tr : NULL;
}

/*
 * Makes the private copy: of the set that is in force, or empty when the file is opened with O_TRUNC (the shell's ">").
 * Filters by module are not copied, so O_TRUNC removes them at once. An ERR_PTR on error.
 */
static struct filter_writer *writer_alloc(struct file *file, struct ftrace_ops *ops, bool exclude,
					  struct graph_filter *graph)
{
	struct filter_writer *w = kzalloc(sizeof(*w), GFP_KERNEL);
	int ret = 0;

	if (!w)
		return ERR_PTR(-ENOMEM);
	mutex_init(&w->mutex);
	word_parser_init(&w->parser, w->word, sizeof(w->word));
	w->ops = ops;
	w->graph = graph;
	w->exclude = exclude;
	w->array = array_of_filter(file, ops);
	w->modules = w->array ? function_modules() : NULL;
	w->tr = exclude ? NULL : w->array;
	if (file->f_flags & O_TRUNC) {
		if (w->modules)
			w->modules->clear(w->array, exclude);
		w->changed = true;
		return w;
	}
	mutex_lock(&ftrace_lock);
	ret = ftrace_set_copy(&w->set, writer_target(w));
	mutex_unlock(&ftrace_lock);
	if (!ret)
		return w;
	kfree(w);
	return ERR_PTR(ret);
}

/*
 * Puts the changed copy in force; w->set gets the old set, which the caller frees. A filter with nothing but modules
 * that are not loaded must not mean "all functions" (ftrace_set_wait), nor one whose module has come since it was
 * written. 0, -ENOMEM, or as ftrace_ops_replace_set(): then
 * the old set stays.
 */
static int writer_apply(struct filter_writer *w)
{
	int ret = 0;

	if (w->graph)
		return graph_filter_replace(w->graph, &w->set);
	mutex_lock(&ftrace_lock);
	if (w->modules)
		ret = w->modules->join(w->words, &w->set);
	if (!ret && w->modules && !w->exclude)
		ret = ftrace_set_wait(&w->set, w->modules->is_there(w->array, false, 0));
	if (!ret)
		ret = ftrace_ops_replace_set(w->ops, writer_target(w), &w->set);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/*
 * At close: a word that is still open is completed now, and silently dropped when it is wrong, as on Linux. Programs
 * hardly ever look at what close(2) returns, so a set that cannot be put in force is only reported in the log.
 */
static void writer_finish(struct file *file, struct filter_writer *w)
{
	const char *why = NULL;

	if (w->parser.cont) {
		mutex_lock(&event_mutex);
		process_word(w, &why);
		commit_commands();
		mutex_unlock(&event_mutex);
	}
	if (w->changed)
		tracefs_refused(file, NULL, "the new set of functions", writer_apply(w));
	if (w->modules)
		w->modules->end(&w->words);
	ftrace_set_clear(&w->set);
	kfree(w);
}

/*
 * Positions of what a file shows: the functions by their numbers, then the filters by module, then the commands. The
 * room for filters is fixed, so that a position means the same while they change.
 */
#define ROOM_FOR_MODULES (1U << 20)

/*
 * The first command that is listed at or behind *pos, which moves there. NULL: there is none. event_mutex held, as
 * commands change under it.
 */
static void *command_from(struct filter_writer *w, loff_t *pos)
{
	const struct function_commands *commands = function_commands();
	loff_t first = ftrace_nr_recs + ROOM_FOR_MODULES;

	if (!w->tr || !commands)
		return NULL;
	w->command = max(*pos, first) - first;
	if (!commands->from(w->tr, &w->command))
		return NULL;
	*pos = first + w->command;
	return w;
}

/* What is listed behind the last function: first a filter by module, then the commands. */
static void *behind_functions(struct filter_writer *w, loff_t *pos)
{
	loff_t n = *pos - ftrace_nr_recs;

	if (w->modules && n < ROOM_FOR_MODULES && w->modules->is_there(w->array, w->exclude, n)) {
		w->shown = n;
		return &w->modules;
	}
	return command_from(w, pos);
}

/*
 * Reading shows the set in force, not the copy. The pointer that is returned tells filter_show() what kind of line it
 * is: `m` for the line that says that there is no set, a site for a function, &w->modules for a filter by module, `w`
 * for a command.
 */
static void *filter_from(struct seq_file *m, loff_t *pos)
{
	struct filter_writer *w = m->private;
	struct ftrace_set *set = writer_target(w);

	ftrace_set_refresh(set);
	if (!set->count && !*pos)
		return m;
	if (*pos < ftrace_nr_recs)
		*pos = set->count ? find_next_bit(set->bits, ftrace_nr_recs, *pos) : ftrace_nr_recs;
	return *pos < ftrace_nr_recs ? &ftrace_recs[*pos] : behind_functions(w, pos);
}

/* Both locks are held for the whole of one read(2), in the order that writers of commands use. */
static void *filter_start(struct seq_file *m, loff_t *pos)
{
	mutex_lock(&event_mutex);
	mutex_lock(&ftrace_lock);
	return filter_from(m, pos);
}

static void filter_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&event_mutex);
}

static void *filter_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return filter_from(m, pos);
}

/* One line: a function, a module that is waited for, a command, or the text for an empty set. */
static int filter_show(struct seq_file *m, void *v)
{
	const struct filter_writer *w = m->private;

	if (v == w)
		function_commands()->show(m, w->tr, w->command);
	else if (v == &w->modules)
		w->modules->show(m, w->array, w->exclude, w->shown);
	else if (v != m)
		show_name(m, (struct dyn_ftrace *)v - ftrace_recs);
	else
		seq_puts(m, w->exclude ? "#### no functions disabled ####\n" : "#### all functions enabled ####\n");
	return 0;
}

static const struct seq_operations filter_seq_ops = {filter_start, filter_stop, filter_next, filter_show};

/* w is freed with the file, and here only if that cannot be read. */
int ftrace_filter_open(struct file *file, struct ftrace_ops *ops, bool exclude, struct graph_filter *graph)
{
	struct filter_writer *w = writer_alloc(file, ops, exclude, graph);
	int ret = 0;

	if (IS_ERR(w))
		return PTR_ERR(w);
	file->private_data = w;
	if (!(file->f_mode & FMODE_READ))
		return 0;
	ret = seq_open(file, &filter_seq_ops);
	if (ret) {
		ftrace_set_clear(&w->set);
		kfree(w);
		return ret;
	}
	((struct seq_file *)file->private_data)->private = w;
	return 0;
}

/* The last close puts the collected set in force. */
int ftrace_filter_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	if (!(file->f_mode & FMODE_READ)) {
		writer_finish(file, file->private_data);
		return 0;
	}
	writer_finish(file, m->private);
	return seq_release(inode, file);
}

FILTER_FILE(set_ftrace_filter, TRACEFS_ARRAY, tracefs_array(file)->ops, false, NULL);
FILTER_FILE(set_ftrace_notrace, TRACEFS_ARRAY, tracefs_array(file)->ops, true, NULL);
FILTER_FILE(set_graph_function, TRACEFS_TOP, NULL, false, &graph_functions);
FILTER_FILE(set_graph_notrace, TRACEFS_TOP, NULL, true, &graph_notrace);

/* ---- /proc/sys/kernel/ftrace_enabled */

static int ftrace_enabled_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", ftrace_enabled);
	return 0;
}

static int ftrace_enabled_store(char *text, void *data)
{
	int val, ret = kstrtoint(text, 10, &val);

	return ret ? ret : ftrace_set_enabled(val != 0);
}

static const struct text_file ftrace_enabled_proc = {
	.path = "sys/kernel/ftrace_enabled",
	.mode = 0644,
	.show = ftrace_enabled_show,
	.store = ftrace_enabled_store,
};
REGISTER_PROC(ftrace_enabled_proc);
