/*
 * Commands that run in the shell itself.
 *
 * A builtin gets its words as main() does, prints with stdio (flushed and checked by run_builtin())
 * and returns its status. It may end the command line by sh_error(), as it must not leave anything
 * allocated outside of sh.temp then. Builtins that are programs as well (echo, test, printf, kill)
 * live in libvt.
 *
 * What these have in common is that a program could not do it: cd, set, export and exit change this
 * process. echo, test and printf could be programs, and are here because scripts call them often: a
 * builtin costs no fork.
 */
#include "sh.h"
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Also `:`, whose redirections and expansions are what it is used for. */
static int builtin_true(int argc, char **argv)
{
	return 0;
}

static int builtin_false(int argc, char **argv)
{
	return 1;
}

/*
 * A count for break, continue, shift, or a status for exit, return, of which only the low eight bits arrive. Returns
 * fallback when there is no word.
 */
static int count_argument(char **argv, int fallback)
{
	long n;

	if (!argv[1])
		return fallback;
	if (vt_number(argv[1], 0, INT_MAX, &n))
		sh_error("%s: bad number: %s", argv[0], argv[1]);
	return (int)n;
}

/*
 * break and continue: only a note is left in sh.skip, on which every level of exec.c returns to its
 * caller.
 */
static int builtin_break(int argc, char **argv)
{
	int n = count_argument(argv, 1);

	/* Outside of any loop POSIX leaves it open; as bash and dash do, nothing happens. */
	if (!sh.loops)
		return 0;
	sh.skip = argv[0][0] == 'b' ? SKIP_BREAK : SKIP_CONTINUE;
	sh.skip_count = n < 1 ? 1 : n > sh.loops ? sh.loops : n;
	return 0;
}

/* The status travels as this command's own: exec_node() puts it into $?. */
static int builtin_return(int argc, char **argv)
{
	int status = count_argument(argv, sh.status) & 0xff;

	if (!sh.functions)
		sh_error("return: not in a function or sourced script");
	sh.skip = SKIP_RETURN;
	return status;
}

/*
 * Without a number the status of the last command, in a trap of the last one before it: so cleaning up in a trap does
 * not hide what has failed. sh_exit() runs the EXIT trap and does not return.
 */
static int builtin_exit(int argc, char **argv)
{
	sh_exit(count_argument(argv, sh.trap_status ? *sh.trap_status : sh.status) & 0xff);
}

/*
 * exec COMMAND takes over this process and does not return; exec alone only makes its redirections
 * permanent.
 */
static int builtin_exec(int argc, char **argv)
{
	if (argc > 1)
		exec_replace(argv + 1);
	return 0; /* the redirections have been done for good */
}

/*
 * After a chdir(): $OLDPWD is what $PWD was, and $PWD the kernel's path, in which links are resolved.
 */
static int set_pwd(void)
{
	char path[1024];

	if (!getcwd(path, sizeof(path))) {
		vt_warn_errno("getcwd");
		return 1;
	}
	if (var_get("PWD"))
		var_set("OLDPWD", var_get("PWD"));
	var_set("PWD", path);
	return 0;
}

/*
 * cd [-L | -P] [DIR | -]. $OLDPWD and $PWD follow. Left out: $CDPATH. -L and -P make no difference: a directory is
 * always the kernel's path.
 */
static int builtin_cd(int argc, char **argv)
{
	const char *to;
	bool back;

	while (argv[1] && (!strcmp(argv[1], "-L") || !strcmp(argv[1], "-P")))
		argv++;
	argv += argv[1] && !strcmp(argv[1], "--");
	to = argv[1] ? argv[1] : var_get("HOME");
	back = to && !strcmp(to, "-");
	if (back)
		to = var_get("OLDPWD");
	if (!to) {
		vt_warn("cd: %s not set", back ? "OLDPWD" : "HOME");
		return 1;
	}
	if (chdir(to) < 0) {
		vt_warn("cd: %s: %s", to, strerror(errno));
		return 1;
	}
	if (set_pwd())
		return 1;
	if (back)
		printf("%s\n", var_get("PWD"));
	return 0;
}

/*
 * The kernel is asked each time: $PWD is a variable like any other and may have been set to
 * anything.
 */
static int builtin_pwd(int argc, char **argv)
{
	char path[1024];

	if (!getcwd(path, sizeof(path))) {
		vt_warn_errno("pwd");
		return 1;
	}
	printf("%s\n", path);
	return 0;
}

