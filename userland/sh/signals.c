/*
 * Signals of the shell and of what it starts: which process gets which signal, and a fork() that no
 * signal interrupts.
 *
 *                      shell at a prompt     foreground job      background job without job control
 *     SIGINT (^C)      marks, no end         ends it             ignored
 *     SIGQUIT          ignored               ends it             ignored
 *     SIGTSTP (^Z)     ignored               stops it            stops it
 *
 * An ignored signal stays ignored over exec, which is why a child sets them back before it runs a
 * program; a handler does not survive exec.
 */
#include "sh.h"
#include <poll.h>

/*
 * All that a handler may do: the main program may be in the middle of malloc() or of a list, so
 * nothing else is safe. The mark is looked at between commands and after interrupted calls.
 */
static void on_interrupt(int sig)
{
	sh.interrupted = 1;
}

/* Without SA_RESTART: read() and waitpid() are to come back with EINTR. */
void job_set_signal(int sig, sighandler_t handler)
{
	struct sigaction act = {.sa_handler = handler};

	if (sigaction(sig, &act, NULL) < 0)
		vt_warn_errno("sigaction");
}

/*
 * POSIX: an interactive shell is not ended by SIGTERM or SIGQUIT, and SIGINT only ends the command
 * line.
 */
void job_init_signals(void)
{
	job_set_signal(SIGINT, on_interrupt);
	job_set_signal(SIGQUIT, SIG_IGN);
	job_set_signal(SIGTERM, SIG_IGN);
}

/*
 * Signals as a program expects them. Those that `trap ''` ignores stay ignored: POSIX hands them
 * down. Without job control ^C reaches background jobs as well, which must not be ended by it.
 */
void job_child_signals(bool background, bool own_group)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU};

	for (size_t i = 0; sh.interactive && i < ARRAY_SIZE(signals); i++) {
		if (!trap_ignores(signals[i]))
			job_set_signal(signals[i], SIG_DFL);
	}
	if (background && !own_group) {
		job_set_signal(SIGINT, SIG_IGN);
		job_set_signal(SIGQUIT, SIG_IGN);
	}
}

static sigset_t mask_before_fork;

/*
 * Until the child has put its handlers back it is still the shell: a ^C in that moment would run the
 * shell's handler in the child, set a mark there that nobody looks at, and be lost. So all signals are
 * blocked around fork(), and they wait until job_unblock_child(). Returns as fork().
 */
pid_t job_fork_blocked(void)
{
	const sigset_t all = ~(sigset_t)0;
	pid_t pid;
	int err;

	sigprocmask(SIG_SETMASK, &all, &mask_before_fork);
	pid = fork();
	err = errno;
	if (pid != 0)
		sigprocmask(SIG_SETMASK, &mask_before_fork, NULL);
	errno = err;
	return pid;
}

void job_unblock_child(void)
{
	sigprocmask(SIG_SETMASK, &mask_before_fork, NULL);
}

static sigset_t mask_before_wait;
static struct sigaction child_before_wait;

/* A signal without a handler would not end job_sleep(). */
static void on_child(int sig)
{
}

void job_hold_signals(void)
{
	const sigset_t all = ~(sigset_t)0;

	sigprocmask(SIG_SETMASK, &all, &mask_before_wait);
	sigaction(SIGCHLD, NULL, &child_before_wait);
	if (child_before_wait.sa_handler == SIG_DFL || child_before_wait.sa_handler == SIG_IGN)
		job_set_signal(SIGCHLD, on_child);
}

void job_sleep(void)
{
	ppoll(NULL, 0, NULL, &mask_before_wait);
}

void job_release_signals(void)
{
	sigaction(SIGCHLD, &child_before_wait, NULL);
	sigprocmask(SIG_SETMASK, &mask_before_wait, NULL);
}

void job_default_signals(void)
{
	job_child_signals(false, true);
}
