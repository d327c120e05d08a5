/*
 * ln [-sf] TARGET... NAME: give files further names.
 *
 * Left out: -n, -r, -i, -b. A link to a directory counts as the directory when it is NAME.
 */
#include <vt.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "ln [-sf] TARGET... NAME", .options = "sf", .bad_status = 1};
	bool symbolic = false, force = false;
	int c, status = 0, last;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 's' ? &symbolic : &force) = true;
	if (o.index >= argc)
		vt_usage(&o);
	/* A single target gets its own name in the current directory. */
	last = argc - o.index == 1 ? argc : argc - 1;
	for (; o.index < last; o.index++) {
		char *to = vt_target(argv[o.index], last == argc ? "." : argv[last]);

		if (force && unlink(to) < 0 && errno != ENOENT)
			vt_warn_errno(to);
		if ((symbolic ? symlink : link)(argv[o.index], to) < 0) {
			vt_warn("failed to create link '%s': %s", to, strerror(errno));
			status = 1;
		}
		free(to);
	}
	return status;
}
