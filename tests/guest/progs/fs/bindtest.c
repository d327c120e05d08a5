/*
 * bindtest: bind mounts, moves of mounts, pivot_root(2). Here alone: on the host it would need a namespace of its
 * own.
 */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
	RDONLY = 1,
	NOEXEC = 8,
	REMOUNT = 32,
	BIND = 4096,
	MOVE = 8192,
	REC = 16384,
	PRIVATE = 1 << 18,
	SHARED = 1 << 20
};
enum { DETACH = 2 };
#define D "/tmp/bindtest"

static long do_mount(const char *what, const char *where, const char *type, long flags)
{
	return check_syscall(SYS_mount, (long)what, (long)where, (long)type, flags, 0, 0);
}

static long do_umount(const char *where, long flags)
{
	return check_syscall(SYS_umount, (long)where, flags, 0, 0, 0, 0);
}

static void make(const char *path)
{
	close((int)CHECK_CALL(open(path, O_RDWR | O_CREAT, 0600)));
}

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The lines of mountinfo that hold `text`. */
static int lines_with(const char *text)
{
	char *all = vt_read_file("/proc/self/mountinfo", NULL);
	int n = 0;

	for (char *at = all; at && (at = strstr(at, text)); at++)
		n++;
	free(all);
	return n;
}

static void begin(void)
{
	mkdir(D, 0755);
	mkdir(D "/a", 0755);
	mkdir(D "/b", 0755);
	mkdir(D "/c", 0755);
	mkdir(D "/a/sub", 0755);
	make(D "/a/file");
	make(D "/c/other");
}

static void binds(void)
{
	begin();
	CHECK_CALL(do_mount(D "/a", D "/b", NULL, BIND));
	CHECK(is_there(D "/b/file"));
	make(D "/b/made");
	CHECK(is_there(D "/a/made"));
	CHECK_EQ(lines_with(" /tmp/bindtest/a /tmp/bindtest/b rw "), 1);
	CHECK_ERRNO(rename(D "/a/made", D "/b/made2"), EXDEV);
	CHECK_ERRNO(rmdir(D "/b"), EBUSY);
	CHECK_CALL(do_mount(NULL, D "/b", NULL, BIND | REMOUNT | RDONLY));
	CHECK_ERRNO(open(D "/b/new", O_RDWR | O_CREAT, 0600), EROFS);
	CHECK_ERRNO(unlink(D "/b/made"), EROFS);
	make(D "/a/new"); /* the other way in is as it was */
	CHECK_EQ(lines_with(" /tmp/bindtest/b ro "), 1);
	CHECK_CALL(chdir(D "/b/sub"));
	CHECK_ERRNO(do_umount(D "/b", 0), EBUSY);
	CHECK_CALL(chdir(".."));
	CHECK(is_there("file"));
	CHECK_CALL(chdir("..")); /* up from the root of the mount */
	CHECK(is_there("c"));
	CHECK_CALL(do_umount(D "/b", 0));
	CHECK(!is_there(D "/b/file"));
	CHECK_CALL(do_mount(D "/a/file", D "/c/other", NULL, BIND)); /* a file on a file */
	CHECK_ERRNO(do_mount(D "/a/file", D "/b", NULL, BIND), ENOTDIR);
	CHECK_ERRNO(do_mount(D "/a", D "/c/other", NULL, BIND), ENOTDIR);
	CHECK_ERRNO(unlink(D "/c/other"), EBUSY);
	CHECK_CALL(do_umount(D "/c/other", 0));
	CHECK_ERRNO(do_mount(NULL, D "/b", NULL, BIND), EINVAL);
	CHECK_ERRNO(do_mount("", D "/b", NULL, BIND), EINVAL);
	CHECK_ERRNO(do_mount(D "/no", D "/b", NULL, BIND), ENOENT);
	CHECK_ERRNO(do_mount(NULL, D "/b", NULL, PRIVATE), EINVAL);	      /* no mount */
	CHECK_ERRNO(do_mount(NULL, "/proc", NULL, SHARED | PRIVATE), EINVAL); /* one type at a time */
	CHECK_CALL(do_mount(NULL, "/proc", NULL, SHARED));
	CHECK_CALL(do_mount(NULL, "/proc", NULL, PRIVATE | REC));
}

