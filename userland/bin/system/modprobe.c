/*
 * modprobe [-qvn] NAME [NAME=VALUE]...: load a module and, before it, those that it uses. modprobe -r NAME...: take
 * modules out, and what they used and no other module does. -v prints each step, as a call of insmod or rmmod; -n takes
 * no step.
 *
 * The kernel runs `modprobe -q -- NAME` when it lacks something: -q says nothing of a name that no module has.
 *
 * Modules are looked for in /lib/modules/RELEASE and in /host, or in the folder of -d (userland/lib/module_dep.c). A
 * name with a slash is the path of a file. -r also takes out a module that no modules.dep names, if it is loaded.
 */
#include <vt.h>
#include <vt_module.h>
#include <fcntl.h>
#include <string.h>
#include <sys/module.h>

static bool verbose, only_show;

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

/* One that is there already is as good as loaded. 0 or the status to end with. */
static int load(const char *path, const char *name, const char *params)
{
	int fd, ret;

	if (verbose && !is_there(name))
		printf("insmod %s %s\n", path, params);
	if (only_show)
		return 0;
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		vt_warn_errno(path);
		return 1;
	}
	ret = finit_module(fd, params, 0);
	close(fd);
	if (ret == 0 || errno == EEXIST)
		return 0;
	vt_warn("could not insert %s: %s; dmesg says more", path, vt_module_error());
	return 1;
}

static int load_all(struct vt_module_needs *needs, const char *params)
{
	for (int i = needs->n - 1; i >= 0; i--) {
		const char *path = vt_module_path(needs, i);
		int status = load(path, vt_module_name(needs->files[i]), i ? "" : params);

		if (status)
			return status;
	}
	return 0;
}

/*
 * The module itself has to go, or not to be there. Those it used stay, without a word, when another module uses them:
 * -v shows what the kernel is asked for.
 */
static int remove_all(struct vt_module_needs *needs)
{
	for (int i = 0; i < needs->n; i++) {
		const char *name = vt_module_name(needs->files[i]);

		if (verbose && is_there(name))
			printf("rmmod %s\n", name);
		if (only_show || delete_module(name, O_NONBLOCK) == 0 || i || errno == ENOENT)
			continue;
		vt_warn("could not remove %s: %s", name, errno == EAGAIN ? "it is in use (lsmod)" : vt_module_error());
		return 1;
	}
	return 0;
}

/* A module that insmod has loaded from some other folder: nothing is known of what it uses. */
static bool is_loaded(struct vt_module_needs *needs, const char *name)
{
	snprintf(needs->line, sizeof(needs->line), "%s", name);
	needs->files[0] = vt_module_name(needs->line);
	needs->n = 1;
	return is_there(needs->files[0]);
}

static void warn_not_found(const char *folder, const char *name)
{
	if (strchr(name, '/'))
		vt_warn("%s: no such file", name);
	else
		vt_warn("Module %s not found: no modules.dep of %s names it", name,
			folder ? folder : "/lib/modules and /host");
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "modprobe [-qvn] [-d FOLDER] NAME [NAME=VALUE]... or modprobe -r [-vn] NAME...",
			       .options = "qrvnd:",
			       .bad_status = 1};
	const char *folder = NULL;
	static struct vt_module_needs needs;
	char *params;
	bool take_out = false, quiet = false;
	int status = 0, c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'r')
			take_out = true;
		else if (c == 'q')
			quiet = true;
		else if (c == 'v')
			verbose = true;
		else if (c == 'n')
			only_show = true;
		else
			folder = o.arg;
	}
	if (o.index >= argc)
		vt_usage(&o);
	params = vt_module_params(argv + o.index + 1, take_out ? 0 : argc - o.index - 1);
	if (!params)
		vt_die_errno(1, "parameters");
	for (int i = o.index; i < (take_out ? argc : o.index + 1); i++) {
		if (!vt_find_module(&needs, folder, argv[i]) && !(take_out && is_loaded(&needs, argv[i]))) {
			if (!quiet)
				warn_not_found(folder, argv[i]);
			status = 1;
		} else {
			status |= take_out ? remove_all(&needs) : load_all(&needs, params);
		}
	}
	return vt_finish(status);
}
