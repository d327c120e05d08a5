/*
 * Names of users and groups, from /etc/passwd and /etc/group.
 *
 *     root:x:0:0:root:/root:/bin/sh          NAME:PASSWORD:NUMBER:...
 *
 * The kernel knows numbers only; names are the files' and a program's business. Each file is read once
 * and kept, as `ls -l` asks for every file that it shows. A missing file is no error: numbers are
 * shown.
 */
#include <vt.h>

/* The text of a file that is read once; "" when there is none. */
static const char *names_in(const char *path, char **kept)
{
	size_t size;

	if (!*kept)
		*kept = vt_read_file(path, &size);
	return *kept ? *kept : "";
}

/*
 * Whether the line's third part is this number. The number must end at a colon or at the line's end:
 * 10 is not 100.
 */
static bool line_has(const char *line, unsigned int id)
{
	const char *at = strchr(line, ':');
	char *end;

	at = at ? strchr(at + 1, ':') : NULL;
	return at && strtoul(at + 1, &end, 10) == id && end != at + 1 && (*end == ':' || *end == '\n' || !*end);
}

/* The first line with this number wins. Writes to `text` and returns it. */
static char *id_text(const char *lines, unsigned int id, char text[VT_NAME_SIZE])
{
	for (const char *line = lines; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!line_has(line, id))
			continue;
		snprintf(text, VT_NAME_SIZE, "%.*s", (int)strcspn(line, ":"), line);
		return text;
	}
	snprintf(text, VT_NAME_SIZE, "%u", id);
	return text;
}

char *vt_user_text(unsigned int uid, char text[VT_NAME_SIZE])
{
	static char *kept;

	return id_text(names_in("/etc/passwd", &kept), uid, text);
}

char *vt_group_text(unsigned int gid, char text[VT_NAME_SIZE])
{
	static char *kept;

	return id_text(names_in("/etc/group", &kept), gid, text);
}
