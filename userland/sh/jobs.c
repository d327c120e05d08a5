/*
 * Jobs: processes that were started together, waited for, stopped and continued together.
 *
 * With job control each job is a process group, and the terminal belongs to one group at a time: ^C
 * and ^Z reach that one, and reading by any other stops it (SIGTTIN). Without it (scripts,
 * subshells) everything stays in the shell's group, and jobs are only what `wait` asks about.
 *
 * There is no handler for SIGCHLD: changes of state are taken by waitpid() when the shell waits
 * anyway, before a prompt, and when a job is put into the background. So nothing here is touched
 * from a handler and no signal needs to be blocked. A child that ends in between is a zombie for
 * that long.
 */
#include "sh.h"
#include <sys/wait.h>
#include <termios.h>

#define JOBS_KEPT 64 /* finished ones whose status nobody has asked for */

/* In this order: the state of a job is the least of those of its processes. */
enum state { RUNNING, STOPPED, DONE };

struct process {
	pid_t pid;
	int status; /* from wait4 */
	enum state state;
};

struct job {
	int number;		   /* 0: never shown */
	pid_t group;		   /* 0: the shell's own */
	struct process *processes; /* owned, as is the text */
	int count;		   /* of processes */
	char *text;
	bool background; /* told of when it is done; else somebody is in job_wait() for it */
	bool has_modes;	 /* it was stopped in the foreground, and `modes` are what it had made of the terminal */
	struct termios modes;
	int gate[2]; /* gate.c; -1: none */
	struct job *next;
};

static struct job *jobs;      /* newest first */
static struct job *inherited; /* in a child: those of the shell, for `jobs` alone */
static int terminal = -1;     /* descriptor of the controlling terminal, with job control */
static pid_t shell_group;     /* with job control: the group that has the terminal between commands */

/* Take the terminal. A console that has no notion of process groups leaves the shell without job control. */
void job_init(void)
{
	const sigset_t none = 0;

	job_init_signals();
	/* What whoever started us has blocked or ignored would keep us from ^C, and from the status of
	 * children. */
	job_set_signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	terminal_init();
	/* A copy of its own, out of the way of redirections of standard input. */
	terminal = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	shell_group = getpid();
	if (terminal < 0 || tcgetpgrp(terminal) < 0)
		return;
	/*
	 * SIGTTOU above all: tcsetpgrp() from a group without the terminal, as the shell's is after
	 * a job, would stop it.
	 */
	job_set_signal(SIGTSTP, SIG_IGN);
	job_set_signal(SIGTTIN, SIG_IGN);
	job_set_signal(SIGTTOU, SIG_IGN);
	/* A session leader is in its own group already and may not be moved: that is no failure. */
	if (getpgrp() != shell_group && setpgid(0, shell_group) < 0)
		return;
	sh.job_control = tcsetpgrp(terminal, shell_group) == 0;
}

bool job_take_terminal(void)
{
	return sh.job_control && tcgetpgrp(terminal) != shell_group && tcsetpgrp(terminal, shell_group) == 0;
}

struct job *job_new(const char *text)
{
	struct job *job = vt_malloc(sizeof(*job));

	*job = (struct job){.text = vt_strdup(text), .gate = {-1, -1}, .next = jobs};
	jobs = job;
	return job;
}

/* Takes it off the list. */
static void job_free(struct job *job)
{
	struct job **at = &jobs;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	free(job->processes);
	free(job->text);
	free(job);
}

/* Without job control a background process must not read what the shell reads. */
static void detach_input(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd < 0)
		return; /* no /dev yet: then there is no console to steal from either */
	if (dup2(fd, STDIN_FILENO) < 0)
		vt_die_errno(2, "/dev/null");
	if (fd != STDIN_FILENO)
		close(fd);
}

/* In the new child, before anything of the command. */
static void child_start(struct job *job, bool background)
{
	bool own_group = sh.job_control;

	if (own_group) {
		pid_t group = job->group ? job->group : getpid();

		/* Parent and child both do this: the first of them does it before it is needed. */
		setpgid(0, group);
		if (!background && job->gate[0] < 0)
			tcsetpgrp(terminal, group);
	}
	job_child_signals(background, own_group);
	exec_child();
	job_unblock_child();
	gate_wait(job->gate);
	if (background && !own_group)
		detach_input();
}

void job_gate(struct job *job)
{
	if (sh.job_control)
		gate_make(job->gate);
}

