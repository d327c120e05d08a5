/*
 * pwd [-L | -P]: the current directory.
 *
 * Both options give the same: the kernel's path.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "pwd [-L | -P]", .options = "LP", .bad_status = 1};
	char path[PATH_MAX];

	vt_operands(&o, argc, argv, 0, argc); /* the kernel's path has no symbolic links in it */
	if (!getcwd(path, sizeof(path)))
		vt_die_errno(1, "getcwd");
	printf("%s\n", path);
	return vt_finish(0);
}
