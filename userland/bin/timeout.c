/*
 * timeout [-s SIGNAL] SECONDS COMMAND [ARG...]: run a command and end it when it takes too long.
 *
 * Statuses: the command's own; 124 when its time was up; 125 when timeout itself failed; 126 and 127
 * as the shell has them. Left out: -k (a second signal) and --foreground.
 */
#include <vt.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/*
 * Wait until pid has ended or `ns` have passed. Returns true with *status when it has ended. SIGCHLD
 * must be blocked: an end between the look (waitpid) and the wait (sigtimedwait) then stays pending
 * and ends the wait at once; otherwise it would be lost, and the wait would last its whole time.
 */
static bool ended_within(pid_t pid, int64_t ns, int *status)
{
	const sigset_t child = 1UL << (SIGCHLD - 1);
	struct timespec begin, now, left;

	if (clock_gettime(CLOCK_MONOTONIC, &begin) < 0)
		vt_die_errno(125, "clock");
	while (waitpid(pid, status, WNOHANG) != pid) {
		if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
			vt_die_errno(125, "clock");
		int64_t rest = ns - vt_elapsed(&begin, &now) * 1000;

		if (rest <= 0)
			return false;
		left = (struct timespec){rest / 1000000000, rest % 1000000000};
		/* A signal, time up, or a child that was only stopped: look again. */
		if (sigtimedwait(&child, NULL, &left) < 0 && errno != EAGAIN && errno != EINTR)
			vt_die_errno(125, "sigtimedwait");
	}
	return true;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "timeout [-s SIGNAL] SECONDS COMMAND [ARG...]",
			       .options = "s:",
			       .in_order = true,
			       .bad_status = 125};
	const sigset_t child = 1UL << (SIGCHLD - 1);
	int sig = SIGTERM, status;
	sigset_t old;
	int64_t ns;
	pid_t pid;

	while (vt_option(&o, argc, argv) != -1) {
		sig = vt_signal_number(o.arg);
		if (sig < 0)
			vt_die(125, "invalid signal '%s'", o.arg);
	}
	if (argc - o.index < 2)
		vt_usage(&o);
	if (vt_seconds(argv[o.index], &ns) < 0)
		vt_die(125, "invalid time interval '%s'", argv[o.index]);
	if (sigprocmask(SIG_BLOCK, &child, &old) < 0 || (pid = fork()) < 0)
		vt_die_errno(125, "fork");
	if (pid == 0) {
		if (sigprocmask(SIG_SETMASK, &old, NULL) < 0)
			vt_die_errno(125, "sigprocmask");
		vt_exec(argv + o.index + 1);
	}
	/* No time at all means no limit, as with the original. */
	if (ns == 0 ? waitpid(pid, &status, 0) == pid : ended_within(pid, ns, &status))
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	/* SIGCONT as well: a command that is stopped would not see the signal before it goes on. */
	if (kill(pid, sig) < 0 || kill(pid, SIGCONT) < 0 || waitpid(pid, &status, 0) < 0)
		vt_die_errno(125, "kill");
	return 124;
}