void job_abandon(struct job *job)
{
	gate_open(job->gate);
	if (job->count)
		/* From now on job_report() and `fg` have it. */
		job->background = true;
	else
		job_free(job);
}

/* A process of a job. 0 in the child, its number in the shell, or -1. Both set its group: neither must run first. */
pid_t job_try_fork(struct job *job, bool background)
{
	pid_t pid;

	job->background = background;
	pid = job_fork_blocked();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		child_start(job, background);
		return 0;
	}
	if (sh.job_control) {
		if (!job->group)
			job->group = pid;
		/* Fails when the child has called exec or has ended: then its own call came first. */
		setpgid(pid, job->group);
	}
	job->processes = vt_realloc(job->processes, sizeof(*job->processes) * (size_t)(job->count + 1));
	job->processes[job->count++] = (struct process){.pid = pid, .state = RUNNING};
	return pid;
}

pid_t job_fork(struct job *job, bool background)
{
	pid_t pid = job_try_fork(job, background);
	int err = errno;

	if (pid < 0) {
		job_abandon(job);
		sh_error("cannot fork: %s", strerror(err));
	}
	return pid;
}

void job_forget(void)
{
	/* A child of a child that has started nothing keeps what it knows. */
	if (!jobs)
		return;
	inherited = jobs;
	jobs = NULL;
}

/* Stopped counts only when nothing of the job runs any more. */
static enum state job_state(const struct job *job)
{
	enum state state = DONE;

	for (int i = 0; i < job->count; i++) {
		if (job->processes[i].state < state)
			state = job->processes[i].state;
	}
	return state;
}

