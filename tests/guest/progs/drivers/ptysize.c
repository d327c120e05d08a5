/*
 * ptysize ROWS COLUMNS: a window of that size, which has not told the kernel so, with a shell in it. The shell asks
 * where the cursor gets to when it is sent far off, and is answered. /tmp/ptysize is what `stty size` says then.
 */
#include <check.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#define NUMBER 0x80045430 /* TIOCGPTN */
#define LOCK   0x40045431 /* TIOCSPTLCK */
#define ASKED  "\033[6n"

static char text[4096]; /* all that the shell has written */
static size_t length;

/* Until it has written this, or has ended: the place behind it, or NULL. */
static char *written(int master, const char *what)
{
	for (;;) {
		char *found = strstr(text, what);
		ssize_t n;

		if (found)
			return found + strlen(what);
		n = read(master, text + length, sizeof(text) - 1 - length);
		if (n <= 0)
			return NULL;
		length += (size_t)n;
	}
}

static void shell(const char *path)
{
	CHECK_CALL(setsid());
	for (int fd = 0; fd < 3; fd++) {
		close(fd);
		if (open(path, O_RDWR) != fd)
			_exit(1);
	}
	execve("/bin/sh", (char *[]){"sh", "-i", NULL}, environ);
	_exit(1);
}

int main(int argc, char **argv)
{
	static const char line[] = "stty size > /tmp/ptysize; exit\n";
	int master = (int)CHECK_CALL(open("/dev/ptmx", O_RDWR)), number = -1, off = 0;
	char path[32], answer[64];
	pid_t pid;

	if (argc != 3)
		vt_die(2, "usage: ptysize ROWS COLUMNS");
	CHECK_CALL(ioctl(master, NUMBER, &number));
	CHECK_CALL(ioctl(master, LOCK, &off));
	sniprintf(path, sizeof(path), "/dev/pts/%d", number);
	sniprintf(answer, sizeof(answer), "\033[%s;%sR", argv[1], argv[2]);
	pid = check_fork();
	if (pid == 0)
		shell(path);
	CHECK(written(master, ASKED) != NULL);
	CHECK_EQ(write(master, answer, strlen(answer)), (long)strlen(answer));
	CHECK_EQ(write(master, line, strlen(line)), (long)strlen(line));
	while (written(master, "never written"))
		;
	CHECK_EQ(check_wait(pid), 0);
	return check_failures != 0;
}
