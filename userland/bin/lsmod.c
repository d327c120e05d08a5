/* lsmod: the modules in the kernel, the newest first, how large each is and who uses it. */
#include <vt.h>
#include <vt_module.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "lsmod", .options = "", .bad_status = 1};
	struct vt_module m;
	struct vt_lines lines;
	int fd;

	vt_operands(&o, argc, argv, 0, 0);
	fd = open(VT_MODULES, O_RDONLY);
	if (fd < 0)
		vt_die_errno(1, VT_MODULES);
	vt_lines_open(&lines, fd);
	puts("Module                  Size  Used by");
	while (vt_next_module(&lines, &m))
		printf("%-19s %8s  %s%s%s\n", m.name, m.size, m.refs, *m.users ? " " : "", m.users);
	return vt_finish(0);
}
