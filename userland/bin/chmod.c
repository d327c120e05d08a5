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

/*
 * The bits of one letter of rwxXst, for owner, group and others together; 0 when it is another. `old` is
 * the mode so far, on which X depends: it is x, but only for directories and for what somebody may
 * execute already.
 */
static mode_t permission(char letter, mode_t old)
{
	switch (letter) {
	case 'r':
		return 0444;
	case 'w':
		return 0222;
	case 'X':
		/* Else a bit that is no permission: nothing changes. */
		return S_ISDIR(old) || (old & 0111) ? 0111 : 010000;
	case 'x':
		return 0111;
	case 's':
		return S_ISUID | S_ISGID;
	case 't':
		return S_ISVTX;
	}
	return 0;
}

/*
 * The classes u, g, o, a that *p begins with, as all bits that belong to them. Without any it is all
 * but what the umask takes away, so that +w does not give rights that new files would not have.
 */
static mode_t classes(const char **p, mode_t mask)
{
	mode_t who = 0;

	for (;; ++*p) {
		if (**p == 'u')
			who |= 0700 | S_ISUID;
		else if (**p == 'g')
			who |= 0070 | S_ISGID;
		else if (**p == 'o')
			who |= 0007 | S_ISVTX;
		else if (**p == 'a')
			who |= 07777;
		else
			return who ? who : 07777 & ~mask;
	}
}

/*
 * Apply one clause, [ugoa...]{+|-|=}[rwxXst...] with as many operators as there are, to *mode, and
 * step over it. Returns false if there is no mode.
 */
static bool apply_clause(const char **p, mode_t mask, mode_t *mode)
{
	const char *start = *p;
	mode_t who = classes(p, mask);
	/* What = takes away first: the umask only protects bits from being set. */
	mode_t whole = *p == start ? 07777 : who;

	if (!strchr("+-=", **p) || !**p)
		return false;
	while (**p && strchr("+-=", **p)) {
		char how = *(*p)++;
		mode_t bits = 0, one;

		while ((one = permission(**p, *mode)) != 0) {
			bits |= one & who;
			++*p;
		}
		if (how == '=')
			*mode &= ~whole;
		*mode = how == '-' ? *mode & ~bits : *mode | bits;
	}
	return **p == '\0' || **p == ',';
}

/* What `text` makes of a mode: octal digits, or clauses with commas between. Returns false for anything else. */
static bool change_mode(const char *text, mode_t mask, mode_t *mode)
{
	char *end;
	unsigned long number = strtoul(text, &end, 8);

	if (*text >= '0' && *text <= '7') {
		*mode = (mode_t)number;
		return *end == '\0' && number <= 07777;
	}
	while (apply_clause(&text, mask, mode)) {
		if (*text++ == '\0')
			return true;
	}
	return false;
}

static const char *mode_text;
static mode_t mask;
static int status;

/* Change the mode of one file; a message says what is wrong. */
static void change(const char *name, mode_t mode)
{
	change_mode(mode_text, mask, &mode);
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
	if (!change_mode(mode_text, mask, &mode))
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
