/*
 * What is wrong with a histogram's command: error_log gets Linux's words with a caret under the place, and the line in
 * the kernel log the same with the number of the column.
 */
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>

#include "tracefs/error_log.h"
#include "tracefs/refused.h"
#include "hist.h"

#define HIST_ERROR_TEXT(name, text) [HIST_ERR_##name] = (text),
static const char *const texts[] = {HIST_ERRORS(HIST_ERROR_TEXT)};

/* The last mistake, for the line in the log, which is made when the write is over. [event_mutex] */
static struct {
	const struct trace_event_file *file;
	const char *what; /* "": the filter, which the files of triggers explain for all of them */
	unsigned column;
	bool logged; /* error_log has it, too */
} last;

void hist_errors_begin(void)
{
	last.what = NULL;
}

/*
 * The column of a place in the command, which is in p->work. A parameter of an action is a copy, and is looked for from
 * the first action on. 0: it is not found.
 */
static unsigned column_of(const struct hist_parse *p, const char *at)
{
	size_t len = strlen(p->command);

	if (!at)
		return 0;
	if (at >= p->work && at <= p->work + len)
		return at - p->work;
	at = strstr(p->command + (p->nr_actions ? p->actions[0] - p->work : 0), at);
	return at ? at - p->command : 0;
}

int hist_note(const struct hist_parse *p, const char *what, const char *at)
{
	last.file = p->file;
	last.what = what;
	last.column = column_of(p, at);
	last.logged = false;
	return -EINVAL;
}

int hist_error(const struct hist_parse *p, enum hist_err err, const char *at)
{
	const struct trace_event_call *call = p->file->call;
	char where[96];

	hist_note(p, texts[err], at);
	last.logged = true;
	scnprintf(where, sizeof(where), "hist:%s:%s", call->class->system, call->name);
	tracing_log_err(p->file->tr, where, p->command, texts[err], last.column);
	return -EINVAL;
}

/* hist_error() has noted the reason; else it is that of the errno. For other errnos the caller has general words. */
void hist_explain(struct trace_refusal *r)
{
	if (r->error == ENOMEM)
		return;
	mutex_lock(&event_mutex);
	if (last.file == r->owner && last.what && !*last.what) {
		r->logged = true;
	} else if (last.file == r->owner && last.what) {
		r->quote(r, "", r->text, "");
		r->say(r, ", column %u: %s", last.column, last.what);
		r->logged = last.logged;
	} else if (r->error == EBUSY) {
		r->quote(r, "", r->text, "");
		r->say(r, ": another histogram reads its variables, and must go first");
	} else if (r->error == EINVAL) {
		r->say(r, "hist:keys=FIELD[,FIELD]...[:vals=FIELD[,FIELD]][:sort=FIELD[.descending]][:size=N]"
			  "[:VARIABLE=VALUE][:HANDLER.ACTION] [if FILTER]");
	}
	last.what = NULL;
	mutex_unlock(&event_mutex);
}
