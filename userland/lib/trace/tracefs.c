/*
 * Files of tracefs that a program changes for a while: each is noted before its first change, and
 * written back in the reverse order.
 *
 *     set current_tracer, set_ftrace_filter    changes: set_ftrace_filter -> current_tracer -> NULL
 *     restore                                  the tracer to nop, then set_ftrace_filter, then current_tracer
 *
 * What a file shows is not always what can be written to it (as_setting). A program calls
 * vt_tracefs_restore() at its end, or vt_tracefs_keep() if its changes are to stay.
 */
#include <vt_trace.h>
#include <sys/stat.h>

int vt_tracefs_fault = 1;

/*
 * What has been changed so far, the last change first: undoing runs in the reverse order, because a
 * later setting may only be possible under an earlier one.
 */
static struct change {
	struct change *before; /* the one made before this */
	char *instance, *file;
	char *text; /* what to write; NULL: the instance itself was made */
	int how;    /* O_TRUNC, or O_APPEND for one line of a list */
} * last;

/* Each instance is a folder with the same files as the top: /sys/kernel/tracing/instances/NAME/FILE. */
char *vt_tracefs_path(const char *instance, const char *file)
{
	size_t n = strlen(VT_TRACING "/instances//") + (instance ? strlen(instance) : 0) + strlen(file) + 1;
	char *path = vt_malloc(n);

	if (instance)
		snprintf(path, n, VT_TRACING "/instances/%s/%s", instance, file);
	else
		snprintf(path, n, VT_TRACING "/%s", file);
	return path;
}

/* free() may change errno, so that is put aside: the caller tells ENOENT from other errors. */
char *vt_tracefs_read(const char *instance, const char *file)
{
	char *path = vt_tracefs_path(instance, file), *text = vt_read_file(path, NULL);
	int err = errno;

	free(path);
	errno = err;
	return text;
}

char *vt_tracefs_read_or_die(const char *instance, const char *file)
{
	char *text = vt_tracefs_read(instance, file);

	if (!text)
		vt_die_errno(vt_tracefs_fault, file);
	return text;
}

/*
 * Write the text with a newline behind it. The kernel looks at a word when a separator comes, so
 * with the newline the write itself fails if the word is wrong; without it only close() would know,
 * and nobody looks at its result.
 */
int vt_tracefs_write(const char *instance, const char *file, const char *text, int how)
{
	char *path = vt_tracefs_path(instance, file), *line = vt_malloc(strlen(text) + 2);
	int fd = open(path, O_WRONLY | O_CLOEXEC | how), ret = -1, err;
	size_t n = strlen(text);

	memcpy(line, text, n + 1);
	if (n && line[n - 1] != '\n')
		strcpy(line + n++, "\n");
	if (fd >= 0)
		ret = n ? vt_write_all(fd, line, n) : 0;
	err = errno;
	if (fd >= 0)
		close(fd);
	free(line);
	free(path);
	errno = err;
	return ret;
}

/* ---- What to write back */

/* Keep only the lines that are wanted, in place. The lines have their newlines. */
static char *keep_lines(const char *instance, char *text, bool (*wanted)(const char *, const char *line, size_t n))
{
	char *to = text;

	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		if (!wanted(instance, line, (size_t)(end - line)))
			continue;
		memmove(to, line, (size_t)(end - line));
		to += end - line;
	}
	*to = '\0';
	return text;
}

/*
 * Files of lists also show lines that are no members: a comment such as "#### all functions enabled
 * ####" and the words "no pid". To write those back would be an error.
 */
static bool is_setting(const char *instance, const char *line, size_t n)
{
	return *line != '#' && (n < 6 || strncmp(line, "no pid", 6));
}

char *vt_tracefs_settings(char *text)
{
	return keep_lines(NULL, text, is_setting);
}

/*
 * A line with a colon is a command (`vfs_read:traceoff`), not a function, unless it names a module (`*:mod:ext4`).
 * Writing to the file with O_TRUNC does not remove commands, so they need not be put back, and the kernel would refuse
 * a second one of the same kind.
 */
static bool is_function(const char *instance, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);

	return !colon || !strncmp(colon, ":mod:", 5);
}

