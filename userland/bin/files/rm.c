/*
 * rm [-rf] FILE...: remove files.
 *
 * -f: what is not there is no error. It never asks. Left out: -i, -d.
 *
 * A directory is emptied from the inside out: its names are read first, and the directory is closed
 * before the first of them is removed, so that the reading is not disturbed.
 */
#include <vt.h>
#include <sys/stat.h>

static bool recurse, force;

static int rm(const char *path);

/*
 * Everything in a directory. Returns 0, or 1 after messages: the directory itself cannot go then.
 */
static int rm_inside(const char *path)
{
	char **names = vt_names(path);
	int status = 0;

	if (!names) {
		vt_warn_errno(path);
		return 1;
	}
	for (char **name = names; *name; name++) {
		char *full = vt_join(path, *name);

		status |= rm(full);
		free(full);
	}
	vt_names_free(names);
	return status;
}

/* Remove one name, with -r all that is below it first. 0, or 1 when something is left, which has been said. */
static int rm(const char *path)
{
	struct stat st;
	int result;

	/* A link is removed itself, never what it leads to. */
	if (lstat(path, &st) < 0) {
		if (force && (errno == ENOENT || errno == ENOTDIR))
			return 0;
		vt_warn("cannot remove '%s': %s", path, strerror(errno));
		return 1;
	}
	if (S_ISDIR(st.st_mode) && !recurse) {
		vt_warn("cannot remove '%s': Is a directory", path);
		return 1;
	}
	if (S_ISDIR(st.st_mode) && rm_inside(path))
		return 1;
	result = S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path);
	if (result < 0)
		vt_warn("cannot remove '%s': %s", path, strerror(errno));
	return result < 0;
}

/*
 * POSIX: an operand whose last part is . or .., or that is the root, is refused. The pattern .* of a shell has both
 * among its names, and with -r the folder above would go.
 */
static bool is_refused(const char *operand)
{
	size_t n = strlen(operand), start;

	while (n > 1 && operand[n - 1] == '/')
		n--;
	for (start = n; start > 0 && operand[start - 1] != '/';)
		start--;
	if (n == 1 && operand[0] == '/' && recurse) {
		vt_warn("refusing to remove '/'");
		return true;
	}
	if (n - start < 1 || n - start > 2 || strspn(operand + start, ".") < n - start)
		return false;
	vt_warn("refusing to remove '.' or '..' directory: skipping '%s'", operand);
	return true;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "rm [-rf] FILE...", .options = "rRf", .bad_status = 1};
	int c, status = 0;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 'f' ? &force : &recurse) = true;
	if (o.index >= argc && !force)
		vt_usage(&o);
	for (; o.index < argc; o.index++)
		status |= is_refused(argv[o.index]) || rm(argv[o.index]);
	return status;
}