/* ENOENT for a mount on the name itself, which follows no link: a path of an O_PATH descriptor of it leads there. */
static void refuses_a_mount(const char *name)
{
	char path[64];
	int fd = (int)CHECK_CALL(open(name, O_PATH | O_NOFOLLOW));

	sniprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_ERRNO(do_mount(D "/a/file", path, NULL, BIND), ENOENT);
	CHECK_ERRNO(do_mount("x", path, "tmpfs", 0), ENOENT);
	close(fd);
}

/* Names of /proc that come and go with what they show. */
static void passing_names(void)
{
	char name[320] = "/proc/self/map_files/", *all;

	begin();
	refuses_a_mount("/proc/self/fd/0");
	refuses_a_mount("/proc/self/fdinfo/0");
	all = vt_read_file("/proc/self/maps", NULL); /* the program's file comes first, with leading zeros */
	strncat(name, all + strspn(all, "0"), strcspn(all, "-") + 1 - strspn(all, "0"));
	all += strcspn(all, "-") + 1;
	strncat(name, all + strspn(all, "0"), strcspn(all, " ") - strspn(all, "0"));
	refuses_a_mount(name);
}

static void trees(void)
{
	begin();
	CHECK_CALL(do_mount("one", D "/a", "tmpfs", NOEXEC));
	mkdir(D "/a/in", 0755);
	CHECK_CALL(do_mount("two", D "/a/in", "tmpfs", 0));
	make(D "/a/in/deep");
	CHECK_CALL(do_mount(D "/a", D "/b", NULL, BIND));
	CHECK(is_there(D "/b/in") && !is_there(D "/b/in/deep"));
	CHECK_EQ(lines_with("/bindtest/b rw,noexec "), 1); /* the flags are copied */
	CHECK_CALL(do_umount(D "/b", 0));
	CHECK_CALL(do_mount(D "/a", D "/b", NULL, BIND | REC));
	CHECK(is_there(D "/b/in/deep"));
	CHECK_ERRNO(do_umount(D "/b", 0), EBUSY); /* something is mounted in it */
	CHECK_CALL(do_umount(D "/b/in", 0));
	CHECK(is_there(D "/a/in/deep"));
	CHECK_CALL(do_umount(D "/b", 0));
	CHECK_CALL(do_mount(D, D "/c", NULL, BIND | REC)); /* it lies in what is copied */
	CHECK(is_there(D "/c/a/in/deep") && is_there(D "/c/c/other"));
	CHECK_CALL(do_umount(D "/c", DETACH));
	CHECK(is_there(D "/c/other"));
	CHECK_EQ(lines_with("/bindtest/"), 2);
	CHECK_CALL(do_umount(D "/a", DETACH));
	CHECK_EQ(lines_with("/bindtest/"), 0);
}

static void moves(void)
{
	begin();
	CHECK_CALL(do_mount("one", D "/a", "tmpfs", 0));
	mkdir(D "/a/in", 0755);
	CHECK_CALL(do_mount("two", D "/a/in", "tmpfs", 0));
	make(D "/a/in/deep");
	CHECK_ERRNO(do_mount(D "/a", D "/a/in", NULL, MOVE), ELOOP);
	CHECK_ERRNO(do_mount(D "/c", D "/b", NULL, MOVE), EINVAL);
	CHECK_ERRNO(do_mount("/", D "/b", NULL, MOVE), EINVAL);
	CHECK_ERRNO(do_mount(D "/a", D "/c/other", NULL, MOVE), EINVAL);
	CHECK_CALL(do_mount(D "/a", D "/b", NULL, MOVE));
	CHECK(is_there(D "/b/in/deep") && is_there(D "/a/file") && !is_there(D "/a/in"));
	CHECK_CALL(chdir(D "/b/in"));
	CHECK_CALL(chdir("../../c"));
	CHECK(is_there("other"));
	CHECK_CALL(chdir("/"));
	CHECK_CALL(do_umount(D "/b/in", 0));
	CHECK_CALL(do_umount(D "/b", 0));
	CHECK_EQ(lines_with("/bindtest/"), 0);
}

