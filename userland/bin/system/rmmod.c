/*
 * rmmod [-fv] NAME...: take modules out of the kernel. A name may be that of the file, with .ko and a path. -v says
 * which; -f asks the kernel to take one that is in use, which this one refuses.
 */
#include <vt.h>
#include <vt_module.h>
#include <sys/module.h>

/*
 * The users that /proc/modules names behind the module. It may not name the module: then procfs is not mounted, or the
 * module has gone meanwhile.
 */
static void print_users(const char *name)
{
	int fd = open(VT_MODULES, O_RDONLY);
	struct vt_lines lines;
	struct vt_module m;
	bool found;

	vt_lines_open(&lines, fd);
	while ((found = vt_next_module(&lines, &m)) && strcmp(m.name, name))
		;
	if (found && *m.users)
		vt_warn("Module %s is in use by: %s", name, m.users);
	else if (found)
		vt_warn("Module %s is in use (%s references; dmesg may say whose)", name, m.refs);
	else
		vt_warn("Module %s is in use (dmesg may say whose)", name);
	vt_lines_free(&lines);
	close(fd);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "rmmod [-fv] NAME...", .options = "fv", .bad_status = 1};
	int status = 0, flags = O_NONBLOCK, c;
	bool verbose = false;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'f')
			flags |= O_TRUNC;
		else
			verbose = true;
	}
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		char *name = vt_module_name(argv[o.index]);

		if (verbose)
			printf("rmmod %s\n", name);
		if (delete_module(name, flags) == 0)
			continue;
		status = 1;
		if (errno == ENOENT)
			vt_warn("Module %s is not currently loaded", name);
		else if (errno == EAGAIN)
			print_users(name);
		else
			vt_warn("%s: %s", name, vt_module_error());
	}
	return vt_finish(status);
}
