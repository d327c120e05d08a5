/*
 * mv [-f] FROM... TO: rename files.
 *
 * Left out: -i, -n, -u, -b.
 */
#include <vt.h>

/* Another file system: copy and remove, by the programs that can. */
static int run(char *const argv[])
{
	int status;

	if (vt_run(argv, &status) < 0) {
		vt_warn_errno(argv[0]);
		return 1;
	}
	return status != 0;
}

static int mv(const char *from, const char *to)
{
	char *const copy[] = {"cp", "-r", "--", (char *)from, (char *)to, NULL};
	char *const removal[] = {"rm", "-rf", "--", (char *)from, NULL};

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

	/* -f: it never asks anyway. */
	while (vt_option(&o, argc, argv) != -1)
		;
	return vt_to_target(&o, argc, argv, mv);
}
