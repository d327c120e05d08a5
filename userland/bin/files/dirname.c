/*
 * dirname PATH...: a path without its last part.
 *
 * Left out: -z.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "dirname PATH...", .options = "", .in_order = true, .bad_status = 1};

	vt_operands(&o, argc, argv, 1, argc);
	for (; o.index < argc; o.index++) {
		char *path = argv[o.index];
		size_t n = strlen(path);

		/*
		 * Slashes at the end, the last part, and the slashes before that: what is left is
		 * the directory.
		 */
		while (n > 1 && path[n - 1] == '/')
			n--;
		while (n > 0 && path[n - 1] != '/')
			n--;
		while (n > 1 && path[n - 1] == '/')
			n--;
		printf("%.*s\n", n ? (int)n : 1, n ? path : ".");
	}
	return vt_finish(0);
}
