/*
 * trap: commands to run at signals and at the end.
 *
 * A handler only marks its signal. The action runs between two commands, in exec_node(), where the
 * state of the shell is whole; a command that is running is finished first, as POSIX wants it.
 */
#include "sh.h"

static char *actions[NSIG]; /* [0]: EXIT; NULL: default; "": ignored */
static volatile sig_atomic_t pending[NSIG], any_pending;

/*
 * Two writes to flags that only the main program clears. pending[] comes first: any_pending
 * promises that it is there.
 */
static void on_signal(int sig)
{
	pending[sig] = 1;
	any_pending = 1;
}

int trap_first_pending(void)
{
	for (int sig = 1; any_pending && sig < NSIG; sig++) {
		if (pending[sig])
			return sig;
	}
	return 0;
}

bool trap_is_set(void)
{
	for (int sig = 0; sig < NSIG; sig++) {
		if (actions[sig] && *actions[sig])
			return true;
	}
	return false;
}

bool trap_ignores(int sig)
{
	return actions[sig] && !*actions[sig];
}

/*
 * $? and a `break` or `return` on its way are as they were afterwards, unless the action itself leaves
 * something. The action is copied, because it may change the trap it is the action of.
 */
static void run_action(const char *action)
{
	struct arena_mark mark = arena_mark(&sh.temp);
	enum skip skip = sh.skip;
	int status = sh.status, *outer = sh.trap_status;

	sh.skip = SKIP_NONE;
	sh.trap_status = &status;
	exec_string(arena_copy(&sh.temp, action, strlen(action)));
	sh.trap_status = outer;
	if (sh.skip == SKIP_NONE)
		sh.skip = skip;
	sh.status = status;
	arena_release(&sh.temp, mark);
}

/*
 * any_pending is cleared before the signals are looked at: one that comes meanwhile sets it again.
 */
void trap_run_pending(void)
{
	while (any_pending) {
		any_pending = 0;
		for (int sig = 1; sig < NSIG; sig++) {
			if (!pending[sig])
				continue;
			pending[sig] = 0;
			if (actions[sig] && *actions[sig])
				run_action(actions[sig]);
		}
	}
}

void trap_run_exit(void)
{
	char *action = actions[0];
	int status = sh.status;

	actions[0] = NULL; /* exit within it ends the shell at once */
	sh.trap_status = &status;
	if (action && *action)
		exec_string(action);
	sh.status = status;
}

/* What a signal does that has no trap: an interactive shell is not killed by the terminal. */
static void set_default(int sig)
{
	struct sigaction act = {.sa_handler = SIG_DFL};

	if (sh.interactive && (sig == SIGINT || sig == SIGTERM || sig == SIGQUIT)) {
		job_init_signals();
		return;
	}
	if (sigaction(sig, &act, NULL) < 0)
		vt_warn_errno(vt_signal_name(sig) ? vt_signal_name(sig) : "trap");
}

/* POSIX: a subshell keeps ignored signals, and forgets actions: they are the parent's business. */
void trap_reset(void)
{
	for (int sig = 0; sig < NSIG; sig++) {
		if (!actions[sig] || (sig && !*actions[sig]))
			continue;
		free(actions[sig]);
		actions[sig] = NULL;
		if (sig)
			set_default(sig);
	}
}

/* action NULL: back to the default. */
static int trap_set(const char *name, const char *action)
{
	struct sigaction act = {.sa_handler = action && *action ? on_signal : SIG_IGN};
	int sig = !strcmp(name, "EXIT") ? 0 : vt_signal_number(name);

	if (sig < 0) {
		vt_warn("trap: %s: unknown signal", name);
		return 1;
	}
	free(actions[sig]);
	actions[sig] = action ? vt_strdup(action) : NULL;
	if (sig == 0)
		return 0;
	if (!action) {
		set_default(sig);
		return 0;
	}
	/* KILL and STOP, above all. */
	if (sigaction(sig, &act, NULL) < 0) {
		vt_warn("trap: %s: %s", name, strerror(errno));
		return 1;
	}
	return 0;
}

/* As it can be typed again. Real-time signals have no names, so they show as numbers. */
static void show_trap(int sig)
{
	const char *name = sig ? vt_signal_name(sig) : "EXIT";

	printf("trap -- ");
	print_quoted(actions[sig]);
	if (name)
		printf(" %s\n", name);
	else
		printf(" %d\n", sig);
}

/*
 * trap [--] [ACTION] SIGNAL... | trap. Without operands the traps are printed in a form that can be
 * read back.
 */
int builtin_trap(int argc, char **argv)
{
	const char *action;
	int status = 0;
	char **names = argv + 1;

	if (argc == 1) {
		for (int sig = 0; sig < NSIG; sig++) {
			if (actions[sig])
				show_trap(sig);
		}
		return 0;
	}
	if (!strcmp(*names, "--"))
		names++;
	/* A single name, or "-", goes back to the default. */
	action = names[0] && names[1] ? *names++ : NULL;
	if (action && !strcmp(action, "-"))
		action = NULL;
	for (; *names; names++)
		status |= trap_set(*names, action);
	return status;
}
