/*
 * mkdir [-p] [-m MODE] DIRECTORY...: make directories.
 *
 * MODE is as chmod has it: octal, or such as u=rwx,g-w, which changes 777. Left out: -v. With -m, parents made by -p
 * get the full mode too.
 */
#include <vt.h>
#include <sys/stat.h>

/*
 * -p: make each directory on the way that is not there, then the last one. That all are there already
 * is no error. Returns as mkdir(). Parents get the usual mode, less the umask.
 */
static int make_parents(const char *path, mode_t mode)
{
	char *copy = vt_strdup(path);
	struct stat st;
	int result = 0;

	/* Each slash is cut away for a moment, which leaves one directory more each time. */
	for (char *slash = copy + 1; result == 0 && *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		if (stat(copy, &st) < 0)
			result = mkdir(copy, 0777);
		*slash = '/';
	}
	free(copy);
	if (result == 0 && (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
		result = mkdir(path, mode);
	return result;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mkdir [-p] [-m MODE] DIRECTORY...", .options = "pm:", .bad_status = 1};
	bool parents = false;
	mode_t mode = 0777;
	int c, status = 0;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'p') {
			parents = true;
			continue;
		}
		/* POSIX: -m is meant exactly. */
		if (!vt_change_mode(o.arg, umask(0), &mode))
			vt_die(1, "invalid mode '%s'", o.arg);
	}
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		if ((parents ? make_parents : mkdir)(argv[o.index], mode) < 0) {
			vt_warn("cannot create directory '%s': %s", argv[o.index], strerror(errno));
			status = 1;
		}
	}
	return status;
}
