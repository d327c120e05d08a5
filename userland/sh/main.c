/*
 * sh: a shell. Where commands come from, and where errors go back to.
 *
 * sh [-efinsuvx] [-c COMMAND [NAME [ARG...]] | SCRIPT [ARG...]]
 *
 * The language is POSIX's (Shell and Utilities, chapter 2), with `local`, `source`, `time`, $'..' and
 * ${x:n:m}, which bash has too. Left out: aliases, $ENV and start-up files, ulimit, fc. What else bash has
 * is refused by name (foreign.c).
 */
#include "sh.h"
#include <setjmp.h>
#include <sys/stat.h>
#include <stdarg.h>
#include <vt_term.h>

extern char **environ;

struct shell sh;

static struct frame outer; /* what the outermost function or sourced file has replaced */

/*
 * The EXIT trap may call exit itself: actions[0] is gone by then, so it comes through here only
 * once.
 */
void sh_exit(int status)
{
	sh.status = status;
	sh.top = NULL;
	sh.skip = SKIP_NONE;
	trap_run_exit();
	exit(vt_finish(status));
}

/*
 * A function call, a sourced file and the shell itself each have a frame: parameters, and how deep
 * loops are nested. frame_leave() brings the caller's back.
 */
void frame_enter(struct frame *f, char **args)
{
	*f = (struct frame){.argv = sh.argv, .argc = sh.argc, .loops = sh.loops, .own = args != NULL};
	if (sh.functions++ == 0)
		outer = *f;
	if (!args)
		return;
	sh.argv = args;
	for (sh.argc = 0; args[sh.argc];)
		sh.argc++;
}

void frame_leave(const struct frame *f)
{
	if (sh.skip == SKIP_RETURN)
		sh.skip = SKIP_NONE;
	sh.functions--;
	sh.loops = f->loops;
	if (f->own) {
		sh.argv = f->argv;
		sh.argc = f->argc;
	}
}

/*
 * Undo what the abandoned command line had begun, and jump to the place that reads the next one.
 * Nothing on the C stack in between is run: so redirections, `local` variables and parameters lie on
 * stacks of their own, which are unwound here. Does not return.
 */
static void unwind(int status)
{
	sh.status = status;
	sh.trap_status = NULL;
	sh.skip = SKIP_NONE;
	/* The parameters of a function lie in memory that goes with its command line. */
	if (sh.functions) {
		sh.argv = outer.argv;
		sh.argc = outer.argc;
	}
	sh.loops = sh.functions = sh.tested = 0;
	redir_restore(0);
	var_restore(0);
	/* A script ends at its first error of the shell; a console reads the next line. */
	if (!sh.top)
		sh_exit(status);
	exec_abandon();
	longjmp(*sh.top, 1);
}

/*
 * Say what is wrong and abandon the command line: a jump to the place that reads the next one, or
 * the end of a script. What was allocated for the line lies in sh.temp and goes with it.
 */
void sh_error(const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	/* Cut off where it is too long: a message, not data. */
	vsniprintf(text, sizeof(text), format, args);
	va_end(args);
	vt_warn("%s", text);
	unwind(2);
	abort(); /* unwind() does not return */
}

/* Called between commands, never from the handler: here anything may be freed and jumped over. */
void sh_interrupt(void)
{
	/* The terminal has echoed ^C; the prompt begins a row. */
	if (sh.interactive && sh.interrupted != INTERRUPT_SHOWN)
		fprintf(stderr, "\n");
	sh.interrupted = 0;
	unwind(128 + SIGINT);
	abort();
}

/*
 * A directory's path in so many columns at most: the last parts of a longer one behind "...", and of one part
 * its end.
 */
static const char *shortened(const char *path, size_t room)
{
	const char *tail = path + 1;
	size_t n = strlen(path);
	unsigned c;
	char *text;

	if (vt_columns(path, n) <= room)
		return path;
	while (*tail && vt_columns(tail, strlen(tail)) + 3 > room) {
		tail += vt_char(tail, strlen(tail), &c);
		/* On to the next slash, if what follows it is not nothing. */
		if (strchr(tail, '/'))
			tail = strchr(tail, '/');
	}
	text = arena_alloc(&sh.temp, strlen(tail) + 4);
	strcpy(stpcpy(text, "..."), tail);
	return text;
}

/*
 * Expand $PS1 or $PS2: \w is the directory, shortened to half of the row; \$ is # for root; \n a
 * newline. Other escapes of bash stay as their letter. The text lies in sh.temp.
 */
static char *prompt(const char *format)
{
	struct xtext x = {0};
	char path[512], *text;
	size_t room = vt_terminal_size(STDOUT_FILENO).ws_col / 2;

	for (; *format; format++) {
		if (*format != '\\' || !format[1]) {
			x_add(&x, (unsigned char)*format);
			continue;
		}
		switch (*++format) {
		case 'w':
			/* A command wants the other half of the row. */
			x_add_string(&x, getcwd(path, sizeof(path)) ? shortened(path, room) : "?", 0);
			break;
		case '$':
			x_add(&x, getuid() ? '$' : '#');
			break;
		case 'n':
			x_add(&x, '\n');
			break;
		default:
			x_add(&x, (unsigned char)*format);
		}
	}
	text = x_string(&x);
	x_free(&x);
	return text;
}

