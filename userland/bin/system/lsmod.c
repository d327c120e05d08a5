/*
 * lsmod: the modules in the kernel, the newest first, how large each is and who uses it. A last line says when none can
 * be loaded or removed any more: root has switched that off, or the kernel has, after an oops in the loader.
 */
#include <vt.h>
#include <vt_module.h>
#include <sys/module.h>

#define DISABLED "/proc/sys/kernel/modules_disabled"

/* A kernel without the file has no such state. */
static void warn_if_disabled(void)
{
	char value = '0';
	int fd = open(DISABLED, O_RDONLY);

	if (fd >= 0 && read(fd, &value, 1) == 1 && value == '1')
		vt_warn("no module can be loaded or removed any more (" DISABLED " is 1; dmesg may say why)");
	close(fd);
}

/* VT_MODULES cannot be read: because there are no modules, or for the reason that errno has. Ends the program. */
static void die_without_list(void)
{
	int err = errno;

	if (delete_module("", O_NONBLOCK) == 0 || errno != ENOSYS)
		errno = err;
	vt_warn("%s: %s", VT_MODULES, vt_module_error());
	exit(1);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "lsmod", .options = "", .bad_status = 1};
	struct vt_module m;
	struct vt_lines lines;
	int fd;

	vt_operands(&o, argc, argv, 0, 0);
	fd = open(VT_MODULES, O_RDONLY);
	if (fd < 0)
		die_without_list();
	vt_lines_open(&lines, fd);
	puts("Module                  Size  Used by");
	while (vt_next_module(&lines, &m))
		printf("%-19s %8s  %s%s%s\n", m.name, m.size, m.refs, *m.users ? " " : "", m.users);
	fflush(stdout);
	warn_if_disabled();
	return vt_finish(0);
}
