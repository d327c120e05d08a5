/* Running trees: lists, loops, functions, pipelines, programs. */
#include "sh.h"
#include <fnmatch.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* The last definition of a name counts. Its tree lies in an arena that is kept for ever. */
struct function {
	char *name;
	struct node *body;
	struct function *next;
};

static struct function *functions;
static bool keep_tree; /* the tree being run has defined a function */

static struct function *function_find(const char *name)
{
	struct function *f = functions;

	while (f && strcmp(f->name, name))
		f = f->next;
	return f;
}

bool exec_is_function(const char *name)
{
	return function_find(name) && function_find(name)->body;
}

void exec_unset_function(const char *name)
{
	struct function *f = function_find(name);

	if (f)
		f->body = NULL;
}

static int define_function(struct node *n)
{
	struct function *f = function_find(n->name);

	if (!f) {
		f = vt_malloc(sizeof(*f));
		*f = (struct function){ .name = vt_strdup(n->name), .next = functions };
		functions = f;
	}
	f->body = n->left;
	keep_tree = true;
	return 0;
}

void exec_child(void)
{
	sh.top = NULL;
	sh.interactive = false;
	sh.job_control = false;
	sh.loops = sh.functions = 0;
	trap_reset();
	job_forget();
}

/* A file that no loader wants is a script for this shell. It runs in this process, which has forgotten its own state. */
static void run_script(char **argv)
{
	char *text = vt_read_file(argv[0], NULL);

	if (!text)
		vt_die_errno(126, argv[0]);
	if (memchr(text, '\0', strlen(text) + 1) != text + strlen(text))
		vt_die(126, "%s: cannot execute", argv[0]);
	exec_child();
	sh.arg0 = argv[0];
	sh_set_params(argv + 1);
	sh_exit(exec_string(text));
}

void exec_replace(char **argv)
{
	char *path = vt_which(argv[0]);
	int err;

	if (!path) {
		vt_warn("%s: not found", argv[0]);
		sh_exit(127);
	}
	execve(path, argv, var_environment(&sh.temp));
	err = errno;
	if (err == ENOEXEC) {
		struct stat st;

		argv[0] = path;
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			run_script(argv);
	}
	vt_warn("%s: %s", argv[0], err == ENOENT ? "not found" : strerror(err));
	sh_exit(err == ENOENT ? 127 : 126);
}

static int run_builtin(const struct builtin *b, int argc, char **argv)
{
	int status = b->run(argc, argv);

	if (fflush(stdout) != 0) {
		vt_warn_errno("write error");
		status = 1;
	}
	clearerr(stdout);
	return status;
}

/* What a simple command does to the variables: kept without a command, else for its time only and exported. */
static void assign(const struct word *assigns, bool temporary)
{
	for (; assigns; assigns = assigns->next) {
		size_t n = var_name_length(assigns->text);
		char *name = arena_copy(&sh.temp, assigns->text, n);
		char *value = expand_string(assigns->text + n + 1);

		if (temporary)
			var_save(name);
		var_set(name, value);
		if (temporary)
			var_export(name);
	}
}

static int run_function(struct function *f, char **argv)
{
	char **params = sh.argv;
	int count = sh.argc, loops = sh.loops, status;
	size_t variables = var_saved();

	if (sh.functions > 200)
		sh_error("%s: functions nested too deep", argv[0]);
	/* The words lie in sh.temp until the command ends: no copy is needed. */
	sh.argv = argv + 1;
	for (sh.argc = 0; sh.argv[sh.argc];)
		sh.argc++;
	sh.functions++;
	sh.loops = 0;
	status = exec_node(f->body, 0);
	if (sh.skip == SKIP_RETURN)
		sh.skip = SKIP_NONE;
	sh.functions--;
	sh.loops = loops;
	sh.argv = params;
	sh.argc = count;
	var_restore(variables);
	return status;
}

static void trace_command(char **argv)
{
	fprintf(stderr, "%s", var_get("PS4") ? var_get("PS4") : "+ ");
	for (int i = 0; argv[i]; i++)
		fprintf(stderr, "%s%s", i ? " " : "", argv[i]);
	fprintf(stderr, "\n");
}

/* A program, in a child unless this process has nothing else to do. */
static int run_program(struct node *n, char **argv, int flags)
{
	struct job *job = NULL;

	if (!(flags & EXEC_NO_FORK)) {
		job = job_new(n->text ? n->text : argv[0]);
		if (job_fork(job, false) != 0)
			return job_wait(job);
	}
	if (redir_apply(n->redirs, true) < 0)
		sh_exit(1);
	assign(n->assigns, true);
	exec_replace(argv);
}

/* Builtins and functions run here, with redirections and assignments that are undone. */
static int run_here(struct node *n, int argc, char **argv, struct function *f)
{
	const struct builtin *b = f ? NULL : builtin_find(argv[0]);
	size_t descriptors = redir_saved(), variables = var_saved();
	bool keep = !f && !strcmp(argv[0], "exec");
	int status = 1;

	if (redir_apply(n->redirs, keep) == 0) {
		assign(n->assigns, true);
		status = f ? run_function(f, argv) : run_builtin(b, argc, argv);
	}
	var_restore(variables);
	redir_restore(descriptors);
	return status;
}

