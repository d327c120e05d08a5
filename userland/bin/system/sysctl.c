/*
 * sysctl [-nNq] [-w] NAME[=VALUE]... | sysctl -a: show and set the kernel's parameters, which are
 * files under /proc/sys.
 *
 * -q does not show what has been set. Left out: -p (files of settings), -e, patterns.
 *
 *     kernel.ftrace_enabled = 1      is the content of      /proc/sys/kernel/ftrace_enabled
 *
 * So `cat` and `echo >` do the same; the names with dots are what documentation uses.
 */
#include <vt.h>
#include <sys/stat.h>

static bool names = true, values = true, quiet;

/*
 * kernel.ftrace_enabled and kernel/ftrace_enabled are both /proc/sys/kernel/ftrace_enabled. Returns
 * new memory.
 */
static char *path_of(const char *name)
{
	char *path = vt_join("/proc/sys", name);

	for (char *c = path + strlen("/proc/sys"); *c; c++) {
		if (*c == '.')
			*c = '/';
	}
	return path;
}

/* Print a parameter. A value of several lines is printed as so many, each with the name in front. */
static void print_value(const char *path, char *value)
{
	char *line = value;

	do {
		size_t n = strcspn(line, "\n");

		if (names) {
			for (const char *c = path + strlen("/proc/sys/"); *c; c++)
				printf("%c", *c == '/' ? '.' : *c);
		}
		if (values)
			printf("%s%.*s", names ? " = " : "", (int)n, line);
		printf("\n");
		line += n + (line[n] != '\0');
	} while (*line);
}

static int show(const char *path);

/* Show all parameters below a folder, and go on after one that cannot be read. */
static int show_directory(const char *path)
{
	char **found = vt_names(path);
	int status = 0;

	if (!found) {
		vt_warn_errno(path);
		return 1;
	}
	for (char **name = found; *name; name++) {
		char *full = vt_join(path, *name);

		status |= show(full);
		free(full);
	}
	vt_names_free(found);
	return status;
}

/* A file is one parameter; a folder stands for all in it. */
static int show(const char *path)
{
	struct stat st;
	char *value;

	if (stat(path, &st) < 0) {
		vt_warn("cannot stat %s: %s", path, strerror(errno));
		return 1;
	}
	if (S_ISDIR(st.st_mode))
		return show_directory(path);
	/* Some parameters can only be written (EACCES, EIO): said, and the next is shown. */
	value = vt_read_file(path, NULL);
	if (!value) {
		vt_warn("reading %s: %s", path, strerror(errno));
		return 1;
	}
	print_value(path, value);
	free(value);
	return 0;
}

/*
 * Write a value, in one write(2), since the kernel takes each write as a whole value. Then show what
 * the kernel has made of it, which may differ.
 */
static int set(const char *path, const char *value)
{
	char *line = vt_malloc(strlen(value) + 2);
	int fd = open(path, O_WRONLY), status;

	strcpy(stpcpy(line, value), "\n");
	/* One write: the kernel takes each as a whole value. */
	status = fd < 0 || vt_write_all(fd, line, strlen(line)) < 0;
	if (status)
		vt_warn("setting %s: %s", path, strerror(errno));
	if (fd >= 0 && close(fd) < 0 && !status) {
		vt_warn("setting %s: %s", path, strerror(errno));
		status = 1;
	}
	free(line);
	return status || (!quiet && show(path));
}

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "sysctl [-nNq] [-w] NAME[=VALUE]... | sysctl -a", .options = "nNqwa", .bad_status = 1};
	int c, status = 0;
	bool all = false;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'n')
			names = false;
		else if (c == 'N')
			values = false;
		else if (c == 'q')
			quiet = true;
		else
			all |= c == 'a'; /* -w only says what "=" says already */
	}
	if (!all && o.index >= argc)
		vt_usage(&o);
	if (all)
		status = show("/proc/sys");
	for (; o.index < argc; o.index++) {
		char *value = strchr(argv[o.index], '='), *path;

		if (value)
			*value++ = '\0';
		path = path_of(argv[o.index]);
		status |= value ? set(path, value) : show(path);
		free(path);
	}
	return vt_finish(status);
}
