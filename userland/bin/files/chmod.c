/*
 * chmod [-R] MODE FILE...: change who may read, write and execute a file. -R: and all that is below a folder.
 *
 *     u=rwx,go-w     clause , clause     a clause: classes, then operator and permissions, again and again
 *     755            octal digits
 *
 * A mode is applied twice: once to nothing, to see whether it can be understood before any file is
 * changed, and then to the mode of each file, on which +X and -w depend.
 */
#include <vt.h>
#include <sys/stat.h>

static const char *mode_text;
static mode_t mask;
static int status;

/* Change the mode of one file; a message says what is wrong. */
static void change(const char *name, mode_t mode)
{
	vt_change_mode(mode_text, mask, &mode);
	if (chmod(name, mode & 07777) < 0) {
		vt_warn("changing permissions of '%s': %s", name, strerror(errno));
		status = 1;
	}
}

/* For vt_walk(): a folder comes before what is in it. A link has no mode of its own, and -R does not follow it. */
static bool visit(const struct vt_file *file)
{
	if (!S_ISLNK(file->st->st_mode))
		change(file->path, file->st->st_mode);
	return true;
}

static void fail(const char *path)
{
	vt_warn("cannot access '%s': %s", path, strerror(errno));
	status = 1;
}

int main(int argc, char **argv)
{
	static const struct vt_walker walker = {.visit = visit, .fail = fail};
	struct vt_options o = {
		.usage = "chmod [-R] MODE FILE... (MODE: 755, +x, u=rwx,go-w)", .options = "R", .bad_status = 1};
	bool takes_away, recurse = false;
	mode_t mode = 0;
	struct stat st;

	mask = umask(0);
	umask(mask);
	if (argc > 1 && !strcmp(argv[1], "-R")) {
		recurse = true;
		argv++;
		argc--;
	}
	/* -x is a mode, though it looks like an option. */
	takes_away = argc > 1 && argv[1][0] == '-' && argv[1][1] && strchr("rwxXst", argv[1][1]);
	while (!takes_away && vt_option(&o, argc, argv) != -1)
		recurse = true;
	if (takes_away)
		o.index = 1;
	if (argc - o.index < 2)
		vt_usage(&o);
	mode_text = argv[o.index++];
	if (!vt_change_mode(mode_text, mask, &mode))
		vt_die(1, "invalid mode: '%s'", mode_text);
	for (; o.index < argc; o.index++) {
		const char *name = argv[o.index];

		if (stat(name, &st) < 0)
			fail(name);
		else if (recurse && S_ISDIR(st.st_mode))
			vt_walk(&walker, name);
		else
			change(name, st.st_mode);
	}
	return status;
}