/* export, readonly: NAME or NAME=value, or a list without names. */
static int builtin_export(int argc, char **argv)
{
	bool export = argv[0][0] == 'e';
	int i = argc > 1 && !strcmp(argv[1], "-p") ? 2 : 1;

	if (i == argc)
		var_print(export ? "export " : "readonly ", export, !export);
	for (; i < argc; i++) {
		size_t n = var_name_length(argv[i]);

		if (!n || (argv[i][n] && argv[i][n] != '='))
			sh_error("%s: %s: bad variable name", argv[0], argv[i]);
		if (argv[i][n])
			var_assign(argv[i]);
		if (export)
			var_export(arena_copy(&sh.temp, argv[i], n));
		else
			var_protect(arena_copy(&sh.temp, argv[i], n));
	}
	return 0;
}

/*
 * The old value is restored when the function returns. Without a value the variable is unset within
 * the function.
 */
static int builtin_local(int argc, char **argv)
{
	if (!sh.functions)
		sh_error("local: not in a function");
	for (int i = 1; i < argc; i++) {
		size_t n = var_name_length(argv[i]);

		if (!n || (argv[i][n] && argv[i][n] != '='))
			sh_error("local: %s: bad variable name", argv[i]);
		var_save(arena_copy(&sh.temp, argv[i], n));
		if (argv[i][n])
			var_assign(argv[i]);
		else
			var_unset(argv[i]);
	}
	return 0;
}

/*
 * -v asks for variables, which is the default. A readonly variable is an error; one that is not set
 * is not.
 */
static int builtin_unset(int argc, char **argv)
{
	bool function = argc > 1 && !strcmp(argv[1], "-f");

	for (int i = 1; i < argc; i++) {
		if (i == 1 && (function || !strcmp(argv[1], "-v")))
			continue;
		if (function)
			exec_unset_function(argv[i]);
		else
			var_unset(argv[i]);
	}
	return 0;
}

/*
 * The array is not touched: it may belong to a caller up the stack. Too large a count shifts
 * nothing (status 1).
 */
static int builtin_shift(int argc, char **argv)
{
	int n = count_argument(argv, 1);

	if (n > sh.argc)
		return 1;
	sh.argv += n;
	sh.argc -= n;
	return 0;
}

/* The words, joined by blanks, as a command. */
static int builtin_eval(int argc, char **argv)
{
	size_t size = 1;
	char *text, *end;

	for (int i = 1; i < argc; i++)
		size += strlen(argv[i]) + 1;
	text = end = arena_alloc(&sh.temp, size);
	*end = '\0';
	for (int i = 1; i < argc; i++) {
		if (i > 1)
			*end++ = ' ';
		end = stpcpy(end, argv[i]);
	}
	return exec_string(text);
}

/* . FILE [ARGS]: in this shell. A name without a slash is looked for in $PATH, then here. */
static int builtin_source(int argc, char **argv)
{
	char *text, *found;
	struct frame frame;
	int status;

	if (argc < 2)
		sh_error("%s: file name expected", argv[0]);
	found = strchr(argv[1], '/') ? NULL : vt_which(argv[1]);
	text = vt_read_file(found ? found : argv[1], NULL);
	free(found);
	if (!text)
		sh_error("%s: cannot open %s: %s", argv[0], argv[1], strerror(errno));
	/* `return` leaves it as it leaves a function. Without arguments the caller's stay, and `set --`
	 * changes them. */
	frame_enter(&frame, argc > 2 ? argv + 2 : NULL);
	status = exec_script(text);
	frame_leave(&frame);
	free(text);
	return status;
}

/* umask [OCTAL]. Left out: symbolic masks (u=rwx). */
static int builtin_umask(int argc, char **argv)
{
	mode_t mask;
	char *end;

	if (argc == 1) {
		/*
		 * There is no call that only asks. Nobody creates a file in between: a shell has
		 * one thread.
		 */
		mask = umask(0);
		umask(mask);
		printf("%04o\n", (unsigned int)mask);
		return 0;
	}
	mask = (mode_t)strtoul(argv[1], &end, 8);
	if (*end || mask > 0777) {
		vt_warn("umask: bad mode: %s", argv[1]);
		return 1;
	}
	umask(mask);
	return 0;
}

/* Whether `kill WORD...` with this first word sends SIGTERM or SIGHUP, which ask a program to end. */
static bool asks_to_end(const char *word)
{
	static const char *const words[] = {"-TERM", "-SIGTERM", "-15", "-HUP", "-SIGHUP", "-1", "--"};

	for (size_t i = 0; word[0] == '-' && i < ARRAY_SIZE(words); i++) {
		if (!strcmp(word, words[i]))
			return true;
	}
	return word[0] != '-';
}

