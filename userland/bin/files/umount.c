/*
 * umount [-l] DIRECTORY...: take file systems away.
 *
 * -l: now from the tree, and entirely when it is no longer in use. Left out: -a, -f, devices
 * instead of directories. umount2(2) has EINVAL for a directory on which nothing is mounted.
 */
#include <vt.h>
#include <sys/mount.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "umount [-l] DIRECTORY...", .options = "l", .bad_status = 1};
	int flags = 0, status = 0;

	while (vt_option(&o, argc, argv) != -1)
		flags = MNT_DETACH;
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		if (umount2(argv[o.index], flags) < 0) {
			if (errno == EINVAL)
				vt_warn("%s: not mounted", argv[o.index]);
			else
				vt_warn_errno(argv[o.index]);
			status = 1;
		}
	}
	return status;
}
