/* mv: rename files. */
#include <vt.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Another file system: copy and remove, by the programs that can. */
static int run(char *const argv[])
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		vt_die_errno(127, argv[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		vt_warn_errno(argv[0]);
		return 1;
	}
	return status != 0;
}

static int mv(char *from, char *to)
{
	char *const copy[] = {"cp", "-r", "--", from, to, NULL};
	char *const removal[] = {"rm", "-rf", "--", from, NULL};

	if (rename(from, to) == 0)
		return 0;
	if (errno == EXDEV)
		return run(copy) || run(removal);
	vt_warn("cannot move '%s' to '%s': %s", from, to, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mv [-f] FROM... TO", .options = "f", .bad_status = 1};
	const char *last = argv[argc - 1];
	int status = 0;
	struct stat st;

	/* -f: it never asks anyway. */
	while (vt_option(&o, argc, argv) != -1)
		;
	if (argc - o.index < 2)
		vt_usage(&o);
	if (argc - o.index > 2 && (stat(last, &st) < 0 || !S_ISDIR(st.st_mode)))
		vt_die(1, "target '%s' is not a directory", last);
	for (; o.index < argc - 1; o.index++) {
		char *to = vt_target(argv[o.index], last);

		status |= mv(argv[o.index], to);
		free(to);
	}
	return status;
}
