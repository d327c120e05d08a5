/*
 * Names and texts of signals.
 *
 * The texts are those of strsignal(), which shells print when a process dies.
 *
 * The numbers are Linux's for both machines. A process that dies of a signal has the exit status 128
 * and the signal's number in the shell.
 */
#include <vt.h>
#include <signal.h>
#include <strings.h>

static const struct {
	const char *name, *text;
} signals[] = {
	[SIGHUP] = {"HUP", "Hangup"},
	[SIGINT] = {"INT", "Interrupt"},
	[SIGQUIT] = {"QUIT", "Quit"},
	[SIGILL] = {"ILL", "Illegal instruction"},
	[SIGTRAP] = {"TRAP", "Trace/breakpoint trap"},
	[SIGABRT] = {"ABRT", "Aborted"},
	[SIGBUS] = {"BUS", "Bus error"},
	[SIGFPE] = {"FPE", "Floating point exception"},
	[SIGKILL] = {"KILL", "Killed"},
	[SIGUSR1] = {"USR1", "User defined signal 1"},
	[SIGSEGV] = {"SEGV", "Segmentation fault"},
	[SIGUSR2] = {"USR2", "User defined signal 2"},
	[SIGPIPE] = {"PIPE", "Broken pipe"},
	[SIGALRM] = {"ALRM", "Alarm clock"},
	[SIGTERM] = {"TERM", "Terminated"},
	[SIGSTKFLT] = {"STKFLT", "Stack fault"},
	[SIGCHLD] = {"CHLD", "Child exited"},
	[SIGCONT] = {"CONT", "Continued"},
	[SIGSTOP] = {"STOP", "Stopped (signal)"},
	[SIGTSTP] = {"TSTP", "Stopped"},
	[SIGTTIN] = {"TTIN", "Stopped (tty input)"},
	[SIGTTOU] = {"TTOU", "Stopped (tty output)"},
	[SIGURG] = {"URG", "Urgent I/O condition"},
	[SIGXCPU] = {"XCPU", "CPU time limit exceeded"},
	[SIGXFSZ] = {"XFSZ", "File size limit exceeded"},
	[SIGVTALRM] = {"VTALRM", "Virtual timer expired"},
	[SIGPROF] = {"PROF", "Profiling timer expired"},
	[SIGWINCH] = {"WINCH", "Window changed"},
	[SIGIO] = {"IO", "I/O possible"},
	[SIGPWR] = {"PWR", "Power failure"},
	[SIGSYS] = {"SYS", "Bad system call"},
};

const char *vt_signal_name(int sig)
{
	return sig > 0 && sig < (int)ARRAY_SIZE(signals) ? signals[sig].name : NULL;
}

/* A number without a name gets a text in a buffer that the next call overwrites. */
const char *vt_signal_text(int sig)
{
	static char other[24];

	if (vt_signal_name(sig))
		return signals[sig].text;
	sprintf(other, "Signal %d", sig);
	return other;
}

/*
 * "9", "KILL", "SIGKILL", "kill": all are taken. Any number below NSIG will do, since the real-time
 * signals have no names here. 0 is no signal: kill() with it only asks whether the process exists.
 */
int vt_signal_number(const char *text)
{
	long n;

	if (vt_number(text, 0, NSIG - 1, &n) == 0)
		return (int)n;
	if (!strncasecmp(text, "SIG", 3))
		text += 3;
	for (int sig = 1; sig < (int)ARRAY_SIZE(signals); sig++) {
		if (!strcasecmp(text, signals[sig].name))
			return sig;
	}
	return -1;
}
