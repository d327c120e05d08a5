/*
 * rmmod [-fv] NAME...: take modules out of the kernel. A name may be that of the file, with .ko and a path. -v says
 * which; -f asks the kernel to take one that is in use, which this one refuses.
 */
#include <vt.h>
#include <fcntl.h>
#include <string.h>
#include <sys/module.h>

/*
 * The users that /proc/modules names behind the module: "a,b,"; "-" when there are none. It may not name the module:
 * then procfs is not mounted, or the module has gone meanwhile.
 */
static void print_users(const char *name)
{
	FILE *file = fopen("/proc/modules", "r");
	char line[512], module[64], users[256];
	bool found = false;
	int refs;

	while (!found && file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %*u %d %255s", module, &refs, users) == 3 && !strcmp(module, name)) {
			found = true;
			users[strlen(users) - 1] = '\0';
			if (*users)
				vt_warn("Module %s is in use by: %s", name, users);
			else
				vt_warn("Module %s is in use (%d references; dmesg may say whose)", name, refs);
		}
	if (!found)
		vt_warn("Module %s is in use (dmesg may say whose)", name);
	if (file)
		fclose(file);
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
			vt_warn("%s: %s", name, strerror(errno));
	}
	return vt_finish(status);
}
