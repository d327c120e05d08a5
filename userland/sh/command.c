/*
 * Running simple commands: functions, builtins, programs.
 *
 * A name is looked for among functions, then builtins, then in $PATH. The first two run in this
 * process, so what a redirection or an assignment before them changes is undone afterwards; a
 * program runs in a child, where nothing needs undoing.
 */
#include "sh.h"

/* The last definition of a name counts. Its tree lies in an arena that is kept for ever. */
struct function {
	char *name;	       /* owned */
	struct node *body;     /* NULL: unset again; not owned */
	struct function *next; /* the list is short and never shrinks */
};

static struct function *functions;

/* Returns the function even when it has been unset (body NULL), or NULL. */
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

/*
 * The name stays when the function is unset: only the body goes, and a new definition fills it
 * again.
 */
int exec_define_function(struct node *n)
{
	struct function *f = function_find(n->name);

	if (!f) {
		f = vt_malloc(sizeof(*f));
		*f = (struct function){.name = vt_strdup(n->name), .next = functions};
		functions = f;
	}
	f->body = n->left;
	return 0;
}

void exec_child(void)
{
	/*
	 * An error ends a child: it must not jump back into the parent's loop, of which it has a
	 * copy.
	 */
	sh.top = NULL;
	sh.interactive = false;
	sh.job_control = false;
	sh.trap_status = NULL;
	trap_reset();
	job_forget();
	redir_forget();
}

/*
 * Output is complete when the builtin is: a program that follows writes to the same file.
 * clearerr() keeps one full disk from failing every later builtin.
 */
static int run_builtin(const struct builtin *b, int argc, char **argv)
{
	int status, failed;

	errno = 0;
	status = b->run(argc, argv);
	failed = fflush(stdout);
	/* What the builtin has printed may have been written and have failed already; then the flag says so.
	 */
	if (failed || ferror(stdout)) {
		vt_warn("%s: write error%s%s", argv[0], errno ? ": " : "", errno ? strerror(errno) : "");
		status = 1;
	}
	clearerr(stdout);
	return status;
}

/* The option -x shows this before each line. */
static const char *trace_prefix(void)
{
	const char *prefix = var_get("PS4");

	return prefix ? prefix : "+ ";
}

/* What a simple command does to the variables: kept without a command, else for its time only and exported.
 */
static void assign(const struct word *assigns, bool temporary)
{
	for (; assigns; assigns = assigns->next) {
		size_t n = var_name_length(assigns->text);
		char *name = arena_copy(&sh.temp, assigns->text, n);
		char *value = expand_value(assigns->text + n + 1);

		if (sh.opt_x && !temporary)
			fprintf(stderr, "%s%s=%s\n", trace_prefix(), name, value);
		if (temporary)
			var_save(name);
		var_set(name, value);
		if (temporary)
			var_export(name);
	}
}

/*
 * A function's parameters, `local` variables and loops are its own; everything else is the
 * caller's.
 */
static int run_function(struct function *f, char **argv)
{
	struct frame frame;
	int status;
	size_t variables = var_saved();

	/* Endless recursion would end in a fault on the stack, without a word. */
	if (sh.functions > 200)
		sh_error("%s: functions nested too deep", argv[0]);
	/* The words lie in sh.temp until the command ends: no copy is needed. */
	frame_enter(&frame, argv + 1);
	sh.loops = 0;
	status = exec_node(f->body, 0);
	frame_leave(&frame);
	var_restore(variables);
	return status;
}

/* -x: the words as they are after expansion, not quoted again. */
static void trace_command(char **argv)
{
	fprintf(stderr, "%s", trace_prefix());
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
	} else if (keep && !sh.interactive) {
		sh_exit(1); /* `exec <nofile`: what follows would read or write something else */
	}
	/* Without assignments there is nothing to undo, and `local` has to outlive this. */
	if (n->assigns)
		var_restore(variables);
	redir_restore(descriptors);
	return status;
}

/* The order is POSIX's: words are expanded first, then redirections are done, then assignments. */
int exec_simple(struct node *n, int flags)
{
	struct arena_mark mark = arena_mark(&sh.temp);
	int argc, substitutions = sh.substitutions, status = 0;
	char **argv = expand_words(n->words, &argc, true);
	struct function *f = argc ? function_find(argv[0]) : NULL;

	if (sh.opt_x && argc)
		trace_command(argv);
	/*
	 * Only assignments and redirections: they happen here. The status is that of the last
	 * $(..), if there was one.
	 */
	if (argc == 0) {
		size_t descriptors = redir_saved();

		if (redir_apply(n->redirs, false) < 0)
			status = 1;
		else
			assign(n->assigns, false);
		redir_restore(descriptors);
		if (!status && substitutions != sh.substitutions)
			status = sh.substituted;
	} else if ((f && f->body) || builtin_find(argv[0])) {
		status = run_here(n, argc, argv, f && f->body ? f : NULL);
	} else {
		status = run_program(n, argv, flags);
	}
	arena_release(&sh.temp, mark);
	return status;
}

/*
 * For `command`: functions are passed over. The node is made up, as there are no redirections left
 * to do.
 */
int exec_program(char **argv, int flags)
{
	struct node n = {.type = N_SIMPLE};
	const struct builtin *b = builtin_find(argv[0]);
	int argc = 0;

	while (argv[argc])
		argc++;
	return b ? run_builtin(b, argc, argv) : run_program(&n, argv, flags);
}
