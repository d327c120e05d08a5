/*
 * xargs [-0] [-I WORD | -n COUNT] [-r] [COMMAND [ARG...]]: words of standard input as arguments of a command. -0: the
 * words end with zero bytes. -I: a run for each line of input, which takes the place of WORD in the arguments.
 *
 * Left out: quoting in the input, -P, -t, -s. Status 123: some command failed; 125: one was
 * killed; 124: one ended with 255; 127: there is no such command; 126: it cannot be run. After all but the
 * first nothing more is run.
 *
 *     find /tmp -name '*.o' | xargs rm      one rm for many names: a process for each would take far longer
 *
 * Words are separated by blanks and newlines, so names with blanks in them come apart: find -print0 | xargs -0 and
 * find's -exec {} + do not have that trouble.
 */
#include <vt.h>
#include <sys/wait.h>

/* Of one command: arguments, its own included, and bytes of them. GNU's takes as many bytes; execve() takes more. */
#define XARGS_MAX   8192
#define XARGS_BYTES 131072

/*
 * Start the command in a child. A pipe that closes with the execve tells whether there was one: a status of 126 or 127
 * may be the command's own. Returns the child's id; *err: the errno of the execve, or 0.
 */
static pid_t start(char **argv, int *err)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		vt_die_errno(1, argv[0]);
	if (pid == 0) {
		execvp(argv[0], argv);
		*err = errno;
		vt_write_all(ends[1], err, sizeof(*err));
		_exit(126);
	}
	close(ends[1]);
	*err = 0;
	if (vt_read(ends[0], err, sizeof(*err)) < 0)
		*err = errno;
	close(ends[0]);
	return pid;
}

/*
 * Run the command. Returns 0, or what xargs itself exits with: 123 for a command that failed. Does not return when
 * there is to be no further run: it could not be run, a signal has ended it, or its status is 255.
 */
static int run(char **argv)
{
	int status, err;
	pid_t pid = start(argv, &err);

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			vt_die_errno(1, argv[0]);
	errno = err;
	if (err)
		vt_die_errno(err == ENOENT ? 127 : 126, argv[0]);
	if (WIFSIGNALED(status))
		vt_die(125, "%s: terminated by signal %d", argv[0], WTERMSIG(status));
	if (WEXITSTATUS(status) == 255)
		vt_die(124, "%s: exited with status 255; aborting", argv[0]);
	return WEXITSTATUS(status) ? 123 : 0;
}

/* A text with `to` in place of each `from`, in new memory. */
static char *replaced(const char *text, const char *from, const char *to)
{
	char *new = vt_malloc(strlen(text) * (strlen(to) + 1) + 1), *at = new;
	size_t n = strlen(from);

	while (*text) {
		if (strncmp(text, from, n)) {
			*at++ = *text++;
			continue;
		}
		at = stpcpy(at, to);
		text += n;
	}
	*at = '\0';
	return new;
}

/* -I: run the command for a line of input. */
static int run_replaced(char *const *command, int n, const char *word, const char *line)
{
	char **argv = vt_malloc(sizeof(*argv) * (size_t)(n + 1));
	int status;

	argv[0] = command[0];
	for (int i = 1; i < n; i++)
		argv[i] = replaced(command[i], word, line);
	argv[n] = NULL;
	status = run(argv);
	while (--n > 0)
		free(argv[n]);
	free(argv);
	return status;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "xargs [-0] [-I WORD | -n COUNT] [-r] [COMMAND [ARG...]]",
			       .options = "0I:n:r",
			       .in_order = true,
			       .bad_status = 1};
	static char *command[XARGS_MAX + 1];
	long most = XARGS_MAX;
	bool any_input = true, ran = false, zeros = false;
	const char *insert = NULL; /* -I */
	int c, fixed, n, input, nothing, status = 0;
	size_t bytes = 0;
	struct vt_lines lines;
	char *line;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'r')
			any_input = false;
		else if (c == '0')
			zeros = true;
		else if (c == 'I')
			insert = *o.arg ? o.arg : NULL;
		else
			most = vt_number_or_die(1, o.arg, 1, XARGS_MAX);
	}
	/* Half is left for words from the input. */
	if (argc - o.index > XARGS_MAX / 2)
		vt_die(1, "too many arguments");
	/* COMMAND and its own arguments, which every run begins with. */
	command[0] = "echo";
	for (fixed = 0; o.index < argc;)
		command[fixed++] = argv[o.index++];
	fixed = fixed ? fixed : 1;
	n = fixed;
	/* The words are for us: a command that reads its standard input finds that empty. */
	input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (input >= 0 && nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	vt_lines_open(&lines, input >= 0 ? input : STDIN_FILENO);
	if (zeros)
		lines.newline = '\0';
	while (vt_line(&lines, &line, NULL)) {
		if (insert) {
			line += zeros ? 0 : strspn(line, " \t");
			c = *line || zeros ? run_replaced(command, fixed, insert, line) : 0;
			status = c ? c : status;
			continue;
		}
		for (char *word = zeros ? line : strtok(line, " \t"); word; word = zeros ? NULL : strtok(NULL, " \t")) {
			command[n++] = vt_strdup(word);
			command[n] = NULL;
			bytes += strlen(word) + 1;
			if (n - fixed < most && n < XARGS_MAX && bytes < XARGS_BYTES)
				continue;
			c = run(command);
			status = c ? c : status;
			ran = true;
			bytes = 0;
			while (n > fixed)
				free(command[--n]);
		}
	}
	if (lines.error) {
		vt_warn("read error: %s", strerror(lines.error));
		status = 1;
	}
	command[n] = NULL;
	/* POSIX: the command runs once even without input, unless -r. */
	if (n > fixed || (!ran && any_input && !insert)) {
		c = run(command);
		status = c ? c : status;
	}
	return status;
}