static int exec_simple(struct node *n, int flags)
{
	struct arena_mark mark = arena_mark(&sh.temp);
	int argc, substitutions = sh.substitutions, status = 0;
	char **argv = expand_words(n->words, &argc);
	struct function *f = argc ? function_find(argv[0]) : NULL;

	if (sh.opt_x && argc)
		trace_command(argv);
	if (argc == 0) {
		size_t descriptors = redir_saved();

		if (redir_apply(n->redirs, false) < 0)
			status = 1;
		else
			assign(n->assigns, false);
		redir_restore(descriptors);
		if (!status && substitutions != sh.substitutions)
			status = sh.status;
	} else if ((f && f->body) || builtin_find(argv[0])) {
		status = run_here(n, argc, argv, f && f->body ? f : NULL);
	} else {
		status = run_program(n, argv, flags);
	}
	arena_release(&sh.temp, mark);
	return status;
}

int exec_program(char **argv, int flags)
{
	struct node n = { .type = N_SIMPLE };
	const struct builtin *b = builtin_find(argv[0]);
	int argc = 0;

	while (argv[argc])
		argc++;
	return b ? run_builtin(b, argc, argv) : run_program(&n, argv, flags);
}

/* One end of a pipe onto a standard descriptor. In a child: failure ends it. */
static void pipe_end(int fd, int standard)
{
	if (fd < 0 || fd == standard)
		return;
	if (dup2(fd, standard) < 0)
		vt_die_errno(2, "pipe");
	close(fd);
}

/* All elements are forked before any is waited for; each runs as the last thing in its process. */
static int exec_pipe(struct node *n)
{
	struct job *job = job_new(n->text ? n->text : "pipeline");
	int from = -1, fds[2];

	for (;; n = n->right) {
		bool last = n->type != N_PIPE;

		fds[0] = fds[1] = -1;
		if (!last && pipe(fds) < 0)
			sh_error("cannot make a pipe: %s", strerror(errno));
		if (job_fork(job, false) == 0) {
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

static int exec_background(struct node *n)
{
	struct job *job = job_new(n->text);

	if (job_fork(job, true) == 0)
		sh_exit(exec_node(n->left, EXEC_NO_FORK));
	job_background(job);
	return 0;
}

static int exec_subshell(struct node *n, int flags)
{
	if (!(flags & EXEC_NO_FORK)) {
		struct job *job = job_new("( ... )");

		if (job_fork(job, false) != 0)
			return job_wait(job);
	} else {
		exec_child();
	}
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

static int exec_while(struct node *n)
{
	bool until = n->type == N_UNTIL;
	int status = 0;

	sh.loops++;
	for (;;) {
		bool holds = (exec_tested(n->left) == 0) != until;

		if (sh.skip == SKIP_NONE && !holds)
			break;
		if (sh.skip == SKIP_NONE)
			status = exec_node(n->right, 0);
		if (loop_ends())
			break;
	}
	sh.loops--;
	return status;
}

static int exec_for(struct node *n)
{
	struct arena_mark mark = arena_mark(&sh.temp);
	char **items = n->has_items ? expand_words(n->words, NULL) : sh.argv;
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

static void print_time(const char *what, int64_t us)
{
	fprintf(stderr, "%s\t%ldm%ld.%03lds\n", what, (long)(us / 60000000), (long)(us / 1000000 % 60),
		(long)(us / 1000 % 1000));
}

static int64_t microseconds(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

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
	fprintf(stderr, "\n");
	print_time("real", (end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000);
	print_time("user", microseconds(after.ru_utime) - microseconds(before.ru_utime));
	print_time("sys", microseconds(after.ru_stime) - microseconds(before.ru_stime));
	return status;
}

static int exec_list(struct node *n, int flags)
{
	int status;

	switch (n->type) {
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
	}
	redir_restore(descriptors);
	return status;
}

int exec_node(struct node *n, int flags)
{
	bool may_exit = false;

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
		sh.status = define_function(n);
		break;
	default:
		sh.status = exec_compound(n, flags);
	}
	if (may_exit && sh.opt_e && sh.status && !sh.tested)
		sh_exit(sh.status);
	trap_run_pending();
	if (sh.interrupted)
		sh_interrupt();
	return sh.status;
}

/* Parse and run one command. Returns false at the end of input. */
static bool exec_next(struct lexer *lx)
{
	struct arena tree = { NULL };
	struct arena_mark none = { NULL, 0 };
	bool outer_keep = keep_tree;
	struct node *n;

	lx->arena = &tree;
	lex_drop(lx);
	n = parse_command(lx);
	keep_tree = false;
	if (n && !sh.opt_n)
		exec_node(n, 0);
	if (!keep_tree)
		arena_release(&tree, none);
	keep_tree = outer_keep;
	return lx->token != T_EOF && !sh.skip;
}

int exec_input(struct lexer *lx)
{
	while (exec_next(lx))
		;
	return sh.status;
}

int exec_string(const char *text)
{
	struct lexer lx;

	lex_string(&lx, text, NULL);
	/* $? keeps its value for the first command; a text of no commands gives 0. */
	if (!text[strspn(text, " \t\n")])
		sh.status = 0;
	while (exec_next(&lx))
		;
	return sh.status;
}
