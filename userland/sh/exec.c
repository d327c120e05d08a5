/*
 * Running trees: lists, loops, pipelines, compound commands. For `a && b | c` the parser has built
 *
 *     AND(a, PIPE(b, c))
 *
 * and exec_node() walks it. Every function returns a status, which exec_node() puts into $?. A
 * `break`, `continue` or `return` is a note in sh.skip: each level looks at it and returns to its
 * own caller, until the loop or function that it is meant for clears it. EXEC_NO_FORK is handed
 * down to the last command of a child, which then becomes that command instead of waiting for it:
 * `(a; b)` costs one process less.
 */
#include "sh.h"
#include <fnmatch.h>
#include <sys/resource.h>
#include <time.h>

/* A command that is being read or run. They nest: eval, traps, sourced files. */
struct tree {
	struct arena arena;
	bool keep;	    /* it has defined a function, whose body is a part of it */
	struct tree *outer; /* NULL: the command line itself */
};

static struct tree *trees; /* innermost first; each lies on the stack of its exec_next() */

/* One end of a pipe onto a standard descriptor. In a child: failure ends it. */
static void pipe_end(int fd, int standard)
{
	/* The same number is possible when the shell was started with that descriptor closed. */
	if (fd < 0 || fd == standard)
		return;
	/* Not in the shell itself: there is nothing sensible this process could go on with. */
	if (dup2(fd, standard) < 0)
		vt_die_errno(2, "pipe");
	close(fd);
}

/* No memory or descriptors for the next element: nothing of the pipe stays open here. */
static void pipe_failed(struct job *job, int from, const int fds[2])
{
	int err = errno;

	for (int i = 0; i < 3; i++) {
		int fd = i < 2 ? fds[i] : from;

		if (fd >= 0)
			close(fd);
	}
	job_abandon(job);
	sh_error("cannot start a pipeline: %s", strerror(err));
}

/* All elements are forked before any is waited for; each runs as the last thing in its process. */
static int exec_pipe(struct node *n)
{
	/*
	 * Left open in this process is only `from`, the reading end that the next element gets. An
	 * end that stayed open in an element would keep its neighbour from seeing the end of input,
	 * or from dying of SIGPIPE.
	 */
	struct job *job = job_new(n->text ? n->text : "pipeline");
	int from = -1, fds[2];
	pid_t pid;

	job_gate(job);
	for (;; n = n->right) {
		bool last = n->type != N_PIPE;

		fds[0] = fds[1] = -1;
		pid = !last && pipe(fds) < 0 ? -1 : job_try_fork(job, false);
		if (pid < 0)
			pipe_failed(job, from, fds);
		if (pid == 0) {
			/* The reading end belongs to the next element. */
			if (fds[0] >= 0)
				close(fds[0]);
			pipe_end(from, STDIN_FILENO);
			pipe_end(fds[1], STDOUT_FILENO);
			sh_exit(exec_node(last ? n : n->left, EXEC_NO_FORK));
		}
		if (from >= 0)
			close(from);
		from = fds[0];
		if (last)
			return job_wait(job);
		close(fds[1]);
	}
}

/*
 * The status of starting it is 0; its own is what `wait` tells. The shell does not wait; with job
 * control the job has a group of its own and no terminal.
 */
static int exec_background(struct node *n)
{
	struct job *job = job_new(n->text);

	if (job_fork(job, true) == 0)
		sh_exit(exec_node(n->left, EXEC_NO_FORK));
	job_background(job);
	return 0;
}

/*
 * With EXEC_NO_FORK this process is a subshell already, so it only forgets what a subshell does not
 * inherit.
 */
static int exec_subshell(struct node *n, int flags)
{
	if (!(flags & EXEC_NO_FORK)) {
		struct job *job = job_new("( ... )");

		if (job_fork(job, false) != 0)
			return job_wait(job);
	} else {
		exec_child();
	}
	/* Kept for good: the process ends with the list. */
	if (redir_apply(n->redirs, true) < 0)
		sh_exit(1);
	sh_exit(exec_node(n->left, EXEC_NO_FORK));
}

/* A condition's failure is an answer, not an error for -e. */
static int exec_tested(struct node *n)
{
	int status;

	sh.tested++;
	status = exec_node(n, 0);
	sh.tested--;
	return status;
}

