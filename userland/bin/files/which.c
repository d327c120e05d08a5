/*
 * which NAME...: where a program is.
 *
 * Status 1 when one is not found. Left out: -a. Functions and builtins of the shell are not known
 * here: see `type`.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "which NAME...", .options = "", .bad_status = 2};
	int status = 0;

	vt_operands(&o, argc, argv, 1, argc);
	for (; o.index < argc; o.index++) {
		char *path = vt_which(argv[o.index]);

		if (path && access(path, X_OK) == 0)
			printf("%s\n", path);
		else
			status = 1;
		free(path);
	}
	return vt_finish(status);
}