/*
 * Is the event on for itself? set_event also shows those that only triggers and commands have on ("0*" in `enable`).
 * Emptying the file does not touch them, and written back they would record.
 */
static bool is_on(const char *instance, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	char file[256], *text;
	bool on;

	if (!colon)
		return true;
	snprintf(file, sizeof(file), "events/%.*s/%.*s/enable", (int)(colon - line), line,
		 (int)strcspn(colon + 1, "\n"), colon + 1);
	text = vt_tracefs_read(instance, file);
	on = !text || *text != '0';
	free(text);
	return on;
}

/*
 * What to write to get back to what `file` shows now. Most files take what they show. The exceptions:
 *
 *     trace_clock       "[local] global"         ->  "local"
 *     buffer_size_kb    "7 (expanded: 1408)"     ->  "1408"   (the buffer grows at the first use of tracing)
 *     .../filter        "none"                   ->  "0"
 *     lists             lines of comment         ->  removed
 *     set_event         events on for triggers   ->  removed
 */
static char *as_setting(const char *instance, const char *file, char *text)
{
	char *bracket = strchr(text, '['), *expanded = strstr(text, "(expanded: ");

	if (!strcmp(file, "trace_clock") && bracket) {
		bracket[strcspn(bracket, "]")] = '\0';
		memmove(text, bracket + 1, strlen(bracket));
		return text;
	}
	if (expanded) {
		expanded += strlen("(expanded: ");
		expanded[strcspn(expanded, ")")] = '\0';
		memmove(text, expanded, strlen(expanded) + 1);
		return text;
	}
	if (strlen(file) > 7 && !strcmp(file + strlen(file) - 7, "/filter") && !strncmp(text, "none", 4))
		return strcpy(text, "0"); /* what takes a filter away */
	text = vt_tracefs_settings(text);
	if (!strcmp(file, "set_event"))
		return keep_lines(instance, text, is_on);
	return strcmp(file, "set_ftrace_filter") ? text : keep_lines(instance, text, is_function);
}

/* Note a change to undo. The text now belongs to the list. */
static void push(const char *instance, const char *file, char *text)
{
	struct change *c = vt_malloc(sizeof(*c));

	*c = (struct change){last, instance ? vt_strdup(instance) : NULL, vt_strdup(file), text, O_TRUNC};
	last = c;
}

/*
 * Whether two names are equal; NULL stands for the buffer that is always there and equals only itself.
 */
static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/*
 * Note what the file holds, once, before the first change. Buffers whose sizes differ by CPU cannot
 * be put back by one number, so they are refused before anything is lost.
 */
static void note(const char *instance, const char *file)
{
	char *text;

	for (struct change *c = last; c; c = c->before)
		if (same(c->instance, instance) && !strcmp(c->file, file))
			return;
	text = as_setting(instance, file, vt_tracefs_read_or_die(instance, file));
	if (!strcmp(file, "buffer_size_kb") && *text == 'X')
		vt_die(vt_tracefs_fault, "the CPUs' buffers differ in size, which would be lost");
	push(instance, file, text);
}

bool vt_tracefs_try(const char *instance, const char *file, const char *text, int how)
{
	note(instance, file);
	return vt_tracefs_write(instance, file, text, how) == 0;
}

/*
 * EEXIST: a trigger of this kind is there, perhaps with a count that has run out. It goes, and the new one comes.
 * Debian's trace-cmd removes all triggers of the event first.
 */
bool vt_tracefs_add(const char *instance, const char *file, const char *line)
{
	char *away = vt_malloc(strlen(line) + 2);
	int ret;

	sprintf(away, "!%s", line);
	ret = vt_tracefs_write(instance, file, line, O_APPEND);
	if (ret < 0 && errno == EEXIST && vt_tracefs_write(instance, file, away, O_APPEND) == 0)
		ret = vt_tracefs_write(instance, file, line, O_APPEND);
	if (ret < 0) {
		free(away);
		return false;
	}
	push(instance, file, away);
	last->how = O_APPEND;
	return true;
}

