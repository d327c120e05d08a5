/*
 * Names of files: joining, splitting, searching $PATH.
 *
 * All functions that make a name return new memory, since a path has no useful upper limit. They work
 * on the text alone, unless they say that they ask the file system.
 */
#include <vt.h>
#include <sys/stat.h>

/* One slash between the two, also when dir already ends in one ("/" + "etc" is "/etc"). */
char *vt_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);
	char *path = vt_malloc(n + strlen(name) + 2);

	strcpy(path, dir);
	if (n && dir[n - 1] != '/')
		path[n++] = '/';
	strcpy(path + n, name);
	return path;
}

/* The last part of "a/" is empty: a caller that wants "a" cuts the slashes off first (vt_target). */
const char *vt_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Whether this is a regular file that somebody may execute. Any of the three x bits will do, because
 * root may run what anybody may; a directory has x bits too and is no program.
 */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

/*
 * An empty part of $PATH is the current directory (POSIX 8.3), which is why strtok() is of no use.
 * $PATH "/bin::/sbin" thus has three parts, the second of which is ".". A name with a slash is a path
 * already and is not looked for.
 */
char *vt_which(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return vt_strdup(name);
	if (!path)
		path = "/bin:/sbin";
	/* An empty name is found nowhere; without this test it would be the directory itself. */
	while (*name) {
		size_t n = strcspn(path, ":");
		char *dir = vt_malloc(n + 2), *full;

		memcpy(dir, n ? path : ".", n ? n : 1);
		dir[n ? n : 1] = '\0';
		full = vt_join(dir, name);
		free(dir);
		if (is_program(full))
			return full;
		free(full);
		if (!path[n])
			break;
		path += n + 1;
	}
	return NULL;
}

/*
 * Slashes at the end of from do not make its last part empty: "cp -r d/ e" makes e/d. Returns new
 * memory in each case.
 */
char *vt_target(const char *from, const char *to)
{
	struct stat st;
	char *copy, *target;
	size_t n;

	if (stat(to, &st) < 0 || !S_ISDIR(st.st_mode))
		return vt_strdup(to);
	copy = vt_strdup(from);
	for (n = strlen(copy); n > 1 && copy[n - 1] == '/';)
		copy[--n] = '\0';
	target = vt_join(to, vt_basename(copy));
	free(copy);
	return target;
}

/* Several files can only go into a directory: else each would replace the one before. */
int vt_to_target(const struct vt_options *o, int argc, char **argv, int (*work)(const char *from, const char *to))
{
	const char *last = argv[argc - 1];
	int status = 0;
	struct stat st;

	if (argc - o->index < 2)
		vt_usage(o);
	if (argc - o->index > 2 && (stat(last, &st) < 0 || !S_ISDIR(st.st_mode)))
		vt_die(o->bad_status, "target '%s' is not a directory", last);
	for (int i = o->index; i < argc - 1; i++) {
		char *to = vt_target(argv[i], last);

		status |= work(argv[i], to);
		free(to);
	}
	return status;
}