/* After a body: whether the loop ends. */
static bool loop_ends(void)
{
	if (sh.interrupted)
		sh_interrupt();
	if (sh.skip == SKIP_NONE)
		return false;
	if (sh.skip == SKIP_RETURN)
		return true;
	/* `break 2` ends this loop whatever it is, and counts down for the next one out. */
	if (sh.skip_count > 1) {
		sh.skip_count--;
		return true;
	}
	if (sh.skip == SKIP_BREAK) {
		sh.skip = SKIP_NONE;
		return true;
	}
	sh.skip = SKIP_NONE;
	return false;
}

/*
 * POSIX: the status is that of the last body run, 0 if there was none. The condition may `break`
 * too; one that returns gives the function its status.
 */
static int exec_while(struct node *n)
{
	bool until = n->type == N_UNTIL;
	int status = 0;

	sh.loops++;
	for (;;) {
		int tested = exec_tested(n->left);

		if (sh.skip == SKIP_NONE && (tested == 0) == until)
			break;
		if (sh.skip == SKIP_NONE)
			status = exec_node(n->right, 0);
		else if (sh.skip == SKIP_RETURN)
			status = tested;
		if (loop_ends())
			break;
	}
	sh.loops--;
	return status;
}

/*
 * The items are expanded once, before the first round; "for x" alone goes through the parameters.
 */
static int exec_for(struct node *n)
{
	struct arena_mark mark = arena_mark(&sh.temp);
	/* sh.argv is not copied: sh_set_params() leaves the old list in place. */
	char **items = n->has_items ? expand_words(n->words, NULL, false) : sh.argv;
	int status = 0;

	sh.loops++;
	for (; items && *items; items++) {
		var_set(n->name, *items);
		status = exec_node(n->left, 0);
		if (loop_ends())
			break;
	}
	sh.loops--;
	arena_release(&sh.temp, mark);
	return status;
}

/* Patterns are expanded one by one, and only until one matches: later ones have no side effects. */
static int exec_case(struct node *n, int flags)
{
	struct arena_mark mark = arena_mark(&sh.temp);
	char *subject = expand_string(n->words->text);

	for (struct case_arm *arm = n->arms; arm; arm = arm->next) {
		for (struct word *w = arm->patterns; w; w = w->next) {
			if (fnmatch(expand_pattern(w->text), subject, 0))
				continue;
			arena_release(&sh.temp, mark);
			return arm->body ? exec_node(arm->body, flags) : 0;
		}
	}
	arena_release(&sh.temp, mark);
	return 0;
}

/*
 * Processor time is what children have used and were waited for; a builtin's own share is not in it.
 * The clock is the monotonic one, which a change of the date does not move.
 */
static int exec_time(struct node *n)
{
	struct timespec start, end;
	struct rusage before, after;
	int status;

	if (clock_gettime(CLOCK_MONOTONIC, &start) < 0 || getrusage(RUSAGE_CHILDREN, &before) < 0)
		vt_warn_errno("time");
	status = exec_node(n->left, 0);
	if (clock_gettime(CLOCK_MONOTONIC, &end) < 0 || getrusage(RUSAGE_CHILDREN, &after) < 0) {
		vt_warn_errno("time");
		return status;
	}
	if (!n->posix)
		fprintf(stderr, "\n");
	vt_print_times(n->posix, vt_elapsed(&start, &end),
		       vt_microseconds(&after.ru_utime) - vt_microseconds(&before.ru_utime),
		       vt_microseconds(&after.ru_stime) - vt_microseconds(&before.ru_stime));
	return status;
}

/*
 * The left sides of && and ||, what ! negates and conditions are `tested`: -e does not apply there.
 */
static int exec_list(struct node *n, int flags)
{
	int status;

	switch (n->type) {
	/* Only the right side is the last command: the left one must always come back. */
	case N_SEQUENCE:
		exec_node(n->left, 0);
		return sh.skip ? sh.status : exec_node(n->right, flags);
	case N_AND:
		status = exec_tested(n->left);
		return status == 0 && !sh.skip ? exec_node(n->right, flags) : status;
	case N_OR:
		status = exec_tested(n->left);
		return status != 0 && !sh.skip ? exec_node(n->right, flags) : status;
	case N_NOT:
		return !exec_tested(n->left);
	case N_IF:
		status = exec_tested(n->left);
		if (sh.skip)
			return status;
		if (status == 0)
			return exec_node(n->right, flags);
		return n->other ? exec_node(n->other, flags) : 0;
	default:
		return exec_node(n->left, flags);
	}
}

