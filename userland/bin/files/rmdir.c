/*
 * rmdir DIRECTORY...: remove empty directories.
 *
 * Left out: -p.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "rmdir DIRECTORY...", .options = "", .bad_status = 1};
	int status = 0;

	vt_operands(&o, argc, argv, 1, argc);
	for (; o.index < argc; o.index++) {
		if (rmdir(argv[o.index]) < 0) {
			vt_warn("failed to remove '%s': %s", argv[o.index], strerror(errno));
			status = 1;
		}
	}
	return status;
}
