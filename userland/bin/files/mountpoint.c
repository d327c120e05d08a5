/*
 * mountpoint [-q] DIRECTORY: whether a file system is mounted there. Status 0 if so, 32 if not, 1 on an
 * error.
 *
 * Left out: -d and -x (device numbers), and bind mounts within one file system, which only the kernel's list
 * tells.
 */
#include <vt.h>
#include <sys/stat.h>

#define NOT_A_MOUNTPOINT 32 /* util-linux's MNT_EX_FAIL */

/*
 * The root of a mounted file system is on another device than its parent; the root of everything is its own
 * parent. Returns true, false, or -1 with errno.
 */
static int is_mountpoint(const char *path)
{
	char *above = vt_join(path, "..");
	struct stat here, parent;
	int result = -1;

	if (lstat(path, &here) == 0 && !S_ISDIR(here.st_mode))
		errno = ENOTDIR;
	else if (stat(path, &here) == 0 && stat(above, &parent) == 0)
		result = here.st_dev != parent.st_dev || here.st_ino == parent.st_ino;
	free(above);
	return result;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mountpoint [-q] DIRECTORY", .options = "q", .bad_status = 1};
	bool quiet = false;
	int result;

	while (vt_option(&o, argc, argv) != -1)
		quiet = true;
	if (argc - o.index != 1)
		vt_usage(&o);
	result = is_mountpoint(argv[o.index]);
	if (result < 0) {
		if (!quiet)
			vt_warn_errno(argv[o.index]);
		return 1;
	}
	if (!quiet)
		printf("%s is %sa mountpoint\n", argv[o.index], result ? "" : "not ");
	return vt_finish(result ? 0 : NOT_A_MOUNTPOINT);
}
