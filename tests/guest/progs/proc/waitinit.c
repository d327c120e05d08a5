/*
 * waitinit: a first program that collects its signals by sigwaitinfo, as busybox's does, and leaves their
 * actions at the default. To be run as init=; it powers the machine off when SIGTERM has come.
 */
#include <check.h>
#include <numbers.h>
#include <sched.h>
#include <signal.h>
#include <sys/reboot.h>

#define BIT_OF(sig) (1UL << ((sig)-1))

static const sigset_t collected = BIT_OF(SIGUSR1) | BIT_OF(SIGTERM);

/* The next one of `set`, waiting for it at most so long; -1 with errno. */
static long collect(sigset_t set, long seconds)
{
	struct timespec span = {seconds, 0};

	return check_syscall(SYS_rt_sigtimedwait, (long)&set, 0, (long)&span, sizeof(set), 0, 0);
}

static void send(int sig)
{
	CHECK_CALL(kill(1, sig));
}

/* What is neither blocked nor handled does nothing to init; what is blocked stays. */
static void send_all(void)
{
	send(SIGKILL);
	send(SIGUSR2);
	send(SIGHUP);
	send(SIGUSR1);
	send(SIGTERM);
}

static void send_usr1(void)
{
	send(SIGUSR1);
}

static int hangups;

static void on_hangup(int sig)
{
	hangups++;
}

/* Each signal has its own action: that of SIGHUP counts for SIGHUP and for no neighbour. */
static void handled(void)
{
	struct sigaction act = {.sa_handler = on_hangup};

	CHECK_CALL(sigaction(SIGHUP, &act, NULL));
	send(SIGINT);
	CHECK_EQ(hangups, 0);
	send(SIGHUP);
	CHECK_EQ(hangups, 1);
}

int main(void)
{
	sigset_t old, pending = 0;
	pid_t pid;

	CHECK_EQ(getpid(), 1);
	CHECK_CALL(sigprocmask(SIG_BLOCK, &collected, &old));
	CHECK_EQ(check_in_child(send_all), 0);
	CHECK_CALL(check_syscall(SYS_rt_sigpending, (long)&pending, sizeof(pending), 0, 0, 0, 0));
	CHECK_EQ(pending, collected);
	CHECK_EQ(collect(collected, 0), SIGUSR1);
	/* Unblocked with the default action it does nothing either. */
	CHECK_CALL(sigprocmask(SIG_SETMASK, &old, NULL));
	CHECK_CALL(sigprocmask(SIG_BLOCK, &collected, &old));
	CHECK_ERRNO(collect(collected | BIT_OF(SIGUSR2), 0), EAGAIN);
	/* One that comes before or while init waits for it. */
	pid = check_fork();
	if (pid == 0) {
		send_usr1();
		_exit(check_failures);
	}
	CHECK_EQ(collect(collected, 30), SIGUSR1);
	CHECK_EQ(check_wait(pid), 0);
	handled();
	/* A sibling of init would have no parent to wait for it. */
	CHECK_ERRNO(check_syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0, 0), EINVAL);
	send(SIGTERM);
	CHECK_EQ(collect(collected, 0), SIGTERM);
	printf("waitinit: %d checks failed\n", check_failures);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 1;
}