/*
 * For the lexer: one more line of interactive input, edited behind a prompt. $PS1 for the first line
 * of a command, $PS2 for those that continue it. Returns false at the end of input (^D).
 */
static bool more_console(struct lexer *lx)
{
	const char *ps = var_get(lx->first_line ? "PS1" : "PS2");
	char *line;

	if (lx->first_line)
		job_report();
	sh.interrupted = 0;
	line = lineedit_read(prompt(ps ? ps : "# "));
	if (!line)
		return false;
	/* ^C while a line was typed drops all lines of an unfinished command. */
	if (sh.interrupted) {
		free(line);
		sh_interrupt();
	}
	history_add(line);
	lex_append(lx, line, strlen(line));
	free(line);
	return true;
}

/*
 * For the lexer: one more line of a script on standard input, byte by byte, because the rest may be
 * meant for the commands of the script: `sh <<E` with `read x` in it takes the next line of the
 * script.
 */
static bool more_stdin(struct lexer *lx)
{
	bool any = false;
	char c;

	for (;;) {
		ssize_t n = terminal_read(lx->fd, &c, 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			vt_warn_errno("reading standard input");
		if (n <= 0)
			return any;
		lex_append(lx, &c, 1);
		any = true;
		if (c == '\n')
			return true;
	}
}

/* Errors and ^C come back here and the next line is read. */
static void run_console(void)
{
	struct lexer lx = {.more = more_console, .line = 1, .input = true};
	struct arena_mark none = {NULL, 0};
	jmp_buf top;

	/*
	 * No local variable is changed between setjmp() and the jump but in memory: lx is not in a
	 * register, as its address is taken.
	 */
	if (setjmp(top)) {
		lx.at = lx.end = 0;
		lx.in_line = false;
		arena_release(&sh.temp, none);
	}
	sh.top = &top;
	exec_input(&lx);
	fprintf(stderr, "exit\n");
}

/* An error ends it (sh.top is NULL), as for any script. */
static void run_stdin(void)
{
	struct lexer lx = {.more = more_stdin, .fd = STDIN_FILENO, .line = 1, .input = true};

	exec_input(&lx);
}

/* Returns the text of a script, or ends the shell as POSIX wants. */
static char *read_script(const char *path)
{
	struct stat st;
	char *text = NULL;

	/* open() for reading takes a directory; only read() would refuse it. */
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		errno = EISDIR;
	else
		text = vt_read_file(path, NULL);
	if (!text) {
		int err = errno;

		vt_warn("cannot open %s: %s", path, strerror(err));
		exit(err == ENOENT ? 127 : 126);
	}
	return text;
}

/* POSIX: both are terminals, as messages and prompts go to standard error. */
static bool is_console(bool forced)
{
	return forced || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
}

/* Take -c, -i, -s and the letters of set; + turns off. Returns the index of the first operand. */
static int options(int argc, char **argv, bool *command, bool *interactive, bool *standard)
{
	int i;

	for (i = 1; i < argc && (argv[i][0] == '-' || argv[i][0] == '+') && argv[i][1]; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (!strcmp(argv[i], "--help")) {
			printf("Usage: sh [-efinsuvx] [-c COMMAND [NAME [ARG...]] | SCRIPT [ARG...]]\n");
			exit(vt_finish(0));
		}
		for (const char *letter = argv[i] + 1; *letter; letter++) {
			char one[2] = {*letter, '\0'};

			if (*letter == 'c')
				*command = true;
			else if (*letter == 'i')
				*interactive = true;
			else if (*letter == 's')
				*standard = true;
			/* -l, a login shell, makes no difference: there are no start-up files. */
			else if (*letter != 'l' && !set_options(one, argv[i][0] == '-'))
				vt_die(2, "unknown option '%s' (try sh --help)", argv[i]);
		}
	}
	return i;
}

int main(int argc, char **argv)
{
	bool command = false, interactive = false, standard = false;
	int i = options(argc, argv, &command, &interactive, &standard);

	/* Messages name the shell, not the link it was called by; nor "-sh". */
	vt_name = "sh";
	/* $$ stays that of this process in all subshells. */
	sh.pid = getpid();
	sh.arg0 = argv[0];
	var_init(environ);
	/* POSIX: the word after the command is $0, those after that the parameters. */
	if (command) {
		if (i >= argc)
			vt_die(2, "-c needs a command");
		if (i + 1 < argc)
			sh.arg0 = argv[i + 1];
		sh_set_params(argv + (i + 2 < argc ? i + 2 : argc));
		sh_exit(exec_command(argv[i]));
	}
	if (i < argc && !standard) {
		sh.arg0 = argv[i];
		sh_set_params(argv + i + 1);
		sh_exit(exec_script(read_script(argv[i])));
	}
	sh_set_params(argv + i);
	if (is_console(interactive)) {
		sh.interactive = true;
		job_init();
		run_console();
	} else {
		run_stdin();
	}
	sh_exit(sh.status);
}
