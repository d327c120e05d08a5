/*
 * touch [-c] FILE...: set times to now, and make files that are missing.
 *
 * Left out: -a, -m, -d, -r, -t.
 */
#include <vt.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "touch [-c] FILE...", .options = "c", .bad_status = 1};
	bool create = true;
	int status = 0;

	while (vt_option(&o, argc, argv) != -1)
		create = false;
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		const char *path = argv[o.index];
		int fd;

		/*
		 * Times NULL: both are set to now by the kernel, which needs only the right to
		 * write.
		 */
		if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
			continue;
		/* POSIX: with -c a missing file is no error and no message. */
		if (errno == ENOENT && !create)
			continue;
		fd = errno == ENOENT ? open(path, O_WRONLY | O_CREAT, 0666) : -1;
		if (fd < 0 || close(fd) < 0) {
			vt_warn("cannot touch '%s': %s", path, strerror(errno));
			status = 1;
		}
	}
	return status;
}
