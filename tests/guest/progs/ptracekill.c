/*
 * ptracekill: what comes between a debugger's step and its tracee's: a SIGKILL, or the end of the debugger. All tasks
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

static const struct check_case cases[] = {
	{"dies_after_the_request", dies_after_the_request},
	{"dies_on_its_way", dies_on_its_way},
};

int main(int argc, char **argv)
{
	check_seconds = 30;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
