/*
 * cat [-u] [FILE...]: copy files to standard output.
 *
 * Left out: -n, -b, -v and their like. A file that is its own output is not detected.
 */
#include <vt.h>

static int cat(int fd, const char *name, void *arg)
{
	switch (vt_copy(fd, STDOUT_FILENO)) {
	case -1:
		vt_warn_errno(name);
		return 1;
	/* No reader is left for what follows either. */
	case -2:
		vt_die_errno(1, "write error");
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "cat [-u] [FILE...]", .options = "u", .bad_status = 1};

	/* -u asks for no buffering, and there is none. */
	while (vt_option(&o, argc, argv) != -1)
		;
	return vt_each_file(argv + o.index, 1, cat, NULL);
}
