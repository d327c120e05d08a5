/*
 * Events to try out filters and triggers with: those of <trace/events/lab.h> happen when "STEP TEXT" is written to
 * debugfs's lab/step. A person enters room STEP, which has as many lights as TEXT has characters, modulo four, and
 * leaves it. So the text that is written chooses the values of all fields.
 *
 * CREATE_TRACE_POINTS stands in one .c file for each system of events: there the header becomes the tracepoints and the
 * code of their probes, and everywhere else only declarations.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>

#define CREATE_TRACE_POINTS
#include <trace/events/lab.h>

/* lab_enter_dark is an event with a condition of its own (TRACE_EVENT_CONDITION): it happens when no light is on. */
static noinline void lab_step(int step, const char *what)
{
	unsigned lights = strlen(what) % 4;

	trace_lab_step(step, what);
	trace_lab_enter(step, lights);
	trace_lab_enter_dark(step, lights);
	trace_lab_bytes((const unsigned char *)what, strlen(what));
	trace_lab_leave(step, lights);
}

/* TEXT may be missing. -EINVAL: STEP is no number. */
static int step_store(char *text, void *data)
{
	char *what = text;
	int step, ret = kstrtoint(strsep(&what, " "), 10, &step);

	if (ret)
		return ret;
	lab_step(step, what ?: "");
	return 0;
}

static const struct text_file step_file = {.path = "lab/step", .mode = 0200, .store = step_store};
REGISTER_DEBUGFS(step_file);
