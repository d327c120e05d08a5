/* tmpfiles: files without a name (O_TMPFILE), which may get one later, and what fcntl(2) tells of an open file. */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

#define NAMELESS 020000000 /* __O_TMPFILE */
#define TMPFILE	 (NAMELESS | O_DIRECTORY)
#define NAME	 "tmpfiles-name"
#define OTHER	 "tmpfiles-other"

static long open_in(const char *dir, long flags, long mode)
{
	return CALL(openat, AT_FDCWD, dir, flags, mode);
}

static struct stat stat_of(int fd)
{
	struct stat st = {0};

	CHECK_CALL(fstat(fd, &st));
	return st;
}

/* A name for the open file, by its link in /proc. */
static long link_to(int fd, const char *name)
{
	char path[40];

	sniprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return CALL(linkat, AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static void nameless(void)
{
	char path[40], text[256] = "";
	struct stat st;
	int fd;

	umask(027);
	fd = (int)CHECK_CALL(open_in(".", TMPFILE | O_RDWR, 0666));
	st = stat_of(fd);
	CHECK_EQ(st.st_mode, S_IFREG | 0640);
	CHECK_EQ(st.st_nlink, 0);
	CHECK_EQ(st.st_size, 0);
	CHECK_EQ(write(fd, "text", 4), 4);
	CHECK_EQ(CALL(pread64, fd, text, sizeof(text), 0), 4);
	CHECK_EQ(fcntl(fd, F_GETFL) & (TMPFILE | O_ACCMODE), TMPFILE | O_RDWR);
	sniprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memset(text, 0, sizeof(text));
	CHECK(CALL(readlinkat, AT_FDCWD, path, text, sizeof(text) - 1) > 0);
	CHECK(strstr(text, "/#") && !strcmp(text + strlen(text) - 10, " (deleted)"));
	CHECK_CALL(close(fd));
	/* The mode is for later opens: this one may write all the same. */
	fd = (int)CHECK_CALL(open_in(".", TMPFILE | O_WRONLY, 0));
	CHECK_EQ(write(fd, "x", 1), 1);
	CHECK_EQ(stat_of(fd).st_mode, S_IFREG);
	CHECK_CALL(close(fd));
}

static void gets_a_name(void)
{
	int fd = (int)CHECK_CALL(open_in(".", TMPFILE | O_RDWR, 0600)), again;
	struct stat st;

	unlink(NAME);
	unlink(OTHER);
	CHECK_EQ(write(fd, "text", 4), 4);
	CHECK_CALL(link_to(fd, NAME));
	CHECK_EQ(stat_of(fd).st_nlink, 1);
	CHECK_CALL(stat(NAME, &st));
	CHECK_EQ(st.st_ino, stat_of(fd).st_ino);
	CHECK_EQ(st.st_size, 4);
	CHECK_ERRNO(link_to(fd, NAME), EEXIST);
	CHECK_CALL(link_to(fd, OTHER));
	CHECK_EQ(stat_of(fd).st_nlink, 2);
	CHECK_CALL(unlink(OTHER));
	CHECK_CALL(unlink(NAME));
	CHECK_ERRNO(link_to(fd, NAME), ENOENT); /* it has had its names */
	CHECK_CALL(close(fd));
	fd = (int)CHECK_CALL(open_in(".", TMPFILE | O_RDWR | O_EXCL, 0600));
	CHECK_ERRNO(link_to(fd, NAME), ENOENT); /* and this one is to have none */
	CHECK_CALL(close(fd));
	if (geteuid())
		return;
	fd = (int)CHECK_CALL(open_in(".", TMPFILE | O_RDWR, 0600));
	CHECK_CALL(CALL(linkat, fd, "", AT_FDCWD, NAME, 0x1000)); /* AT_EMPTY_PATH */
	again = (int)CHECK_CALL(open(NAME, O_RDONLY));
	CHECK_EQ(stat_of(again).st_ino, stat_of(fd).st_ino);
	CHECK_CALL(unlink(NAME));
	CHECK_CALL(close(again));
	CHECK_CALL(close(fd));
}

enum { SAME = 1027, CREATED = 1028 }; /* F_DUPFD_QUERY, F_CREATED_QUERY */

/* Two questions about an open file. A Linux before 6.12 does not know one or both. */
static void asked_of_open_files(void)
{
	int fd, again, copy;

	unlink(NAME);
	fd = (int)CHECK_CALL(open(NAME, O_RDWR | O_CREAT, 0600));
	again = (int)CHECK_CALL(open(NAME, O_RDWR | O_CREAT, 0600));
	copy = dup(fd);
#ifdef __linux__
	if (fcntl(fd, CREATED, 0) == -1 && errno == EINVAL)
		return;
#endif
	CHECK_EQ(fcntl(fd, CREATED, 0), 1);
	CHECK_EQ(fcntl(copy, CREATED, 0), 1);
	CHECK_EQ(fcntl(again, CREATED, 0), 0);
	CHECK_EQ(fcntl(0, CREATED, 0), 0);
	CHECK_EQ(fcntl(fd, SAME, copy), 1);
	CHECK_EQ(fcntl(fd, SAME, fd), 1);
	CHECK_EQ(fcntl(fd, SAME, again), 0);
	CHECK_ERRNO(fcntl(fd, SAME, 999), EBADF);
	CHECK_EQ(fcntl((int)CHECK_CALL(open(NAME, O_PATH)), SAME, fd), 0);
	CHECK_CALL(unlink(NAME));
}

static void refused(void)
{
	static const unsigned long read_only[] = {TMPFILE | O_RDONLY, 0600, 0},
				   not_a_dir[] = {NAMELESS | O_RDWR, 0600, 0}, cached[] = {TMPFILE | O_RDWR, 0600, 32},
				   good[] = {TMPFILE | O_RDWR, 0600, 0};

	close((int)CHECK_CALL(open(NAME, O_RDWR | O_CREAT, 0600)));
	unlink(OTHER);
	CHECK_CALL(symlink(".", OTHER));
	CHECK_ERRNO(open_in(".", TMPFILE | O_RDONLY, 0600), EINVAL);
	CHECK_ERRNO(open_in(".", NAMELESS | O_RDWR, 0600), EINVAL);
	CHECK_ERRNO(open_in(".", TMPFILE | O_CREAT | O_RDWR, 0600), EINVAL);
	CHECK_ERRNO(open_in(NAME, TMPFILE | O_RDWR, 0600), ENOTDIR);
	CHECK_ERRNO(open_in("tmpfiles-none", TMPFILE | O_RDWR, 0600), ENOENT);
	CHECK_ERRNO(open_in("", TMPFILE | O_RDWR, 0600), ENOENT);
	CHECK_ERRNO(open_in(OTHER, TMPFILE | O_RDWR | O_NOFOLLOW, 0600), ENOTDIR);
	CHECK_CALL(close((int)open_in(OTHER, TMPFILE | O_RDWR, 0600)));
	CHECK_ERRNO(CALL(openat2, AT_FDCWD, ".", read_only, 24), EINVAL);
	CHECK_ERRNO(CALL(openat2, AT_FDCWD, ".", not_a_dir, 24), EINVAL);
	CHECK_ERRNO(CALL(openat2, AT_FDCWD, ".", cached, 24), EAGAIN);
	CHECK_CALL(close((int)CALL(openat2, AT_FDCWD, ".", good, 24)));
	if (!geteuid())
		CHECK_ERRNO(open_in("/proc", TMPFILE | O_RDWR, 0600), EOPNOTSUPP);
	CHECK_CALL(unlink(NAME));
	CHECK_CALL(unlink(OTHER));
}

#ifndef __linux__ /* where a program may mount */
/* Twenty times as many as the file system has room for, one after the other, with a name and without. */
static void counted(void)
{
	mkdir("tmpfiles-fs", 0700);
	CHECK_CALL(CALL(mount, "none", "tmpfiles-fs", "tmpfs", 0, "nr_inodes=3,size=8k"));
	for (int i = 0; i < 40; i++) {
		int fd = (int)CHECK_CALL(open_in("tmpfiles-fs", TMPFILE | O_RDWR, 0600));

		CHECK_EQ(write(fd, "x", 1), 1);
		if (i % 2) {
			CHECK_CALL(link_to(fd, "tmpfiles-fs/a"));
			CHECK_CALL(unlink("tmpfiles-fs/a"));
		}
		CHECK_CALL(close(fd));
	}
	CHECK_CALL(open_in("tmpfiles-fs", TMPFILE | O_RDWR, 0600));
	CHECK_CALL(open_in("tmpfiles-fs", TMPFILE | O_RDWR, 0600));
	CHECK_ERRNO(open_in("tmpfiles-fs", TMPFILE | O_RDWR, 0600), ENOSPC);
	CHECK_ERRNO(CALL(umount, "tmpfiles-fs", 0), EBUSY);
	close(3);
	close(4);
	CHECK_CALL(CALL(mount, "none", "tmpfiles-fs", "tmpfs", 0x21, "")); /* MS_REMOUNT | MS_RDONLY */
	CHECK_ERRNO(open_in("tmpfiles-fs", TMPFILE | O_RDWR, 0600), EROFS);
	CHECK_CALL(CALL(umount, "tmpfiles-fs", 0));
	CHECK_CALL(rmdir("tmpfiles-fs"));
}
#endif

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"nameless", nameless},	      {"asked_of_open_files", asked_of_open_files},
		{"gets_a_name", gets_a_name}, {"refused", refused},
#ifndef __linux__
		{"counted", counted},
#endif
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