/*
 * kill, with %JOB for the process group of a job. Returns as vt_kill(), or 1 when there is no such
 * job. A stopped job that is asked to end also has to go on, or it would not see the signal: bash does the
 * same.
 */
static int builtin_kill(int argc, char **argv)
{
	pid_t *stopped = arena_alloc(&sh.temp, sizeof(*stopped) * (size_t)(argc + 1)), *last = stopped;
	char **args = arena_alloc(&sh.temp, sizeof(*args) * (size_t)(argc + 2));
	bool ended = false, missing = false;
	int n = 0, operands = 0, status = 1;
	char *word;

	/* A job is a process group, a negative number: "--" keeps the first from being taken for a signal. */
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--") || (argv[i][0] == '%' && !ended)) {
			args[n++] = "--";
			ended = true;
			if (argv[i][0] == '-')
				continue;
		}
		word = job_to_pid(argv[i], last);
		if (!word) {
			missing = true;
			continue;
		}
		last += *last != 0;
		args[n++] = word;
		operands += i > 0 && (ended || word[0] != '-');
	}
	args[n] = NULL;
	/* A job that is missing does not keep the signal from the others, if there are any. */
	if (!missing || operands)
		status = vt_kill(n, args);
	while (last > stopped && asks_to_end(argv[1]))
		kill(*--last, SIGCONT);
	return missing ? 1 : status;
}

/* type NAME, command -v NAME: what it would run. */
static int tell_type(const char *name, bool brief)
{
	char *path;

	if (exec_is_function(name) || builtin_find(name)) {
		printf(brief			? "%s\n"
		       : exec_is_function(name) ? "%s is a function\n"
						: "%s is a shell builtin\n",
		       name);
		return 0;
	}
	path = vt_which(name);
	/* vt_which() takes a name with a slash as it is. */
	if (path && access(path, X_OK) < 0) {
		free(path);
		path = NULL;
	}
	if (path)
		printf(brief ? "%s\n" : "%s is %s\n", brief ? path : name, path);
	else if (!brief)
		vt_warn("%s: not found", name);
	free(path);
	return path ? 0 : 127;
}

/* The bits of several statuses are or-ed: 0 only if all names were found. */
static int builtin_type(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc; i++)
		status |= tell_type(argv[i], false);
	return status;
}

/* hash: programs are searched for each time: nothing to list, or to forget (-r). Whether names would be found. */
static int builtin_hash(int argc, char **argv)
{
	int status = 0;

	for (int i = argc > 1 && !strcmp(argv[1], "-r") ? 2 : 1; i < argc; i++) {
		char *path = vt_which(argv[i]);

		if (!path && !exec_is_function(argv[i]) && !builtin_find(argv[i])) {
			vt_warn("hash: %s: not found", argv[i]);
			status = 1;
		}
		free(path);
	}
	return status;
}

/* command NAME: as if there were no function of that name. -v and -V only tell what it is. */
static int builtin_command(int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "-v") || !strcmp(argv[1], "-V")))
		return argc > 2 ? tell_type(argv[2], argv[1][1] == 'v') : 2;
	return argc > 1 ? exec_program(argv + 1, 0) : 0;
}

/* What lineedit.c offers, oldest first, numbered from 1. */
static int builtin_history(int argc, char **argv)
{
	for (size_t i = 0; i < history_count(); i++)
		printf("%5d  %s\n", (int)i + 1, history_get(i));
	return 0;
}

static int builtin_help(int argc, char **argv);

/* In the order that `help` prints. */
/* "0m1.234s", user and system. */
static void print_usage(int who)
{
	struct rusage u = {0};

	getrusage(who, &u);
	printf("%ldm%ld.%03lds %ldm%ld.%03lds\n", (long)u.ru_utime.tv_sec / 60, (long)u.ru_utime.tv_sec % 60,
	       (long)u.ru_utime.tv_usec / 1000, (long)u.ru_stime.tv_sec / 60, (long)u.ru_stime.tv_sec % 60,
	       (long)u.ru_stime.tv_usec / 1000);
}

static int builtin_times(int argc, char **argv)
{
	print_usage(RUSAGE_SELF);
	print_usage(RUSAGE_CHILDREN);
	return 0;
}

