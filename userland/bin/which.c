/* which: where a program is. */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "which NAME...", .options = "", .bad_status = 2};
	int status = 0;

	while (vt_option(&o, argc, argv) != -1)
		;
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		char *path = vt_which(argv[o.index]);

		if (path && access(path, X_OK) == 0)
			printf("%s\n", path);
		else
			status = 1;
		free(path);
	}
	return vt_finish(status);
}