/* A compound command with redirections for all of it. */
static int exec_compound(struct node *n, int flags)
{
	size_t descriptors = redir_saved();
	int status = 1;

	if (n->redirs)
		flags = 0; /* they are undone afterwards, so something is left to do */
	if (redir_apply(n->redirs, false) == 0) {
		if (n->type == N_WHILE || n->type == N_UNTIL)
			status = exec_while(n);
		else if (n->type == N_FOR)
			status = exec_for(n);
		else if (n->type == N_CASE)
			status = exec_case(n, flags);
		else
			status = exec_list(n, flags);
	} else if (sh.opt_e && !sh.tested) {
		sh_exit(status);
	}
	redir_restore(descriptors);
	return status;
}

/*
 * After each command: -e, then traps, then ^C. -e looks at commands, pipelines and subshells only,
 * as the status of a list is that of a command that was looked at when it ran.
 */
int exec_node(struct node *n, int flags)
{
	bool may_exit = false;

	/* Something is left to do behind the last command of a child, too: the trap's action. */
	if (flags && trap_is_set())
		flags = 0;
	switch (n->type) {
	case N_SIMPLE:
		sh.status = exec_simple(n, flags);
		may_exit = true;
		break;
	case N_PIPE:
		sh.status = exec_pipe(n);
		may_exit = true;
		break;
	case N_SUBSHELL:
		sh.status = exec_subshell(n, flags);
		may_exit = true;
		break;
	case N_BACKGROUND:
		sh.status = exec_background(n);
		break;
	case N_TIME:
		sh.status = exec_time(n);
		break;
	case N_FUNCTION:
		sh.status = exec_define_function(n);
		trees->keep = true;
		break;
	default:
		sh.status = exec_compound(n, flags);
	}
	if (may_exit && sh.opt_e && sh.status && !sh.tested)
		sh_exit(sh.status);
	/*
	 * Handlers only leave a mark: actions run here, between commands, where any state may be
	 * changed.
	 */
	trap_run_pending();
	if (sh.interrupted)
		sh_interrupt();
	return sh.status;
}

static void tree_end(struct tree *tree)
{
	struct arena_mark none = {NULL, 0};

	if (!tree->keep)
		arena_release(&tree->arena, none);
	trees = tree->outer;
}

void exec_abandon(void)
{
	while (trees)
		tree_end(trees);
}

/* Nothing but blanks follows in a text. */
static bool is_last(const struct lexer *lx)
{
	return lx->fixed && !lx->buf[lx->at + strspn(lx->buf + lx->at, " \t\n")];
}

/* Parse and run one command; EXEC_NO_FORK is for the last one of a text. Returns false at the end of input. */
static bool exec_next(struct lexer *lx, int flags)
{
	struct tree tree = {.outer = trees};
	struct node *n;

	trees = &tree;
	lx->arena = &tree.arena;
	lex_drop(lx);
	n = parse_command(lx);
	/* POSIX: an interactive shell ignores -n, or nothing could be typed to turn it off. */
	if (n && (!sh.opt_n || sh.interactive))
		exec_node(n, is_last(lx) ? flags : 0);
	tree_end(&tree);
	return lx->token != T_EOF && !sh.skip;
}

/* Returns at the end of input, or when a `return` leaves a sourced file. */
int exec_input(struct lexer *lx)
{
	while (exec_next(lx, 0))
		;
	return sh.status;
}

/* Run all commands of a text. `input`: the text is a script, whose lines set -v shows. flags are for its last one. */
static int exec_text(const char *text, bool input, int flags)
{
	struct lexer lx;

	lex_string(&lx, text, NULL);
	lx.input = input;
	/* $? keeps its value for the first command; a text of no commands gives 0. */
	if (!text[strspn(text, " \t\n")])
		sh.status = 0;
	while (exec_next(&lx, flags))
		;
	return sh.status;
}

int exec_string(const char *text)
{
	return exec_text(text, false, 0);
}

int exec_script(const char *text)
{
	return exec_text(text, true, 0);
}

int exec_command(const char *text)
{
	return exec_text(text, true, EXEC_NO_FORK);
}
