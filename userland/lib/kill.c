/*
 * kill: send a signal, or list them. Shared by the program and the shell, which has turned %1 into
 * a process group by then.
 */
#include <vt.h>
#include <limits.h>
#include <signal.h>

#define KILL_USAGE "kill [-SIGNAL | -s SIGNAL] PID... | kill -l [SIGNAL...]"

/*
 * kill -l: all names, or the name of each number and the number of each name. A number may be an exit status: 130
 * is a process that died of signal 2, hence the mask of 127.
 */
static int kill_list(char **args)
{
	long n;

	if (!*args) {
		for (int sig = 1; vt_signal_name(sig); sig++)
			printf("%2d) SIG%s%s", sig, vt_signal_name(sig), sig % 6 == 0 ? "\n" : "\t");
		printf("\n");
	}
	for (; *args; args++) {
		bool number = vt_number(*args, 0, INT_MAX, &n) == 0;

		if (number ? !vt_signal_name((int)n & 127) : vt_signal_number(*args) < 0) {
			vt_warn("unknown signal '%s'", *args);
			return 1;
		}
		if (number)
			printf("%s\n", vt_signal_name((int)n & 127));
		else
			printf("%d\n", vt_signal_number(*args));
	}
	return 0;
}

/*
 * Returns 0, or 1 after a message for each that failed. Negative numbers are process groups, -1 is
 * everybody.
 */
static int kill_each(char **args, int sig)
{
	int status = 0;
	long pid;

	for (; *args; args++) {
		if (vt_number(*args, INT_MIN, INT_MAX, &pid)) {
			vt_warn("invalid process id '%s'", *args);
			status = 1;
		} else if (kill((pid_t)pid, sig) < 0) {
			/* The shell, which has kill built in, says which of its commands this was. */
			vt_warn("%s(%ld): %s", strcmp(vt_name, "kill") ? "kill: " : "", pid, strerror(errno));
			status = 1;
		}
	}
	return status;
}

/*
 * Options are taken by hand: "-9" is a signal here, and after it or after "--" a number may be
 * negative.
 */
int vt_kill(int argc, char **argv)
{
	char **args = argv + 1;
	const char *name = NULL;
	int sig = SIGTERM;

	if (*args && !strcmp(*args, "--help")) {
		printf("Usage: %s\n", KILL_USAGE);
		return 0;
	}
	if (*args && !strcmp(*args, "-l"))
		return kill_list(args + 1);
	if (*args && !strcmp(*args, "-s")) {
		name = args[1];
		args += name ? 2 : 1;
	} else if (*args && (*args)[0] == '-' && (*args)[1] && (*args)[1] != '-') {
		name = *args++ + 1;
	}
	if (name && (sig = vt_signal_number(name)) < 0) {
		vt_warn("unknown signal '%s'", name);
		return 1;
	}
	if (*args && !strcmp(*args, "--"))
		args++;
	if (!*args) {
		vt_warn("Usage: %s", KILL_USAGE);
		return 2;
	}
	return kill_each(args, sig);
}
