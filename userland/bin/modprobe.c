/*
 * modprobe [-q] NAME [NAME=VALUE]...: load a module and, before it, those that it uses. modprobe -r NAME...: take
 * modules out, and what they used and nobody else does.
 *
 * The kernel runs `modprobe -q -- NAME` when it lacks something: -q says nothing of a name that no module has.
 *
 * Modules are looked for in /lib/modules/RELEASE and in /host, or in the folder of -d. There modules.dep, which the
 * build of modules writes, says which files a module needs: a line "a.ko: b.ko c.ko" means c.ko, then b.ko, then a.ko.
 * modules.alias beside it has other names of modules: "alias PATTERN MODULE" (MODULE_ALIAS in the source).
 */
#include <vt.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/module.h>
#include <sys/utsname.h>

/* A line of modules.dep, cut into words: the module's own file, and those before it. */
struct needs {
	const char *folder;
	char line[4096];
	char *files[64];
	int n;
};

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
static bool find_in(struct needs *needs, const char *folder, const char *name)
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

static bool find_in_folder(struct needs *needs, const char *folder, const char *name)
{
	char module[NAME_MAX];

	return find_in(needs, folder, name) ||
	       (find_alias(folder, name, module, sizeof(module)) && find_in(needs, folder, module));
}

static bool find_module(struct needs *needs, const char *folder, const char *name)
{
	static char release[300];
	struct utsname uts;

	if (folder)
		return find_in_folder(needs, folder, name);
	uname(&uts);
	snprintf(release, sizeof(release), "/lib/modules/%s", uts.release);
	return find_in_folder(needs, release, name) || find_in_folder(needs, "/host", name);
}

/* One that is there already is as good as loaded. 0 or the status to end with. */
static int load(const struct needs *needs, const char *file, const char *params)
{
	char path[PATH_MAX];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", needs->folder, file);
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		vt_warn_errno(path);
		return 1;
	}
	ret = finit_module(fd, params, 0);
	close(fd);
	if (ret == 0 || errno == EEXIST)
		return 0;
	vt_warn("could not insert %s: %s; dmesg says more", path, strerror(errno));
	return 1;
}

static int load_all(const struct needs *needs, const char *params)
{
	for (int i = needs->n - 1; i >= 0; i--) {
		int status = load(needs, needs->files[i], i ? "" : params);

		if (status)
			return status;
	}
	return 0;
}

/* The module itself has to go. Those it used stay, without a word, when somebody else uses them. */
static int remove_all(struct needs *needs)
{
	for (int i = 0; i < needs->n; i++) {
		const char *name = vt_module_name(needs->files[i]);

		if (delete_module(name, O_NONBLOCK) == 0 || i)
			continue;
		vt_warn("could not remove %s: %s", name, errno == EAGAIN ? "it is in use (lsmod)" : strerror(errno));
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "modprobe [-q] [-d FOLDER] NAME [NAME=VALUE]... or modprobe -r NAME...",
			       .options = "qrd:",
			       .bad_status = 1};
	const char *folder = NULL;
	static struct needs needs;
	char *params;
	bool take_out = false, quiet = false;
	int status = 0, c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'r')
			take_out = true;
		else if (c == 'q')
			quiet = true;
		else
			folder = o.arg;
	}
	if (o.index >= argc)
		vt_usage(&o);
	params = vt_module_params(argv + o.index + 1, take_out ? 0 : argc - o.index - 1);
	if (!params)
		vt_die_errno(1, "parameters");
	for (int i = o.index; i < (take_out ? argc : o.index + 1); i++) {
		if (!find_module(&needs, folder, argv[i])) {
			if (!quiet)
				vt_warn("Module %s not found: no modules.dep of %s names it", argv[i],
					folder ? folder : "/lib/modules and /host");
			status = 1;
		} else {
			status |= take_out ? remove_all(&needs) : load_all(&needs, params);
		}
	}
	return status;
}
