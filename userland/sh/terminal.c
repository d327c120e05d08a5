/*
 * The terminal of an interactive shell: whatever a program or a job leaves behind is put back.
 *
 * A program can leave three things behind: the terminal in modes of its own; its open file with O_NONBLOCK, which
 * belongs to the file, so that the shell has it too; and another process group in the foreground. None of these may end
 * the session. After each job in the foreground the first two are put back. A background job can do the same while the
 * shell reads or writes; reading and writing put it back themselves.
 *
 * Settings that a program was meant to make have to stay, as in other shells: those of a program that ends
 * with status 0. But without lines, signals or output processing (ICANON, ISIG, OPOST) nobody can type a command, so
 * only stty itself may take these away.
 */
#include "sh.h"
#include <poll.h>
#include <vt_term.h>

static struct termios modes; /* those between commands */
static bool has_modes;

void terminal_init(void)
{
	has_modes = tcgetattr(STDIN_FILENO, &modes) == 0;
}

/* Nothing of the cooked mode is missing that was there before. */
static bool stays_usable(const struct termios *now)
{
	return !(modes.c_lflag & ~now->c_lflag & (ICANON | ISIG)) && !(modes.c_oflag & ~now->c_oflag & OPOST);
}

void terminal_restore(const char *text, int status)
{
	bool is_stty = !strncmp(text, "stty", 4) && strchr(" \t", text[4]);
	struct termios now;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		vt_set_blocking(fd);
	if (!has_modes || tcgetattr(STDIN_FILENO, &now) < 0 || !memcmp(&now, &modes, sizeof(now)))
		return;
	if (status == 0 && (is_stty || stays_usable(&now)))
		modes = now;
	else if (tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) < 0)
		vt_warn_errno("terminal");
}

/* EAGAIN is no end: the file has O_NONBLOCK, which is taken away, or somebody else puts it back all the time.
 */
static bool try_again(int fd, short events)
{
	struct pollfd wait = {.fd = fd, .events = events};

	if (errno != EAGAIN)
		return false;
	if (!vt_set_blocking(fd))
		poll(&wait, 1, 100); /* its status does not matter: read or write is tried in any case */
	return true;
}

ssize_t terminal_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && (try_again(fd, POLLIN) || (errno == EIO && job_take_terminal())));
	return n;
}

void terminal_write(const char *s, size_t n)
{
	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, s, n);

		/* A terminal that takes no more output is met again at the next read. */
		if (done < 0 && errno != EINTR && !try_again(STDOUT_FILENO, POLLOUT))
			return;
		if (done > 0) {
			s += done;
			n -= (size_t)done;
		}
	}
}