static const struct builtin builtins[] = {
	{".", builtin_source, ". FILE", "run the commands of FILE in this shell"},
	{":", builtin_true, ": [WORD...]", "nothing, with status 0"},
	{"[", vt_test, "[ EXPRESSION ]", "as test"},
	{"bg", builtin_bg, "bg [%JOB]", "a stopped job goes on in the background"},
	{"break", builtin_break, "break [N]", "leave the loop, or N loops"},
	{"cd", builtin_cd, "cd [FOLDER]", "go to FOLDER, or to $HOME; - is where we were before"},
	{"command", builtin_command, "command [-v|-V] NAME [WORD...]",
	 "run the program, not a function of that name; -v, -V: which it is"},
	{"continue", builtin_break, "continue [N]", "the next turn of the loop, or of the Nth around it"},
	{"echo", vt_echo, "echo [-neE] [WORD...]", "print the words"},
	{"eval", builtin_eval, "eval [WORD...]", "run the words, joined, as a command"},
	{"exec", builtin_exec, "exec [COMMAND [WORD...]]", "become COMMAND; without one its redirections stay"},
	{"exit", builtin_exit, "exit [STATUS]", "end the shell"},
	{"export", builtin_export, "export [NAME[=VALUE]...]", "programs get these variables; alone: which they get"},
	{"false", builtin_false, "false", "nothing, with status 1"},
	{"fg", builtin_fg, "fg [%JOB]", "a job goes on in the foreground"},
	{"getopts", builtin_getopts, "getopts OPTIONS NAME [WORD...]", "the next option of the parameters into NAME"},
	{"hash", builtin_hash, "hash [-r] [NAME...]", "whether programs are found; nothing is remembered of them"},
	{"help", builtin_help, "help [NAME]", "this list, or how NAME is used"},
	{"history", builtin_history, "history", "the lines that were typed"},
	{"jobs", builtin_jobs, "jobs [-lp]", "the jobs of this shell; -l with process ids, -p only these"},
	{"kill", builtin_kill, "kill [-SIGNAL] PID|%JOB...", "send a signal, TERM unless said; -l: their names"},
	{"local", builtin_local, "local NAME[=VALUE]...", "variables of this call of the function"},
	{"printf", vt_printf, "printf FORMAT [WORD...]", "print the words by FORMAT"},
	{"pwd", builtin_pwd, "pwd", "the folder where we are"},
	{"read", builtin_read, "read [-r] [-p PROMPT] [NAME...]",
	 "a line of input into variables; -r: backslashes stay"},
	{"readonly", builtin_export, "readonly [NAME[=VALUE]...]",
	 "these variables do not change any more; alone: which"},
	{"return", builtin_return, "return [STATUS]", "leave the function, or the script that was read by ."},
	{"set", builtin_set, "set [-+efnuvx] [-+o NAME] [--] [WORD...]",
	 "options of the shell, and its parameters; alone: all variables"},
	{"shift", builtin_shift, "shift [N]", "drop the first parameter, or the first N"},
	{"source", builtin_source, "source FILE", "as ."},
	{"test", vt_test, "test EXPRESSION", "whether it is true; test --help has the words"},
	{"times", builtin_times, "times", "CPU time of the shell, and of the programs it has run: user and system"},
	{"trap", builtin_trap, "trap [COMMAND|-] SIGNAL...",
	 "run COMMAND when SIGNAL comes, or at EXIT; alone: what is set"},
	{"true", builtin_true, "true", "nothing, with status 0"},
	{"type", builtin_type, "type NAME...", "what the shell takes NAME for"},
	{"umask", builtin_umask, "umask [MODE]", "rights that new files do not get, in octal"},
	{"unset", builtin_unset, "unset [-fv] NAME...", "forget variables, or with -f functions"},
	{"wait", builtin_wait, "wait [PID|%JOB...]", "until these, or all jobs, have ended"},
};

/* help, help NAME. */
static int builtin_help(int argc, char **argv)
{
	const struct builtin *of = argc > 1 ? builtin_find(argv[1]) : NULL;

	if (of) {
		printf("Usage: %s\n  %s\n", of->usage, of->does);
		return 0;
	}
	if (argc > 1) {
		vt_warn("help: no builtin %s (try %s --help, or man %s)", argv[1], argv[1], argv[1]);
		return 1;
	}
	printf("Builtin commands:");
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		printf(" %s", builtins[i].name);
	printf("\nhelp NAME says how one is used. Programs are in /bin; each prints its usage with --help.\n");
	return 0;
}

/* Some three dozen names and short ones: a walk costs less than a table would explain. */
const struct builtin *builtin_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (!strcmp(name, builtins[i].name))
			return &builtins[i];
	}
	return NULL;
}

void builtin_each(void (*work)(const char *name, void *arg), void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		work(builtins[i].name, arg);
}
