/*
 * Patterns into names of files.
 *
 * A pattern is worked through component by component: one without pattern characters is only
 * appended, any other is matched against the entries of the directory that the path so far names.
 * So directories that need only be passed through are not read, and need not be readable.
 * Everything lies in sh.temp.
 *
 *     src/l?b/[a-m]*.c      src is appended; l?b is matched in src/; [a-m]*.c in each src/NAME/
 *
 * A name that begins with a dot is matched only by a pattern that begins with one (FNM_PERIOD).
 */
#include "sh.h"
#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

/* What has been found; grows by doubling in the arena. */
struct names {
	char **v;
	size_t n, size;
};

static void names_add(struct names *names, char *name)
{
	if (names->n == names->size) {
		size_t size = names->size ? names->size * 2 : 16;
		char **v = arena_alloc(&sh.temp, size * sizeof(*v));

		memcpy(v, names->v, names->n * sizeof(*v));
		names->v = v;
		names->size = size;
	}
	names->v[names->n++] = name;
}

/*
 * A path of three parts in sh.temp: prefix, which ends in a slash or is empty, name, and the slashes
 * that followed it in the pattern.
 */
static char *append(const char *prefix, const char *name, const char *tail)
{
	char *path = arena_alloc(&sh.temp, strlen(prefix) + strlen(name) + strlen(tail) + 1);

	strcpy(stpcpy(stpcpy(path, prefix), name), tail);
	return path;
}

/*
 * Whether this component has an unquoted pattern character; a bracket that is not closed, such as the command `[`, is
 * none. A backslash, which x_pattern() puts in front of quoted bytes, hides the byte after it.
 */
static bool has_pattern(const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (strchr("*?", *s) || (*s == '[' && strchr(s, ']')))
			return true;
	}
	return false;
}

/* In place. Returns s. */
static char *without_backslashes(char *s)
{
	char *to = s, *from = s;

	for (; *from; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = '\0';
	return s;
}

static void glob_in(struct names *names, const char *prefix, const char *pattern);

/* Go on behind one component that is there: path, then the slashes and the rest of the pattern. */
static void glob_next(struct names *names, const char *prefix, const char *name, const char *rest)
{
	size_t slashes = strspn(rest, "/");
	char *path = append(prefix, name, arena_copy(&sh.temp, rest, slashes));
	struct stat st;

	if (rest[slashes])
		glob_in(names, path, rest + slashes);
	/*
	 * lstat: a dangling link is a name that is there. After a slash at the end, only a
	 * directory is.
	 */
	else if (lstat(path, &st) == 0)
		names_add(names, path);
}

/*
 * Find the names that match the pattern below prefix, which is "" or ends in a slash. Recursion goes
 * as deep as the pattern has components.
 */
static void glob_in(struct names *names, const char *prefix, const char *pattern)
{
	size_t n = strcspn(pattern, "/");
	char *component = arena_copy(&sh.temp, pattern, n);
	struct dirent *entry;
	DIR *dir;

	if (!has_pattern(component)) {
		glob_next(names, prefix, without_backslashes(component), pattern + n);
		return;
	}
	/* What cannot be read matches nothing, without a message: so POSIX has it. */
	dir = opendir(*prefix ? prefix : ".");
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (fnmatch(component, entry->d_name, FNM_PERIOD) == 0)
			glob_next(names, prefix, arena_copy(&sh.temp, entry->d_name, strlen(entry->d_name)),
				  pattern + n);
	}
	closedir(dir);
}

/* The slashes at the start are a prefix that needs no directory to be looked up. */
size_t glob_expand(const char *pattern, char ***list)
{
	struct names names = {0};
	size_t slashes = strspn(pattern, "/");

	if (has_pattern(pattern))
		glob_in(&names, arena_copy(&sh.temp, pattern, slashes), pattern + slashes);
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), vt_by_name);
	*list = names.v;
	return names.n;
}
