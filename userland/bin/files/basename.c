/*
 * basename PATH [SUFFIX]: the last part of a path.
 *
 * Left out: -a, -s and -z, for several paths at once.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "basename PATH [SUFFIX]", .options = "", .in_order = true, .bad_status = 1};
	char *path, *name;
	size_t n;

	vt_operands(&o, argc, argv, 1, 2);
	path = argv[o.index];
	/* POSIX: slashes at the end do not count, but "/" stays. */
	for (n = strlen(path); n > 1 && path[n - 1] == '/';)
		path[--n] = '\0';
	name = strcmp(path, "/") ? (char *)vt_basename(path) : path;
	n = strlen(name);
	if (argc - o.index == 2) {
		size_t suffix = strlen(argv[o.index + 1]);

		/* A suffix that is all of the name is left: "basename .c .c" is .c. */
		if (suffix < n && !strcmp(name + n - suffix, argv[o.index + 1]))
			name[n - suffix] = '\0';
	}
	printf("%s\n", name);
	return vt_finish(0);
}
