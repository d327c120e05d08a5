/*
 * ln [-sf] TARGET... NAME: give files further names.
 *
 * Left out: -n, -r, -i, -b. A link to a directory counts as the directory when it is NAME.
 */
#include <vt.h>
#include <sys/stat.h>

/* The folder that a name stands in. Returns whether there is one. */
static bool folder_of(const char *path, struct stat *st)
{
	char *folder = vt_strdup(path), *slash = strrchr(folder, '/');
	bool found;

	if (slash)
		slash[1] = '\0';
	found = stat(slash ? folder : ".", st) == 0;
	free(folder);
	return found;
}

/* Whether both are one name, however written, which -f would remove before it can be linked. */
static bool same_name(const char *from, const char *to)
{
	struct stat a, b;

	if (lstat(from, &a) < 0 || lstat(to, &b) < 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return false;
	return a.st_nlink == 1 || (!strcmp(vt_basename(from), vt_basename(to)) && folder_of(from, &a) &&
				   folder_of(to, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

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

		if (force && same_name(argv[o.index], to)) {
			vt_warn("'%s' and '%s' are the same file", argv[o.index], to);
			status = 1;
			free(to);
			continue;
		}
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