static long pivot(const char *new, const char *old)
{
	return check_syscall(SYS_pivot_root, (long)new, (long)old, 0, 0, 0, 0);
}

/* In a root that can be exchanged. */
static void pivots_inside(void)
{
	CHECK_CALL(check_syscall(SYS_chroot, (long)D "/a", 0, 0, 0, 0, 0));
	CHECK_CALL(chdir("/"));
	CHECK(is_there("/there"));
	CHECK_ERRNO(pivot("/", "/new/put"), EBUSY);
	CHECK_ERRNO(pivot("/old", "/old"), EBUSY);
	CHECK_CALL(pivot("/new", "/new/put"));
	CHECK(is_there("/here") && is_there("/put/there") && is_there("here")); /* the working directory came along */
	CHECK_CALL(check_syscall(SYS_umount, (long)"/put", DETACH, 0, 0, 0, 0));
	CHECK(!is_there("/put/there"));
}

static void pivots(void)
{
	begin();
	CHECK_CALL(do_mount("one", D "/a", "tmpfs", 0));
	mkdir(D "/a/old", 0755);
	CHECK_ERRNO(pivot(D "/a", D "/a/old"), EINVAL); /* the very first root has no place */
	CHECK_ERRNO(pivot(D "/a", D "/b"), EBUSY);
	CHECK_ERRNO(pivot(D "/no", D "/b"), ENOENT);
	mkdir(D "/a/new", 0755);
	CHECK_CALL(do_mount("two", D "/a/new", "tmpfs", 0));
	mkdir(D "/a/new/put", 0755);
	make(D "/a/new/here");
	make(D "/a/there");
	CHECK_EQ(check_in_child(pivots_inside), 0);
	CHECK(is_there(D "/a/here")); /* the other one has its place now */
	CHECK_CALL(do_umount(D "/a", DETACH));
	CHECK_EQ(lines_with("/bindtest/"), 0);
}

static volatile int over;

static void walks(void *arg)
{
	char buf[256];

	while (!over) {
		long fd = vt_syscall(SYS_openat, -100, (long)D "/b/sub/../file", 0, 0, 0, 0);

		if (fd >= 0)
			vt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
		if (vt_syscall(SYS_chdir, (long)D "/b/sub", 0, 0, 0, 0, 0) == 0)
			vt_syscall(SYS_getcwd, (long)buf, sizeof(buf), 0, 0, 0, 0);
		vt_syscall(SYS_chdir, (long)"../../c", 0, 0, 0, 0, 0);
		vt_syscall(SYS_chdir, (long)"/", 0, 0, 0, 0, 0);
	}
}

/* Walks go through a mount that comes, moves and goes. */
static void race(void)
{
	pid_t threads[2];

	begin();
	for (int t = 0; t < 2; t++)
		threads[t] = thread_start(-1, walks, NULL);
	for (int i = 0; i < 1500; i++) {
		CHECK_CALL(do_mount(D "/a", D "/b", NULL, i & 1 ? BIND | REC : BIND));
		CHECK_CALL(do_mount(D "/b", D "/c", NULL, MOVE));
		CHECK_CALL(do_mount(D "/c", D "/b", NULL, MOVE));
		CHECK_CALL(do_umount(D "/b", DETACH));
	}
	over = 1;
	CHECK(thread_join(threads, 2));
	CHECK_EQ(lines_with("/bindtest/"), 0);
}

static const struct check_case cases[] = {
	{"binds", binds}, {"passing-names", passing_names}, {"trees", trees}, {"moves", moves}, {"pivots", pivots},
	{"race", race},
};

int main(int argc, char **argv)
{
	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
