/*
 * cp [-apr] FROM... TO: copy files. -p keeps mode, owner and times; -a is -rp.
 *
 * Left out: -i, -f, -u, -L and -P, and keeping hard links between the files copied, also with -a. Without -r links are
 * followed, with it they are copied as links.
 */
#include <vt.h>
#include <bits/syscall.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool recurse, preserve;
static struct stat top; /* where the first directory went; st_ino 0: none yet */

static int copy(const char *from, const char *to);

/*
 * Returns 0, or 1 after a message. What was copied before an error stays. The mode is that of the
 * source, less the umask.
 */
static int copy_file(const char *from, const char *to, mode_t mode)
{
	int in = open(from, O_RDONLY), out, result;
	struct stat a, b;

	if (in < 0) {
		vt_warn_errno(from);
		return 1;
	}
	/* Opening to for writing would empty what is to be read. */
	if (fstat(in, &a) == 0 && stat(to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
		vt_warn("'%s' and '%s' are the same file", from, to);
		close(in);
		return 1;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC, mode & 0777);
	if (out < 0) {
		vt_warn_errno(to);
		close(in);
		return 1;
	}
	result = vt_copy(in, out);
	if (result)
		vt_warn_errno(result == -1 ? from : to);
	close(in);
	/* Some file systems tell only now that there was no room. */
	if (close(out) < 0 && !result) {
		vt_warn_errno(to);
		result = -2;
	}
	return result != 0;
}

/* Returns 0, or 1 after messages; what can be copied is. */
static int copy_directory(const char *from, const char *to, const struct stat *what)
{
	char **names;
	struct stat st;
	int status = 0;

	/* "cp -r d d/e": without this, e would be found in d and copied into itself until names are too long.
	 */
	if (what->st_dev == top.st_dev && what->st_ino == top.st_ino) {
		vt_warn("cannot copy a directory into itself: '%s'", from);
		return 1;
	}
	/* Writable while it is filled, whatever mode it gets. */
	if (stat(to, &st) < 0 && (mkdir(to, (what->st_mode & 0777) | 0700) < 0 || stat(to, &st) < 0)) {
		vt_warn_errno(to);
		return 1;
	}
	if (!top.st_ino)
		top = st;
	names = vt_names(from);
	if (!names) {
		vt_warn_errno(from);
		return 1;
	}
	for (char **name = names; *name; name++) {
		char *a = vt_join(from, *name), *b = vt_join(to, *name);

		status |= copy(a, b);
		free(a);
		free(b);
	}
	vt_names_free(names);
	return status;
}

/*
 * The target is copied as text, wherever it leads from the new place. Targets of 1023 bytes and
 * more are cut.
 */
static int copy_link(const char *from, const char *to)
{
	char target[1024];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n >= 0) {
		target[n] = '\0';
		if (symlink(target, to) == 0)
			return 0;
	}
	vt_warn_errno(n < 0 ? from : to);
	return 1;
}

/* A fifo, a device: another node of the same kind and number, as reading it would take what was written for others. */
static int copy_node(const char *to, const struct stat *what)
{
	if (mknod(to, what->st_mode & (S_IFMT | 0777), what->st_rdev) == 0)
		return 0;
	vt_warn_errno(to);
	return 1;
}

/*
 * -p. As POSIX has it, a file whose owner cannot be kept gets no set-user-ID and set-group-ID bits, and that is no
 * error: only root gives files away.
 */
static int keep_attributes(const char *to, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};
	bool own = vt_syscall(SYS_fchownat, AT_FDCWD, (long)to, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW, 0) == 0;

	if ((S_ISLNK(st->st_mode) || chmod(to, st->st_mode & (own ? 07777 : 01777)) == 0) &&
	    utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	vt_warn("preserving attributes of '%s': %s", to, strerror(errno));
	return 1;
}

/*
 * One source, of any kind, to one destination; what a link leads to unless -r asks for links themselves. 0, or 1 when
 * something went wrong, which has been said.
 */
static int copy(const char *from, const char *to)
{
	struct stat st;
	int result;

	if ((recurse ? lstat : stat)(from, &st) < 0) {
		vt_warn("cannot stat '%s': %s", from, strerror(errno));
		return 1;
	}
	if (S_ISLNK(st.st_mode))
		result = copy_link(from, to);
	else if (recurse && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISSOCK(st.st_mode))
		result = copy_node(to, &st);
	else if (!S_ISDIR(st.st_mode))
		result = copy_file(from, to, st.st_mode);
	else if (recurse)
		result = copy_directory(from, to, &st);
	else
		result = -1;
	if (result >= 0)
		return result | (preserve && keep_attributes(to, &st));
	vt_warn("-r not specified; omitting directory '%s'", from);
	return 1;
}

/* One operand: each has its own top directory. */
static int cp(const char *from, const char *to)
{
	top = (struct stat){0};
	return copy(from, to);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "cp [-apr] FROM... TO", .options = "aprR", .bad_status = 1};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		recurse |= c != 'p';
		preserve |= c == 'a' || c == 'p';
	}
	return vt_to_target(&o, argc, argv, cp);
}
