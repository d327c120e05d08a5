/* cp: copy files. */
#include <vt.h>
#include <dirent.h>
#include <sys/stat.h>

static bool recurse;

static int cp(const char *from, const char *to);

static int copy_file(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY), out, result;
	struct stat a, b;

	if (in < 0) {
		vt_warn_errno(from);
		return 1;
	}
	if (fstat(in, &a) == 0 && stat(to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
		vt_warn("'%s' and '%s' are the same file", from, to);
		close(in);
		return 1;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, mode & 0777);
	if (out < 0) {
		vt_warn_errno(to);
		close(in);
		return 1;
	}
	result = vt_copy(in, out);
	if (result)
		vt_warn_errno(result == -1 ? from : to);
	close(in);
	if (close(out) < 0 && !result) {
		vt_warn_errno(to);
		result = -2;
	}
	return result != 0;
}

static int copy_directory(const char *from, const char *to, mode_t mode)
{
	DIR *dir;
	struct dirent *entry;
	struct stat st;
	int status = 0;

	if (stat(to, &st) < 0 && mkdir(to, mode | 0700) < 0) {
		vt_warn_errno(to);
		return 1;
	}
	dir = opendir(from);
	if (!dir) {
		vt_warn_errno(from);
		return 1;
	}
	while ((entry = readdir(dir))) {
		char *a, *b;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		a = vt_join(from, entry->d_name);
		b = vt_join(to, entry->d_name);
		status |= cp(a, b);
		free(a);
		free(b);
	}
	closedir(dir);
	return status;
}

static int copy_link(const char *from, const char *to)
{
	char target[1024];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n >= 0) {
		target[n] = '\0';
		if (symlink(target, to) == 0)
			return 0;
	}
	vt_warn_errno(n < 0 ? from : to);
	return 1;
}

static int cp(const char *from, const char *to)
{
	struct stat st;

	if ((recurse ? lstat : stat)(from, &st) < 0) {
		vt_warn("cannot stat '%s': %s", from, strerror(errno));
		return 1;
	}
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to);
	if (!S_ISDIR(st.st_mode))
		return copy_file(from, to, st.st_mode);
	if (recurse)
		return copy_directory(from, to, st.st_mode & 0777);
	vt_warn("-r not specified; omitting directory '%s'", from);
	return 1;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "cp [-r] FROM... TO", .options = "rR", .bad_status = 1};
	const char *last = argv[argc - 1];
	int status = 0;
	struct stat st;

	while (vt_option(&o, argc, argv) != -1)
		recurse = true;
	if (argc - o.index < 2)
		vt_usage(&o);
	if (argc - o.index > 2 && (stat(last, &st) < 0 || !S_ISDIR(st.st_mode)))
		vt_die(1, "target '%s' is not a directory", last);
	for (; o.index < argc - 1; o.index++) {
		char *to = vt_target(argv[o.index], last);

		status |= cp(argv[o.index], to);
		free(to);
	}
	return status;
}
