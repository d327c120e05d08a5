/*
 * sync: the system call of that name.
 *
 * Scripts call it before they end a machine. This kernel has no disks and keeps no write back: a file system in
 * memory has nothing to write, and 9p's server has the bytes when write(2) returns.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "sync", .options = "", .bad_status = 1};

	vt_operands(&o, argc, argv, 0, 0);
	sync();
	return 0;
}
