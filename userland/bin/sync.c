/*
 * sync: write out what is still in memory only.
 *
 * A write(2) is done when the kernel has the bytes; the disk gets them later, and a machine that is
 * switched off before loses them.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "sync", .options = "", .bad_status = 1};

	while (vt_option(&o, argc, argv) != -1)
		;
	if (o.index != argc)
		vt_usage(&o);
	sync();
	return 0;
}
