/*
 * A write to a control file that is refused says why, and what would be right: in the array's error_log, and
 * in one line of the kernel log. A file describes what it takes by a hint, which stands beside the file's own
 * operations or in trace/refusals; the same hints explain what the kernel command line asked for in vain.
 *
 * The room trace/refusals makes the explanations. A kernel without it returns the same errors, and error_log has
 * Linux's own words alone.
 */
#pragma once

#include <lib/printf.h>
#include <lib/types.h>

struct file;
struct trace_array;

#define TRACE_SAID_MAX 400

/* One refused text. The owner's alone. */
struct trace_refusal {
	struct trace_array *tr;
	void *owner;	  /* the inode's i_private; NULL at boot */
	const char *text; /* what was refused; empty where that cannot be shown */
	const char *why;  /* the reason, from the code that has refused; NULL: explain() finds it by the text */
	int error;	  /* the errno, above 0 */
	bool logged;	  /* explain() sets it: error_log has Linux's own words already, or must have no line */
	/* For explain(). All of it is cut to what fits. */
	void (*say)(struct trace_refusal *r, const char *fmt, ...) __printf(2, 3);
	/* A text of a user in quotation marks, cut to what is readable, without control characters. */
	void (*quote)(struct trace_refusal *r, const char *before, const char *text, const char *after);
	size_t len;
	char said[TRACE_SAID_MAX]; /* the explanation so far */
};

/* What a control file takes. Immutable. */
struct trace_hint {
	const char *subject; /* the file's name, or what its code calls tracefs_refused() with */
	/* Said after "'x' is not": "a number of KiB, 1 or more". NULL: `explain` says all. */
	const char *takes;
	/*
	 * NULL, or says what is wrong with this text; when it has said nothing, what the file takes is said. It is
	 * asked when the code that has refused gave no reason, and says only what follows from the text and the errno
	 * alone. Thread context, no lock held, for the write itself is over.
	 */
	void (*explain)(struct trace_refusal *r);
	struct trace_array *(*array_of)(void *owner); /* NULL: the owner is what tracefs_array() knows */
};
#define REGISTER_TRACE_HINT(h) REGISTER_IN(trace_hints, h)
/* The common one. */
#define TRACEFS_TAKES(id, filename, what)                                                \
	static const struct trace_hint id##_hint = {.subject = filename, .takes = what}; \
	REGISTER_TRACE_HINT(id##_hint)

/* The room that makes explanations; one at most. Its functions are called as those below say. err: above 0. */
struct trace_explainer {
	void (*write)(const struct file *file, const char *subject, const char *text, const char *why, int err);
	void (*name)(const char *dir, const char *name, const char *what);
	const char *(*boot)(struct trace_array *tr, const char *subject, void *owner, const char *text, int err);
};
#define REGISTER_TRACE_EXPLAINER(e) REGISTER_IN(trace_explainers, e)

/*
 * `ret` is what the write will return: when that is an error about the text, it is explained by `why`, or else (NULL)
 * by the hint of the subject (NULL: the file's name). Returns ret. Thread context, no lock held; takes a mutex and a
 * spinlock of its own, and what the hint takes.
 */
ssize_t tracefs_refused_why(const struct file *file, const char *subject, const char *text, const char *why,
			    ssize_t ret);
static inline ssize_t tracefs_refused(const struct file *file, const char *subject, const char *text, ssize_t ret)
{
	return tracefs_refused_why(file, subject, text, NULL, ret);
}
/* The same for a text file (struct text_kind): its hint is the subject. */
ssize_t tracefs_text_refused(const struct file *file, const char *text, const char *why, ssize_t ret);
/* The same for a directory of an array that could not be made or removed: "instances/a". Only in the log. */
void tracefs_refused_name(const char *dir, const char *name, const char *what);
/*
 * For the boot: what a file of the top array with this subject would say. In a buffer that lasts until the next call.
 */
const char *trace_boot_why(struct trace_array *tr, const char *subject, const char *text, int ret);
/* The same for a file that belongs to `owner`. */
const char *trace_boot_why_of(struct trace_array *tr, const char *subject, void *owner, const char *text, int ret);
/* The `read` of a file that is only written: -EINVAL, and says so. */
#define ONLY_WRITTEN "only written" /* the subject */
ssize_t tracefs_only_written(struct file *file, char __user *buf, size_t n, loff_t *pos);
