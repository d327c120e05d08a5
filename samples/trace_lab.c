/*
 * The events of <trace/events/lab.h> happen when somebody writes to debugfs's lab/step: "STEP TEXT". A person enters
 * room STEP, which has as many lights as TEXT has characters, modulo four, and leaves it.
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>

#define CREATE_TRACE_POINTS
#include <trace/events/lab.h>

static noinline void lab_step(int step, const char *what)
{
	unsigned lights = strlen(what) % 4;

	trace_lab_step(step, what);
	trace_lab_enter(step, lights);
	trace_lab_enter_dark(step, lights);
	trace_lab_bytes((const unsigned char *)what, strlen(what));
	trace_lab_leave(step, lights);
}

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
