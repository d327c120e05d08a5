/*
 * The names in a directory as a list: `ls`, `rm -r`, patterns of the shell and the folders of tracefs
 * all take a directory in one piece.
 */
#include <vt.h>
#include <dirent.h>

void vt_names_free(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}

int vt_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * The directory is closed again before the first name is used. A walk down a tree then holds one descriptor,
 * not one a level, and a caller that removes or adds files does not change what is being read.
 */
char **vt_names(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char **names = vt_malloc(sizeof(*names));
	size_t n = 0;
	int err;

	names[0] = NULL;
	if (!dir) {
		free(names);
		return NULL;
	}
	/* NULL is the end and an error alike: only errno tells them apart, so it is cleared before each call.
	 */
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		names = vt_realloc(names, sizeof(*names) * (n + 2));
		names[n++] = vt_strdup(entry->d_name);
		names[n] = NULL;
	}
	err = errno;
	closedir(dir);
	if (!err)
		return names;
	vt_names_free(names);
	errno = err;
	return NULL;
}
