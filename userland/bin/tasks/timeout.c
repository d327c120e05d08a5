/*
 * timeout [-s SIGNAL] [-k SECONDS] SECONDS COMMAND [ARG...]: run a command and end it when it takes too long.
 *
 * The signal also goes to what the command has started: timeout makes a process group of its own, and both are in it.
 * Where an interactive shell has made it the first of its job, the group is the shell's, with the other commands of the
 * pipeline in it: then only the command gets the signal. -k: SIGKILL follows after so long. A signal that would end
 * timeout is handed on.
 *
 * Statuses: the command's own; 124 when its time was up, or 137 when SIGKILL was sent then; 125 when timeout itself
 * failed; 126 and 127 as the shell has them. Left out: --foreground.
 */
#include <vt.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define NO_LIMIT INT64_MAX

/* Those that timeout waits for: the command's end, and what it hands on. */
static const sigset_t watched =
	1UL << (SIGCHLD - 1) | 1UL << (SIGTERM - 1) | 1UL << (SIGINT - 1) | 1UL << (SIGHUP - 1) | 1UL << (SIGQUIT - 1);

static struct timespec clock_now(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		vt_die_errno(125, "clock");
	return now;
}

/*
 * Wait until pid has ended (returns 0, with *status), `ns` since `begin` have passed (SIGALRM), or a signal has come
 * that is to be handed on. All of `watched` must be blocked: an end between the look (waitpid) and the wait
 * (sigtimedwait) then stays pending and ends the wait at once; otherwise it would be lost, and the wait would last its
 * whole time.
 */
static int wait_for(pid_t pid, const struct timespec *begin, int64_t ns, int *status)
{
	int sig;

	while (waitpid(pid, status, WNOHANG) != pid) {
		struct timespec now = clock_now(), left;
		int64_t rest = ns - vt_elapsed(begin, &now) * 1000;

		if (rest <= 0)
			return SIGALRM;
		left = (struct timespec){rest / 1000000000, rest % 1000000000};
		sig = sigtimedwait(&watched, NULL, &left);
		if (sig > 0 && sig != SIGCHLD)
			return sig;
		/* Another signal, time up, or a child that was only stopped: look again. */
		if (sig < 0 && errno != EAGAIN && errno != EINTR)
			vt_die_errno(125, "sigtimedwait");
	}
	return 0;
}

/* To the command and, in a group of our own, to all that it has started; SIGCONT lets a stopped one see the signal. */
static void send(pid_t pid, bool own_group, int sig)
{
	/* It may have ended meanwhile; the rest of its group has not. */
	kill(pid, sig);
	if (own_group) {
		signal(sig, SIG_IGN);
		kill(0, sig);
	}
	kill(own_group ? 0 : pid, SIGCONT);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "timeout [-s SIGNAL] [-k SECONDS] SECONDS COMMAND [ARG...]",
			       .options = "s:k:",
			       .in_order = true,
			       .bad_status = 125};
	bool own_group, timed_out = false, killed = false;
	int end_by = SIGTERM, sig, status, c;
	int64_t ns, kill_after = 0;
	struct timespec begin;
	sigset_t old;
	pid_t pid;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'k' && vt_seconds(o.arg, &kill_after) < 0)
			vt_die(125, "invalid time interval '%s'", o.arg);
		if (c == 's' && (end_by = vt_signal_number(o.arg)) < 0)
			vt_die(125, "invalid signal '%s'", o.arg);
	}
	if (argc - o.index < 2)
		vt_usage(&o);
	if (vt_seconds(argv[o.index], &ns) < 0)
		vt_die(125, "invalid time interval '%s'", argv[o.index]);
	own_group = getpgrp() != getpid() && setpgid(0, 0) == 0;
	if (sigprocmask(SIG_BLOCK, &watched, &old) < 0 || (pid = fork()) < 0)
		vt_die_errno(125, "fork");
	if (pid == 0) {
		if (sigprocmask(SIG_SETMASK, &old, NULL) < 0)
			vt_die_errno(125, "sigprocmask");
		vt_exec(argv + o.index + 1);
	}
	begin = clock_now();
	/* No time at all means no limit, as with the original. */
	for (ns = ns ? ns : NO_LIMIT; (sig = wait_for(pid, &begin, ns, &status));) {
		/* ^C and ^\\ of the terminal have reached all of the shell's group. */
		if (sig != SIGALRM && (own_group || (sig != SIGINT && sig != SIGQUIT)))
			send(pid, own_group, sig);
		if (sig != SIGALRM)
			continue;
		timed_out = true;
		killed |= end_by == SIGKILL;
		/* SIGKILL would end timeout with its group before it has told the status. */
		send(pid, own_group && !killed, end_by);
		begin = clock_now();
		ns = kill_after && !killed ? kill_after : NO_LIMIT;
		end_by = SIGKILL;
	}
	if (timed_out)
		return killed ? 128 + SIGKILL : 124;
	/* A shell in whose loop this stands has to see that ^C has ended it. */
	if (WIFSIGNALED(status) && watched >> (WTERMSIG(status) - 1) & 1) {
		signal(WTERMSIG(status), SIG_DFL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		kill(getpid(), WTERMSIG(status));
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