/* $? of a job: that of its last process, with set -o pipefail of the last one that failed. */
static int job_status(const struct job *job)
{
	int status = job->count ? job->processes[job->count - 1].status : 0;

	for (int i = job->count - 1; sh.opt_pipefail && !status && i >= 0; i--)
		status = job->processes[i].status;
	if (WIFSTOPPED(status))
		return 128 + WSTOPSIG(status);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* File a status under its process. Others are children nobody waits for: writers of here-documents. */
static void note(pid_t pid, int status)
{
	for (struct job *job = jobs; job; job = job->next) {
		for (int i = 0; i < job->count; i++) {
			struct process *p = &job->processes[i];

			if (p->pid != pid || p->state == DONE)
				continue; /* numbers come again */
			p->status = WIFCONTINUED(status) ? 0 : status;
			p->state = WIFCONTINUED(status) ? RUNNING : WIFSTOPPED(status) ? STOPPED : DONE;
			return;
		}
	}
}

/* Take one change of state. Returns false when there are no children (left running, with WNOHANG), or at a
 * signal. */
static bool take_one(int options)
{
	int status;
	pid_t pid = waitpid(-1, &status, options | (sh.job_control ? WUNTRACED | WCONTINUED : 0));

	if (pid <= 0)
		return false;
	note(pid, status);
	return true;
}

/* Take all that there are, without waiting. Returns whether there are children still. */
static bool take_all(void)
{
	do
		errno = 0;
	while (take_one(WNOHANG));
	return errno != ECHILD;
}

/* One more than the highest in use, as bash does it. */
static void number_job(struct job *job)
{
	if (job->number)
		return;
	for (struct job *other = jobs; other; other = other->next) {
		if (other->number > job->number)
			job->number = other->number;
	}
	job->number++;
}

static void print_job(const struct job *job, const char *state)
{
	fprintf(stderr, "[%d] %-10s %s\n", job->number, state, job->text);
}

/* Say how a foreground job died, if that is news: ^C is not, nor is a reader that went away. */
static void tell_death(const struct job *job)
{
	int status = job->count ? job->processes[job->count - 1].status : 0;

	if (!WIFSIGNALED(status))
		return;
	/* A user who types ^C wants the whole command line to end, not only its present program. */
	if (WTERMSIG(status) == SIGINT) {
		if (sh.interactive) {
			sh.interrupted = INTERRUPT_SHOWN;
			fprintf(stderr, "\n");
		}
	} else if (WTERMSIG(status) != SIGPIPE) {
		fprintf(stderr, "%s%s\n", vt_signal_text(WTERMSIG(status)), WCOREDUMP(status) ? " (core dumped)" : "");
	}
}

/*
 * The terminal goes to the job. Until then ^C reaches the group of the shell, which the job has left already. The
 * user who typed it means the job, so it is passed on. From here on it goes to the job itself.
 */
static void give_terminal(struct job *job)
{
	tcsetpgrp(terminal, job->group);
	if (sh.interrupted || trap_first_pending() == SIGINT)
		kill(-job->group, SIGINT);
	gate_open(job->gate);
}

/*
 * The terminal goes to the job and comes back, however the wait ends. ECHILD: somebody else has
 * reaped it.
 */
int job_wait(struct job *job)
{
	int status;

	if (sh.job_control && job->group)
		give_terminal(job);
	while (job_state(job) == RUNNING) {
		if (!take_one(0) && errno == ECHILD)
			break;
	}
	if (sh.job_control)
		tcsetpgrp(terminal, shell_group);
	status = job_status(job);
	if (job_state(job) == STOPPED)
		job->has_modes = tcgetattr(terminal, &job->modes) == 0;
	if (sh.interactive)
		terminal_restore(job->text, status);
	if (job_state(job) == STOPPED) {
		job->background = true;
		number_job(job);
		fprintf(stderr, "\n");
		print_job(job, "Stopped");
		/* A user who types ^Z wants a prompt, not the loop's next round: bash ends all loops, too. */
		if (sh.loops) {
			sh.skip = SKIP_BREAK;
			sh.skip_count = sh.loops;
		}
		return status;
	}
	tell_death(job);
	job_free(job);
	return status;
}

/*
 * A script that starts jobs and never waits for them must not grow for ever. POSIX asks that the statuses of the last
 * CHILD_MAX jobs, at least 25, can be had by `wait`. In an interactive shell job_report() drops them.
 */
static void drop_oldest(void)
{
	struct job *oldest = NULL;
	int done = 0;

	for (struct job *job = jobs; job; job = job->next) {
		if (job->background && job_state(job) == DONE) {
			done++;
			oldest = job; /* the list runs from the newest on */
		}
	}
	if (done > JOBS_KEPT)
		job_free(oldest);
}

void job_background(struct job *job)
{
	sh.last_background = job->processes[job->count - 1].pid;
	take_all();
	drop_oldest();
	number_job(job);
	if (sh.interactive)
		fprintf(stderr, "[%d] %d\n", job->number, (int)sh.last_background);
}

/* The word for the state of a job, as bash has it: how it died, or with what status it ended, in text. */
static const char *state_text(const struct job *job, char text[24])
{
	int status = job_status(job);

	switch (job_state(job)) {
	case RUNNING:
		return "Running";
	case STOPPED:
		return "Stopped";
	default:
		snprintf(text, 24, status ? "Done(%d)" : "Done", status);
		return status > 128 ? vt_signal_text(status - 128) : text;
	}
}

/* Done jobs stay until they have been told of (interactive) or waited for. */
void job_report(void)
{
	struct job *next;
	char text[24];

	take_all();
	for (struct job *job = jobs; job; job = next) {
		next = job->next;
		if (!job->background || job_state(job) != DONE)
			continue;
		print_job(job, state_text(job, text));
		job_free(job);
	}
}

/* %1, %+, %%, a process id, or nothing: the newest. Returns NULL after a message. */
static struct job *job_find(const char *name, const char *word)
{
	struct job *job;
	long n = -1;

	if (word && word[0] == '%' && vt_number(word + 1, 1, 100000, &n) && word[1] && !strchr("+%-", word[1])) {
		vt_warn("%s: %s: no such job", name, word);
		return NULL;
	}
	/* Newest first: without a number the first job in the background is meant. */
	for (job = jobs; job; job = job->next) {
		if (!word || (word[0] == '%' && n < 0)) {
			if (job->background)
				return job;
		} else if (word[0] == '%') {
			if (job->number == n)
				return job;
		} else {
			for (int i = 0; i < job->count; i++) {
				if (job->processes[i].pid == atoi(word))
					return job;
			}
		}
	}
	vt_warn("%s: %s: no such job", name, word ? word : "current");
	return NULL;
}

/* One line of `jobs`, with the process id of the first process (-l), or that alone (-p). */
static void show_job(const struct job *job, char how)
{
	char text[24], pid[16] = "";

	if (how && job->count)
		sprintf(pid, "%d ", (int)job->processes[0].pid);
	if (how == 'p')
		printf("%.*s\n", (int)strcspn(pid, " "), pid);
	else
		printf("[%d] %s%-10s %s\n", job->number, pid, state_text(job, text), job->text);
}

/*
 * jobs [-l | -p]: in the order of numbers; the list itself runs from the newest on. In an interactive shell this tells
 * of the done ones, so they go: the next prompt would tell again. A script may still wait for them. In $(jobs -p) they
 * are the jobs of the shell that started the substitution, as they were then.
 */
int builtin_jobs(int argc, char **argv)
{
	const char *letters = argc > 1 && argv[1][0] == '-' ? argv[1] + 1 : "";

	if (argc > 2 || (argc == 2 && (!*letters || strspn(letters, "lp") != strlen(letters)))) {
		vt_warn("jobs: only -l and -p are known");
		return 2;
	}
	take_all();
	for (int n = 1, shown = 1; shown; n++) {
		struct job *next;

		shown = 0;
		for (struct job *job = jobs ? jobs : inherited; job; job = next) {
			next = job->next;
			shown |= job->number > n;
			if (job->number != n)
				continue;
			show_job(job, *letters ? letters[strlen(letters) - 1] : 0);
			if (sh.interactive && job->background && job_state(job) == DONE)
				job_free(job);
		}
	}
	return 0;
}

/* Let a stopped job run on. Returns NULL after a message. */
static struct job *continue_job(const char *name, const char *word)
{
	struct job *job = job_find(name, word);

	if (!job)
		return NULL;
	for (int i = 0; i < job->count; i++) {
		if (job->processes[i].state == STOPPED)
			job->processes[i].state = RUNNING;
	}
	return job;
}

/* Returns 0, or 1 after a message. To the group: all of a pipeline has to go on. */
static int send_continue(const struct job *job)
{
	if (kill(job->group ? -job->group : job->processes[0].pid, SIGCONT) == 0)
		return 0;
	vt_warn_errno(job->text);
	return 1;
}

/* fg [%JOB]. The status is the job's. */
int builtin_fg(int argc, char **argv)
{
	struct job *job = continue_job("fg", argv[1]);

	if (!job)
		return 1;
	fprintf(stderr, "%s\n", job->text);
	if (sh.job_control && job->group)
		tcsetpgrp(terminal, job->group);
	/* An editor that was stopped goes on in its own modes. */
	if (job->has_modes && tcsetattr(terminal, TCSADRAIN, &job->modes) < 0)
		vt_warn_errno("terminal");
	if (send_continue(job)) {
		if (sh.job_control)
			tcsetpgrp(terminal, shell_group);
		return 1;
	}
	job->background = false;
	return job_wait(job);
}

/* bg [%JOB]. Its status is 0 if the signal could be sent. */
int builtin_bg(int argc, char **argv)
{
	struct job *job = continue_job("bg", argv[1]);

	if (!job)
		return 1;
	print_job(job, "Running");
	return send_continue(job);
}

/*
 * Until it is done; a trapped signal or ^C ends the wait: POSIX has `wait` return at once with a status over 128, and
 * then the trap runs. A signal between the look for one and the sleep is held, and ends the sleep.
 */
static int wait_one(struct job *job)
{
	int sig = 0, status;
	bool any;

	job_hold_signals();
	while ((any = take_all()) && job_state(job) == RUNNING && !(sig = trap_first_pending()) && !sh.interrupted)
		job_sleep();
	job_release_signals();
	if (any && job_state(job) == RUNNING)
		return 128 + (sig ? sig : SIGINT);
	status = job_status(job);
	if (job_state(job) == DONE)
		job_free(job);
	return status;
}

/*
 * wait [%JOB | PID]...: the status is that of the last; 127 for one that is no child. Without
 * operands it waits for all and returns 0.
 */
int builtin_wait(int argc, char **argv)
{
	int status = 0;

	if (argc > 1) {
		for (int i = 1; i < argc; i++) {
			struct job *job = job_find("wait", argv[i]);

			status = job ? wait_one(job) : 127;
		}
		return status;
	}
	for (struct job *job = jobs, *next; job; job = next) {
		next = job->next;
		if (!job->background)
			continue;
		status = wait_one(job);
		if (status > 128 && (sh.interrupted || trap_first_pending()))
			return status;
	}
	return 0;
}

/* Without job control the first process has to stand for the group. */
char *job_to_pid(char *word, pid_t *stopped)
{
	struct job *job;
	char text[16];
	pid_t whom;

	*stopped = 0;
	if (word[0] != '%')
		return word;
	job = job_find("kill", word);
	if (!job)
		return NULL;
	whom = job->group ? -job->group : job->processes[0].pid;
	if (job_state(job) == STOPPED)
		*stopped = whom;
	sprintf(text, "%d", (int)whom);
	return arena_copy(&sh.temp, text, strlen(text));
}
