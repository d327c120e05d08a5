/* lsmod: the modules in the kernel, the newest first, how large each is and who uses it. */
#include <vt.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "lsmod", .options = "", .bad_status = 1};
	char line[512], name[64], users[256];
	unsigned long size;
	FILE *file;
	int refs;

	while (vt_option(&o, argc, argv) != -1)
		;
	if (o.index < argc)
		vt_usage(&o);
	file = fopen("/proc/modules", "r");
	if (!file) {
		vt_warn_errno("/proc/modules");
		return 1;
	}
	puts("Module                  Size  Used by");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %lu %d %255s", name, &size, &refs, users) != 4)
			continue;
		/* "a,b," as the kernel has it, or "-". */
		users[strlen(users) - 1] = '\0';
		printf("%-19s %8lu  %d%s%s\n", name, size, refs, *users ? " " : "", users);
	}
	fclose(file);
	return vt_finish(0);
}
