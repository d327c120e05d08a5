/*
 * mount [-t TYPE] [-o OPTIONS] DEVICE DIRECTORY: mount a file system, or show what is mounted.
 *
 * Left out: /etc/fstab, guessing TYPE, bind mounts, all flags but ro, rw and remount.
 */
#include <vt.h>
#include <sys/mount.h>

/* "device dir type options ..." as "device on dir type type (options)". */
static int show(void)
{
	char *text = vt_read_file("/proc/mounts", NULL), *field[4];

	if (!text)
		vt_die_errno(1, "/proc/mounts");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		/* A line with fewer fields gives empty ones: each step stops at the end. */
		for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
			field[i] = line;
			line += strcspn(line, " ");
			if (*line)
				*line++ = '\0';
		}
		printf("%s on %s type %s (%s)\n", field[0], field[1], field[2], field[3]);
	}
	return vt_finish(0);
}

/* Take the options that are flags out of a comma list; the rest is for the file system. */
static unsigned long flags_of(const char *list, char *rest)
{
	unsigned long flags = 0;

	*rest = '\0';
	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == 2 && !strncmp(list, "ro", n)) {
			flags |= MS_RDONLY;
		} else if (n == 7 && !strncmp(list, "remount", n)) {
			flags |= MS_REMOUNT;
		} else if (!(n == 2 && !strncmp(list, "rw", n))) {
			if (*rest)
				strcat(rest, ",");
			strncat(rest, list, n);
		}
		list += n + (list[n] == ',');
	}
	return flags;
}

static const char help[] =
	"  -o OPTIONS   ro, rw, remount; of ramfs and tmpfs mode=0755, permissions; of tmpfs size=64k, 10m or 25%:\n"
	"               what its files may have together\n"
	"  Without operands: what is mounted.\n";

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mount [-t TYPE] [-o OPTIONS] DEVICE DIRECTORY",
			       .options = "t:o:",
			       .help = help,
			       .bad_status = 1};
	const char *type = NULL, *list = NULL;
	unsigned long flags;
	char *rest;
	int c;

	if (argc == 1)
		return show();
	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 't' ? &type : &list) = o.arg;
	/* Two operands and a type: nothing is looked up anywhere. */
	if (argc - o.index != 2 || !type)
		vt_usage(&o);
	/* What is no flag is never longer than the list itself. */
	rest = vt_malloc((list ? strlen(list) : 0) + 1);
	flags = flags_of(list, rest);
	if (mount(argv[o.index], argv[o.index + 1], type, flags, *rest ? rest : NULL) < 0)
		vt_die(1, "mounting %s on %s failed: %s", argv[o.index], argv[o.index + 1], strerror(errno));
	return 0;
}