void vt_tracefs_set(const char *instance, const char *file, const char *text, int how, const char *what)
{
	if (vt_tracefs_try(instance, file, text, how))
		return;
	if (what && (errno == EINVAL || errno == ENOENT))
		vt_die(vt_tracefs_fault, "%s '%s'", what, text);
	vt_die_errno(vt_tracefs_fault, file);
}

/* The name must be one part of a path: "." or a slash in it would reach other files of tracefs. */
void vt_tracefs_instance(const char *instance, bool make)
{
	char *path = vt_tracefs_path(instance, "");

	if (strchr(instance, '/') || !*instance || *instance == '.')
		vt_die(vt_tracefs_fault, "no name of an instance: '%s'", instance);
	path[strlen(path) - 1] = '\0';
	if (!make && access(path, F_OK) < 0)
		vt_die(vt_tracefs_fault, "no instance '%s'", instance);
	if (make && mkdir(path, 0755) == 0)
		push(instance, "", NULL);
	else if (make && errno != EEXIST)
		vt_die_errno(vt_tracefs_fault, path);
	free(path);
}

/* Write back what the file held, or remove the instance that was made. */
static int undo(const struct change *c)
{
	char *path;
	int ret, err;

	if (c->text)
		return vt_tracefs_write(c->instance, c->file, c->text, c->how);
	path = vt_tracefs_path(c->instance, "");
	ret = rmdir(path);
	err = errno;
	free(path);
	errno = err;
	return ret;
}

/*
 * The tracers go first: one of latencies, for example, would refuse the clocks that are put back
 * while it runs. An error is reported, and the rest is put back all the same.
 */
bool vt_tracefs_restore(void)
{
	bool good = true;

	for (const struct change *c = last; c; c = c->before)
		if (!strcmp(c->file, "current_tracer"))
			vt_tracefs_write(c->instance, c->file, "nop", O_TRUNC);
	while (last) {
		struct change *c = last;

		last = c->before;
		if (undo(c) < 0) {
			good = false;
			vt_warn("%s%s%s could not be put back: %s", c->instance ?: "", c->instance ? "/" : "", c->file,
				strerror(errno));
		}
		free(c->instance);
		free(c->file);
		free(c->text);
		free(c);
	}
	return good;
}

/* The list is dropped and not freed: the program is about to end. */
void vt_tracefs_keep(void)
{
	last = NULL;
}

/*
 * Counted by the folders per_cpu/cpu0, cpu1, ...: these are the CPUs that have buffers, online or not.
 */
unsigned vt_tracefs_subbuf(const char *instance)
{
	char *text = vt_tracefs_read(instance, "buffer_subbuf_size_kb");
	unsigned long kib = text ? strtoul(text, NULL, 10) : 0;

	free(text);
	return kib ? (unsigned)kib << 10 : VT_TRACE_PAGE;
}

/* A trace.dat says the size once for all its buffers. An instance that is still to be made gets the smallest. */
unsigned vt_tracefs_same_subbuf(const char *instance, unsigned other)
{
	unsigned size = vt_tracefs_subbuf(instance);

	if (other && size != other)
		vt_die(vt_tracefs_fault,
		       "sub-buffers of %u and %u KiB do not go into one file: write one size to buffer_subbuf_size_kb",
		       other >> 10, size >> 10);
	return size;
}

int vt_tracefs_cpus(void)
{
	char *path = vt_tracefs_path(NULL, "per_cpu"), **names = vt_names(path);
	int n = 0;

	if (!names)
		vt_die_errno(vt_tracefs_fault, path);
	while (names[n])
		n++;
	vt_names_free(names);
	free(path);
	return n;
}

void vt_tracefs_check(void)
{
	char *tracer = vt_tracefs_read(NULL, "current_tracer");

	if (!tracer)
		vt_die(vt_tracefs_fault, "no tracefs at " VT_TRACING ": mount -t tracefs tracefs " VT_TRACING);
	free(tracer);
}

void vt_tracefs_refuse_tracer(void)
{
	char *tracer = vt_tracefs_read_or_die(NULL, "current_tracer");

	if (strcmp(tracer, "nop\n"))
		vt_die(vt_tracefs_fault, "the tracer %.*s is in use: echo nop > " VT_TRACING "/current_tracer ends it",
		       (int)strcspn(tracer, "\n"), tracer);
	free(tracer);
}
