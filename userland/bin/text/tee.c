/*
 * tee [-a] [FILE...]: copy standard input to standard output and to files.
 *
 * Left out: -i, -p. An output that fails is given up, the others go on.
 *
 *     make 2>&1 | tee log | grep error      the whole output in `log`, errors on the screen
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "tee [-a] [FILE...]", .options = "a", .bad_status = 1};
	int how = O_TRUNC, count = 1, status = 0, *fds;
	const char **names;
	char buf[4096];
	ssize_t n;

	while (vt_option(&o, argc, argv) != -1)
		how = O_APPEND;
	fds = vt_malloc(sizeof(*fds) * (size_t)argc);
	names = vt_malloc(sizeof(*names) * (size_t)argc);
	fds[0] = STDOUT_FILENO;
	names[0] = "standard output";
	for (; o.index < argc; o.index++) {
		fds[count] = open(argv[o.index], O_WRONLY | O_CREAT | how, 0666);
		if (fds[count] >= 0) {
			names[count++] = argv[o.index];
			continue;
		}
		vt_warn_errno(argv[o.index]);
		status = 1;
	}
	/*
	 * Each block is written on at once: a reader behind the pipe sees it while input still comes.
	 */
	while ((n = vt_read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		for (int i = 0; i < count; i++) {
			if (vt_write_all(fds[i], buf, (size_t)n) == 0)
				continue;
			/* The kernel refuses what is wrong for a file of tracefs: it matters which one this was. */
			vt_warn_errno(names[i]);
			status = 1;
			/* The last takes its place, and is served in its turn. */
			names[i] = names[--count];
			fds[i--] = fds[count];
		}
	}
	for (int i = 1; i < count; i++) {
		if (close(fds[i]) < 0) {
			vt_warn_errno(names[i]);
			status = 1;
		}
	}
	if (n < 0)
		vt_die_errno(1, "read error");
	return status;
}
