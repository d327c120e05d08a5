/* errno: write a text to a file in one call and show what the kernel answered. */
#include <vt.h>
#include <sys/stat.h>

/*
 * -a appends instead of truncating, -w opens without truncating, -r opens for reading and reads, -o only
 * opens (with the flags of a shell's >), -m makes a folder, -d removes a folder, -u unlinks, -n writes three bytes from
 * an address where nothing is mapped. TEXT takes the escapes of echo -e, with \c to end it.
 */
static const char options[] = "awromdun";

#define NOWHERE ((const void *)16)

static size_t unescape(char *text)
{
	const char *from = text;
	char *to = text;

	while (*from) {
		int c = (unsigned char)*from++;

		if (c == '\\')
			c = vt_escape(&from);
		if (c < 0)
			break;
		*to++ = (char)c;
	}
	*to = '\0';
	return (size_t)(to - text);
}

static int say(const char *call, const char *path, const char *text, long result)
{
	int error = result < 0 ? errno : 0;

	printf("%s(%s", call, path);
	if (text)
		printf(", \"%s\", %lu", text, (unsigned long)strlen(text));
	printf(") = %ld errno=%d (%s)\n", result, error, error ? strerror(error) : "ok");
	return vt_finish(0);
}

static int write_text(const char *path, char *text, int flags)
{
	size_t n = unescape(text);
	int fd = open(path, O_WRONLY | flags, 0644);

	if (fd < 0)
		return say("open", path, NULL, fd);
	return say("write", path, text, write(fd, text, n));
}

static int read_file(const char *path)
{
	char buf[64];
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return say("open", path, NULL, fd);
	return say("read", path, NULL, read(fd, buf, sizeof(buf)));
}

static int one_name(int what, const char *path)
{
	switch (what) {
	case 'o':
		return say("open", path, NULL, open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) < 0 ? -1 : 0);
	case 'n':
		what = open(path, O_WRONLY);
		return say("write", path, "???", what < 0 ? what : write(what, NOWHERE, 3));
	case 'm':
		return say("mkdir", path, NULL, mkdir(path, 0755));
	case 'd':
		return say("rmdir", path, NULL, rmdir(path));
	case 'u':
		return say("unlink", path, NULL, unlink(path));
	}
	return read_file(path);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "errno [-a|-w] FILE TEXT | errno -r|-o|-m|-d|-u|-n FILE",
			       .in_order = true, /* the text may begin with a dash */
			       .options = options,
			       .bad_status = 2};
	int c, what = 't';

	while ((c = vt_option(&o, argc, argv)) != -1)
		what = c;
	if (argc - o.index != (strchr("awt", what) ? 2 : 1))
		vt_usage(&o);
	if (!strchr("awt", what))
		return one_name(what, argv[o.index]);
	return write_text(argv[o.index], argv[o.index + 1], what == 'a' ? O_APPEND : what == 't' ? O_TRUNC : 0);
}
