/*
 * mv [-f] FROM... TO: rename files.
 *
 * Left out: -i, -n, -u, -b.
 */
#include <vt.h>
#include <sys/stat.h>

/* Another file system: copy and remove, by the programs that can. */
static int run(char *const argv[])
{
	int status;

	if (vt_run(argv, &status) < 0) {
		vt_warn_errno(argv[0]);
		return 1;
	}
	return status != 0;
}

/*
 * Make way at `to` for what comes from another file system, as rename(2) does within one: a folder gives way to a
 * folder when it is empty, another file to another file. Returns 0, or -1 with errno.
 */
static int make_way(const char *from, const char *to)
{
	struct stat what, there;

	if (lstat(to, &there) < 0)
		return errno == ENOENT ? 0 : -1;
	if (lstat(from, &what) < 0)
		return -1;
	if (S_ISDIR(what.st_mode) == S_ISDIR(there.st_mode))
		return S_ISDIR(there.st_mode) ? rmdir(to) : unlink(to);
	errno = S_ISDIR(there.st_mode) ? EISDIR : ENOTDIR;
	return -1;
}

static int mv(const char *from, const char *to)
{
	char *const copy[] = {"cp", "-r", "--", (char *)from, (char *)to, NULL};
	char *const removal[] = {"rm", "-rf", "--", (char *)from, NULL};

	if (rename(from, to) == 0)
		return 0;
	if (errno == EXDEV && make_way(from, to) == 0)
		return run(copy) || run(removal);
	vt_warn("cannot move '%s' to '%s': %s", from, to, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mv [-f] FROM... TO", .options = "f", .bad_status = 1};

	/* -f: it never asks anyway. */
	vt_operands(&o, argc, argv, 0, argc);
	return vt_to_target(&o, argc, argv, mv);
}
