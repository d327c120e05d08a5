/*
 * Finding modules by name (<vt_module.h>): modules.dep, which the build of modules writes, says which files a module
 * needs: a line "a.ko: b.ko c.ko" means c.ko, then b.ko, then a.ko. modules.alias beside it has other names of modules:
 * "alias PATTERN MODULE" (MODULE_ALIAS in the source).
 */
#include <vt.h>
#include <vt_module.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/utsname.h>

/* "path/my-module.ko" and "my_module" name the same module. */
static bool same_module(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');

	for (file = slash ? slash + 1 : file; *name; file++, name++)
		if ((*file == '-' ? '_' : *file) != (*name == '-' ? '_' : *name))
			return false;
	return !*file || !strcmp(file, ".ko");
}

/* Looks the module up in the folder's modules.dep. */
static bool find_in(struct vt_module_needs *needs, const char *folder, const char *name)
{
	char path[PATH_MAX], *rest, *word;
	FILE *dep;

	snprintf(path, sizeof(path), "%s/modules.dep", folder);
	dep = fopen(path, "r");
	needs->n = 0;
	while (dep && !needs->n && fgets(needs->line, sizeof(needs->line), dep)) {
		char *colon = strchr(needs->line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (!same_module(needs->line, name))
			continue;
		needs->files[needs->n++] = needs->line;
		for (rest = colon + 1; needs->n < 64 && (word = strsep(&rest, " \n"));)
			if (*word)
				needs->files[needs->n++] = word;
	}
	if (dep)
		fclose(dep);
	needs->folder = folder;
	return needs->n;
}

/* The module that goes by this alias in the folder, in *module; false: none does. The first line that fits counts. */
static bool find_alias(const char *folder, const char *alias, char *module, size_t size)
{
	char path[PATH_MAX], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/modules.alias", folder);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *rest = line, *word = strsep(&rest, " "), *pattern = strsep(&rest, " "),
		     *name = strsep(&rest, " \n");

		found = name && !strcmp(word, "alias") && !fnmatch(pattern, alias, 0) &&
			snprintf(module, size, "%s", name) < (int)size;
	}
	if (f)
		fclose(f);
	return found;
}

static bool find_in_folder(struct vt_module_needs *needs, const char *folder, const char *name)
{
	char module[NAME_MAX];

	return find_in(needs, folder, name) ||
	       (find_alias(folder, name, module, sizeof(module)) && find_in(needs, folder, module));
}

/* One file, given by its path: its folder's modules.dep may say what it needs, and the file alone will do. */
static bool find_file(struct vt_module_needs *needs, const char *path)
{
	static char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');

	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	if (find_in(needs, *folder ? folder : "/", slash + 1))
		return true;
	snprintf(needs->line, sizeof(needs->line), "%s", slash + 1);
	needs->files[0] = needs->line;
	needs->n = 1;
	return !access(path, F_OK);
}

bool vt_find_module(struct vt_module_needs *needs, const char *folder, const char *name)
{
	static char release[300];
	struct utsname uts;

	if (strchr(name, '/'))
		return find_file(needs, name);
	if (folder)
		return find_in_folder(needs, folder, name);
	uname(&uts);
	snprintf(release, sizeof(release), "/lib/modules/%s", uts.release);
	return find_in_folder(needs, release, name) || find_in_folder(needs, "/host", name);
}

const char *vt_module_path(struct vt_module_needs *needs, int i)
{
	snprintf(needs->path, sizeof(needs->path), "%s/%s", needs->folder, needs->files[i]);
	return needs->path;
}
