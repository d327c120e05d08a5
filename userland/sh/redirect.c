/*
 * Redirections, and undoing them.
 *
 * Before a redirection covers a descriptor of the shell, it is copied to 10 or above (POSIX leaves
 * only 0 to 9 to scripts) with close-on-exec, so that no program inherits it. The copies form a
 * stack; redir_restore() goes back to an earlier height, which also serves errors that jump out of
 * nested commands.
 *
 *     { echo a; } >f 2>&1         open f;   save(1): 10 is a copy of 1;   dup2 to 1
 *                                 save(2): 11 is a copy of 2;   dup2(1, 2)
 *     at the end                  dup2(11, 2), close 11;   dup2(10, 1), close 10
 */
#include "sh.h"

/* Descriptors that a redirection has covered, on a stack. The copies lie at 10 and above. */
struct saved_fd {
	int fd, copy; /* copy -1: it was closed */
};

#define SHELL_FDS    10	  /* the shell's own descriptors lie here and above: no redirection may name them */
#define HERE_AT_ONCE 4096 /* bytes: PIPE_BUF */

static struct saved_fd *saved;
static size_t saved_count, saved_size;

/* copy -1: the descriptor was closed before, and will be again. */
static void push(int fd, int copy)
{
	if (saved_count == saved_size)
		saved = vt_realloc(saved, sizeof(*saved) * (saved_size = saved_size * 2 + 8));
	saved[saved_count++] = (struct saved_fd){fd, copy};
}

/* Returns 0, or -1 after a message. EBADF is no failure: it says that there is nothing to save. */
static int save(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, SHELL_FDS);

	if (copy < 0 && errno != EBADF) {
		vt_warn_errno("cannot save a descriptor");
		return -1;
	}
	push(fd, copy);
	return 0;
}

size_t redir_saved(void)
{
	return saved_count;
}

void redir_restore(size_t count)
{
	while (saved_count > count) {
		struct saved_fd *s = &saved[--saved_count];

		if (s->copy < 0) {
			close(s->fd);
			continue;
		}
		if (dup2(s->copy, s->fd) < 0)
			vt_warn_errno("cannot restore a descriptor");
		close(s->copy);
	}
}

void redir_forget(void)
{
	while (saved_count > 0) {
		struct saved_fd *s = &saved[--saved_count];

		if (s->copy >= 0)
			close(s->copy);
	}
}

/*
 * Write a here-document's text into a pipe nobody reads yet. What fits into an empty pipe (Linux: at least
 * PIPE_BUF bytes) is written at once; for more a child is forked, because the reader is started only after
 * this. The child is no job: it is reaped by the next wait for anything, and SIGPIPE ends it if the reader
 * does not want all. Returns 0, or -1 with errno.
 */
static int here_write(const int fds[2], const char *text)
{
	size_t n = strlen(text);
	pid_t pid;

	if (n <= HERE_AT_ONCE)
		return vt_write_all(fds[1], text, n);
	pid = job_fork_blocked();
	if (pid == 0) {
		job_default_signals();
		exec_child();
		job_unblock_child();
		close(fds[0]);
		_exit(vt_write_all(fds[1], text, n) < 0);
	}
	return pid < 0 ? -1 : 0;
}

/* Returns the reading end of a pipe from which text comes, or -1 with errno. */
static int here_fd(const char *text)
{
	int fds[2], err;

	if (pipe(fds) < 0)
		return -1;
	if (here_write(fds, text) < 0) {
		err = errno;
		close(fds[0]);
		fds[0] = -1;
		errno = err;
	}
	close(fds[1]);
	return fds[0];
}

/* Open what r says. Returns a new descriptor, or -1 after a message. */
static int open_target(const struct redir *r, const char *target)
{
	/*
	 * Append is a flag of the open file, not a seek: two writers do not overwrite each other.
	 */
	static const int flags[] = {
		[REDIR_IN] = O_RDONLY,
		[REDIR_OUT] = O_WRONLY | O_CREAT | O_TRUNC,
		[REDIR_APPEND] = O_WRONLY | O_CREAT | O_APPEND,
		[REDIR_READ_WRITE] = O_RDWR | O_CREAT,
	};
	int fd;

	if (r->type == REDIR_HERE) {
		fd = here_fd(r->quoted ? r->body : expand_here(r->body));
		target = "here-document";
	} else {
		fd = open(target, flags[r->type], 0666);
	}
	/* The wording is dash's: "create" where the file would have been made. */
	if (fd < 0 && (r->type == REDIR_OUT || r->type == REDIR_APPEND))
		vt_warn("cannot create %s: %s", target, strerror(errno));
	else if (fd < 0)
		vt_warn("cannot open %s: %s", target, strerror(errno));
	return fd;
}

/* >&n, <&n and >&- The order matters: in `2>&1 >f` descriptor 2 goes to the old 1. */
static int duplicate(const struct redir *r, const char *target)
{
	long from;

	if (!strcmp(target, "-")) {
		close(r->fd);
		return 0;
	}
	if (vt_number(target, 0, SHELL_FDS - 1, &from)) {
		vt_warn("bad descriptor: %s", target);
		return -1;
	}
	if (dup2((int)from, r->fd) < 0) {
		vt_warn("%ld: %s", from, strerror(errno));
		return -1;
	}
	return 0;
}

/* Returns 0, or -1 after a message. keep: nothing is saved, as nobody will undo it. */
static int apply_one(const struct redir *r, bool keep)
{
	const char *target = r->type == REDIR_HERE ? NULL : expand_string(r->target);
	int fd;

	/* `exec 10>f` would take the place of a saved copy or of the terminal. */
	if (r->fd >= SHELL_FDS) {
		vt_warn("bad descriptor: %d", r->fd);
		return -1;
	}
	if (r->type == REDIR_DUP)
		return !keep && save(r->fd) < 0 ? -1 : duplicate(r, target);
	fd = open_target(r, target);
	if (fd < 0)
		return -1;
	if (fd == r->fd) {
		/* It was closed before, so that the new one took its number. */
		if (!keep)
			push(fd, -1);
		return 0;
	}
	if (!keep && save(r->fd) < 0) {
		close(fd);
		return -1;
	}
	if (dup2(fd, r->fd) < 0) {
		vt_warn_errno("redirection");
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

/*
 * From left to right: in `>f 2>&1` the second sees what the first has done. What was done before a
 * failure stays on the stack.
 */
int redir_apply(const struct redir *r, bool keep)
{
	for (; r; r = r->next) {
		if (apply_one(r, keep) < 0)
			return -1;
	}
	return 0;
}
