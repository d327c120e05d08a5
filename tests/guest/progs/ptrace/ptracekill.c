/*
 * ptracekill: what comes between a debugger's step and its tracee's: a SIGKILL, or the end of the debugger. Most tasks
 * share a CPU, and real-time priorities say in which order they run.
 */
/* also on Linux */
#include <sched.h>
#include <thread.h>
#include <tracee.h>

enum { KILLER = 1, DEBUGGER = 10 }; /* priorities. The tracee has none, so it runs last */

static volatile long word = 0x1122334455667788;

static void take_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	CHECK_CALL(sched_setscheduler(0, SCHED_FIFO, &param));
}

/* A task that kills `victim` when it gets a byte: behind whoever gives that, and before the tracee. */
static pid_t killer(pid_t victim, int *give)
{
	int ends[2];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	*give = ends[1];
	pid = check_fork();
	if (pid == 0) {
		take_priority(KILLER);
		check_take(ends[0]);
		kill(victim, SIGKILL);
		_exit(0);
	}
	process_gets(pid, 'S');
	return pid;
}

static void raises(void)
{
	raise(SIGUSR1);
}

/*
 * The news of the stop wakes the debugger, which takes the CPU before the tracee sleeps. Its request then waits for the
 * tracee, and meanwhile the SIGKILL comes. The tracee must stand still for the request all the same.
 */
static void dies_after_the_request(void)
{
	unsigned long w = 0;
	pid_t pid, end;
	int give;

	check_pin(0);
	pid = tracee(raises, 0);
	end = killer(pid, &give);
	take_priority(DEBUGGER);
	go_on(pid, 0);
	CHECK_EQ(news(pid), STOP(SIGUSR1));
	check_give(give, 1);
	CHECK_EQ(pt(PT_PEEK, pid, (unsigned long)&word, (unsigned long)&w), 0);
	CHECK_EQ(w, word);
	CHECK_EQ(news(pid), SIGKILL);
	CHECK_EQ(check_wait(end), 0);
}

/* PTRACE_ATTACH waits for a stopped task to stop once more, which this one does not live to do. */
static void dies_on_its_way(void)
{
	int status, give;
	pid_t pid, end;

	check_pin(0);
	pid = sleeper();
	CHECK_CALL(kill(pid, SIGSTOP));
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	end = killer(pid, &give);
	take_priority(DEBUGGER);
	check_give(give, 1);
	CHECK_CALL(pt(PT_ATTACH, pid, 0, 0));
	CHECK_EQ(news(pid), SIGKILL);
	CHECK_EQ(check_wait(end), 0);
}

/* ---- A debugger that goes before its tracee runs */

static int child_may_end[2];

/* CLONE_VFORK and CLONE_VM, on this very stack: so the calls must be inline. The thread does not stop meanwhile. */
static void vforks(void *arg)
{
	char byte;

	if (vt_syscall(SYS_clone, 0x4100 | SIGCHLD, 0, 0, 0, 0, 0) == 0) {
		vt_syscall(SYS_read, child_may_end[0], (long)&byte, 1, 0, 0, 0);
		vt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
	}
	for (;;)
		vt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/*
 * The first thread of a process has stopped, and the second one is still to come. A debugger seizes the first thread
 * and is killed before that one has run. When the second thread stops, the parent must hear of the stop.
 */
static void debugger_comes_and_goes(void)
{
	int ready[2], give, status;
	pid_t pid, debugger;

	check_pin(0);
	CHECK_CALL(pipe(child_may_end));
	CHECK_CALL(pipe(ready));
	pid = check_fork();
	if (pid == 0) {
		pid_t thread = thread_start_in_group(vforks, NULL);

		thread_gets(getpid(), thread, 'D');
		check_give(ready[1], 1);
		sleep_on();
	}
	check_take(ready[0]);
	CHECK_CALL(kill(pid, SIGSTOP));
	process_gets(pid, 'T');
	debugger = check_fork();
	if (debugger == 0) {
		killer(getpid(), &give);
		take_priority(DEBUGGER);
		check_give(give, 1);
		pt(PT_SEIZE, pid, 0, 0);
		_exit(0);
	}
	CHECK_EQ(check_wait(debugger), SIGKILL);
	process_gets(pid, 'T');
	CHECK_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	check_give(child_may_end[1], 1);
	CHECK_EQ(news_of(pid, &status, WUNTRACED), pid);
	CHECK_EQ(status, STOP(SIGSTOP));
	finish(pid);
}

/* A task that SIGKILL ends stops for this event all the same. */
static void exit_event_of_killed(void)
{
	pid_t pid = tracee(sleep_on, OPT(EV_EXIT));

	go_on(pid, 0);
	process_gets(pid, 'S');
	CHECK_CALL(kill(pid, SIGKILL));
	CHECK_EQ(news(pid), EVENT(SIGTRAP, EV_EXIT));
	CHECK_EQ(message(pid), SIGKILL);
	CHECK(get_regs(pid).r[REG_PC] != 0);
	go_on(pid, 0);
	CHECK_EQ(news(pid), SIGKILL);
}

static const struct check_case cases[] = {
	{"dies_after_the_request", dies_after_the_request},
	{"dies_on_its_way", dies_on_its_way},
	{"debugger_comes_and_goes", debugger_comes_and_goes},
	{"exit_event_of_killed", exit_event_of_killed},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
