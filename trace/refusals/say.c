/*
 * Explaining refused writes (tracefs/refused.h). The explanation is made when the write is over and nothing is locked,
 * so that a good write costs nothing. Where the reason depends on the state of that moment, the code that refuses gives
 * it along with the errno; what follows from the text alone, such as names that are close, is looked for here.
 *
 * A program that writes garbage in a loop must not flood the log: of each five seconds the first lines are printed,
 * and the next line afterwards says how many were not. error_log keeps the last eight anyway.
 */
#include <fs/vfs.h>
#include <kernel/printk.h>
#include <lib/char_width.h>
#include <lib/close_names.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/spinlock.h>

#include "core/tracer.h"
#include "tracefs/error_log.h"
#include "tracefs/tracefs.h"
#include "refusals.h"

#define LOG_PERIOD (5ULL * NSEC_PER_SEC)
#define LOG_BURST  10
#define QUOTED_MAX 60 /* characters of a user's text in a line */

DECLARE_TABLE(trace_hints, const struct trace_hint);

/* ---- Composing */

static void say_v(struct trace_refusal *r, const char *fmt, va_list args)
{
	r->len += vscnprintf(r->said + r->len, sizeof(r->said) - r->len, fmt, args);
}

void refusal_say(struct trace_refusal *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_v(r, fmt, args);
	va_end(args);
}

/*
 * Copy a text of a user, cut to `size` bytes with "..." at the end. A control character becomes '?', so that a terminal
 * that shows the log does not take it for a command. Names in any language stay as they are.
 */
static void quote(char *to, size_t size, const char *text)
{
	size_t n = 0, whole = 0, length = strlen(text);
	const char *from = text;

	while (*from) {
		unsigned shown = utf8_shown(from, length - (from - text)), bytes = shown ?: 1;

		if (n + bytes >= size)
			break;
		/* The last place behind which "..." still fits. */
		if (n + sizeof("...") <= size)
			whole = n;
		if (shown)
			memcpy(to + n, from, shown);
		else
			to[n] = '?';
		n += bytes;
		from += bytes;
	}
	to[n] = '\0';
	if (*from)
		strscpy(to + whole, "...", sizeof("..."));
}

void refusal_quote(struct trace_refusal *r, const char *before, const char *text, const char *after)
{
	char quoted[QUOTED_MAX];

	quote(quoted, sizeof(quoted), text);
	refusal_say(r, "%s'%s'%s", before, quoted, after);
}

void refusal_say_close(struct trace_refusal *r, const struct close_names *close)
{
	/* Next to a likely slip of the hand, names that are less likely meant only distract. */
	for (unsigned i = 0; i < close->nr && close->best[i].distance <= close->best[0].distance + 1; i++)
		refusal_say(r, "%s%s", i ? ", " : "; close: ", close->best[i].name);
}

static const struct trace_hint *find_hint(const char *subject)
{
	const struct trace_hint *hint;

	for_each_in_table(trace_hints, hint)
		if (!strcmp(hint->subject, subject))
			return hint;
	return NULL;
}

/* Without a hint the errno is all that is known. */
static void explain(struct trace_refusal *r, const struct trace_hint *hint)
{
	r->said[0] = '\0';
	r->len = 0;
	r->logged = false;
	r->say = refusal_say;
	r->quote = refusal_quote;
	if (r->why)
		refusal_say(r, "%s", r->why);
	else if (hint && hint->explain)
		hint->explain(r);
	if (r->len)
		return;
	refusal_quote(r, "", r->text, "");
	if (r->error == ENOMEM)
		refusal_say(r, ": not enough memory for it");
	else if (hint && hint->takes && (r->error == EINVAL || r->error == ERANGE))
		refusal_say(r, " is not %s", hint->takes);
	else
		refusal_say(r, ": %s", errno_text(r->error));
}

/* ---- Telling */

static DEFINE_SPINLOCK(log_lock);
static u64 log_begin;			/* [log_lock] of the five seconds */
static unsigned log_lines, log_dropped; /* [log_lock] in them */

/* May a line be printed now? *dropped: how many lines were not printed in the five seconds before. */
static bool log_allowed(unsigned *dropped)
{
	u64 now = sched_clock();
	unsigned long flags;
	bool allowed;

	*dropped = 0;
	spin_lock_irqsave(&log_lock, flags);
	if (!log_begin || now - log_begin > LOG_PERIOD) {
		*dropped = log_dropped;
		log_begin = now;
		log_lines = log_dropped = 0;
	}
	allowed = log_lines < LOG_BURST;
	if (allowed)
		log_lines++;
	else
		log_dropped++;
	spin_unlock_irqrestore(&log_lock, flags);
	return allowed;
}

/*
 * "current_tracer", "instances/a/trace_clock": as one types it in tracefs's root; cut in front when it does
 * not fit. Names in tracefs never change, and the open file holds its directories.
 */
static const char *place(const struct file *file, char *buf, size_t size)
{
	char *at = buf + size - 1;

	*at = '\0';
	for (const struct dentry *d = file->f_dentry; d->d_parent != d; d = d->d_parent) {
		size_t len = d->d_name.len, slash = *at != '\0';

		if (len + slash > (size_t)(at - buf))
			break;
		if (slash)
			*--at = '/';
		at -= len;
		memcpy(at, d->d_name.name, len);
	}
	return at;
}

static void log_line(const char *where, const char *what)
{
	unsigned dropped;

	if (!log_allowed(&dropped))
		return;
	if (dropped)
		pr_notice("tracing: %u more refused writes were not logged\n", dropped);
	pr_notice("%s: %s\n", where, what);
}

static struct trace_array *array_of(const struct file *file, const struct trace_hint *hint)
{
	return hint && hint->array_of ? hint->array_of(file->f_inode->i_private) : tracefs_array(file);
}

/* trace_explainer.write. Without memory for the explanation nothing is said. */
static void refused_write(const struct file *file, const char *subject, const char *text, const char *why, int err)
{
	struct trace_refusal *r = kmalloc(sizeof(*r), GFP_KERNEL);
	const struct trace_hint *hint = find_hint(subject);
	const char *where;
	char buf[96];

	if (!r)
		return;
	r->tr = array_of(file, hint);
	r->owner = file->f_inode->i_private;
	r->text = text;
	r->why = why;
	r->error = err;
	explain(r, hint);
	where = place(file, buf, sizeof(buf));
	if (!r->logged)
		tracing_log_err(r->tr, where, text, r->said, 0);
	log_line(where, r->said);
	kfree(r);
}

static void explain_only_written(struct trace_refusal *r)
{
	r->logged = true; /* nothing was written that error_log could show */
	refusal_say(r, "is only written, and cannot be read");
}
static const struct trace_hint only_written_hint = {.subject = ONLY_WRITTEN, .explain = explain_only_written};
REGISTER_TRACE_HINT(only_written_hint);

static void refused_name(const char *dir, const char *name, const char *what)
{
	char where[QUOTED_MAX + 16], quoted[QUOTED_MAX];

	quote(quoted, sizeof(quoted), name);
	scnprintf(where, sizeof(where), "%s/%s", dir, quoted);
	log_line(where, what);
}

static const char *refused_at_boot(struct trace_array *tr, const char *subject, void *owner, const char *text, int err)
{
	static struct trace_refusal why; /* [boot] */

	why = (struct trace_refusal){.tr = tr, .owner = owner, .text = text, .error = err};
	explain(&why, find_hint(subject));
	return why.said;
}

static const struct trace_explainer refusals = {.write = refused_write, .name = refused_name, .boot = refused_at_boot};
REGISTER_TRACE_EXPLAINER(refusals);
