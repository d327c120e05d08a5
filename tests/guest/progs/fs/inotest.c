/* inotest: inotify(7): which events come, in which order, with which names. */
/* also on Linux */
#include <thread.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum {
	ACCESS = 1,
	MODIFY = 2,
	ATTRIB = 4,
	CLOSE_WRITE = 8,
	CLOSE_READ = 16,
	OPEN = 32,
	FROM = 64,
	TO = 128,
	CREATE = 256,
	DELETE = 512,
	DELETE_SELF = 1024,
	MOVE_SELF = 2048,
	ALL = 4095,
	OVERFLOW_ = 0x4000,
	IGNORED = 0x8000,
	ONLYDIR = 0x1000000,
	DONT_FOLLOW = 0x2000000,
	EXCL_UNLINK = 0x4000000,
	MASK_CREATE = 0x10000000,
	MASK_ADD = 0x20000000,
	ISDIR = 0x40000000,
};
#define ONESHOT 0x80000000u
#define D	"inotest-dir"

struct event {
	int wd;
	unsigned mask, cookie, len;
	char name[];
};

static int ino;
static char buffer[8192] __attribute__((aligned(8)));
static long filled, at;

static long new_instance(long flags)
{
	return check_syscall(SYS_inotify_init1, flags, 0, 0, 0, 0, 0);
}

static long watch_by(int fd, const char *path, unsigned mask)
{
	return check_syscall(SYS_inotify_add_watch, fd, (long)path, mask, 0, 0, 0);
}

static int watch(const char *path, unsigned mask)
{
	return (int)CHECK_CALL(watch_by(ino, path, mask));
}

static long forget(int wd)
{
	return check_syscall(SYS_inotify_rm_watch, ino, wd, 0, 0, 0, 0);
}

static struct event *next(void)
{
	struct event *e;

	if (at >= filled) {
		at = 0;
		filled = read(ino, buffer, sizeof(buffer));
		if (filled <= 0)
			return NULL;
	}
	e = (struct event *)(buffer + at);
	at += (long)sizeof(*e) + e->len;
	return e;
}

/* The next event is this one. Gives its cookie. */
#define COMES(wd, mask, name) comes((wd), (unsigned)(mask), (name), __LINE__)
static unsigned comes(int wd, unsigned mask, const char *name, int line)
{
	const struct event *e = next();
	bool right = e && e->wd == wd && e->mask == mask && (name ? e->len && !strcmp(e->name, name) : !e->len) &&
		     e->len % 16 == 0;

	if (!right) {
		check_failures++;
		printf("  line %d: wanted %d %x %s, got %d %x %s\n", line, wd, mask, name ? name : "-", e ? e->wd : 0,
		       e ? e->mask : 0, e && e->len ? e->name : "-");
	}
	return e ? e->cookie : 0;
}

#define NOTHING_COMES() nothing_comes(__LINE__)
static void nothing_comes(int line)
{
	const struct event *e = next();

	if (!e)
		return;
	check_failures++;
	printf("  line %d: got %d %x %s, wanted nothing\n", line, e->wd, e->mask, e->len ? e->name : "-");
}

static void begin(void)
{
	mkdir(D, 0700);
	ino = (int)CHECK_CALL(new_instance(04000));
	at = filled = 0;
}

static void touch(const char *path)
{
	close((int)CHECK_CALL(open(path, O_RDWR | O_CREAT, 0600)));
}

static void files_of_a_directory(void)
{
	char c;
	int wd, fd, ends[2];

	begin();
	wd = watch(D, ALL);
	CHECK_EQ(wd, 1);
	fd = open(D "/file", O_RDWR | O_CREAT, 0600);
	COMES(wd, CREATE, "file");
	COMES(wd, OPEN, "file");
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(write(fd, "def", 3), 3);
	COMES(wd, MODIFY, "file"); /* twice the same is told once */
	CHECK_EQ(read(fd, &c, 1), 0);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(read(fd, &c, 1), 1);
	COMES(wd, ACCESS, "file");
	CHECK_CALL(pipe(ends));
	CHECK_EQ(check_syscall(SYS_splice, fd, 0, ends[1], 0, 2, 0), 2);
	COMES(wd, ACCESS, "file");
	close(ends[0]);
	close(ends[1]);
	CHECK_CALL(ftruncate(fd, 1));
	COMES(wd, MODIFY, "file");
	CHECK_CALL(chmod(D "/file", 0640));
	COMES(wd, ATTRIB, "file");
	CHECK_CALL(close(fd));
	COMES(wd, CLOSE_WRITE, "file");
	fd = open(D "/file", O_RDONLY);
	CHECK_CALL(close(fd));
	COMES(wd, OPEN, "file");
	COMES(wd, CLOSE_READ, "file");
	CHECK_CALL(close(open(D "/file", O_RDONLY | 010000000))); /* O_PATH */
	CHECK_CALL(link(D "/file", D "/other"));
	COMES(wd, CREATE, "other");
	CHECK_CALL(symlink("nowhere", D "/symlink"));
	COMES(wd, CREATE, "symlink");
	CHECK_CALL(mkdir(D "/sub", 0700));
	COMES(wd, CREATE | ISDIR, "sub");
	CHECK_CALL(rmdir(D "/sub"));
	COMES(wd, DELETE | ISDIR, "sub");
	CHECK_CALL(unlink(D "/other"));
	COMES(wd, DELETE, "other");
	CHECK_CALL(unlink(D "/symlink"));
	CHECK_CALL(unlink(D "/file"));
	COMES(wd, DELETE, "symlink");
	COMES(wd, DELETE, "file");
	NOTHING_COMES();
	CHECK_CALL(rmdir(D));
	COMES(wd, DELETE_SELF, NULL);
	COMES(wd, IGNORED, NULL);
	CHECK_ERRNO(forget(wd), EINVAL);
	NOTHING_COMES();
}

static void a_file(void)
{
	int wd, dir, fd;

	begin();
	touch(D "/file");
	wd = watch(D "/file", ALL);
	dir = watch(D, DELETE | ATTRIB | OPEN);
	fd = open(D "/file", O_RDONLY);
	COMES(dir, OPEN, "file"); /* the directory is told first */
	COMES(wd, OPEN, NULL);
	CHECK_CALL(chmod(D "/file", 0600));
	COMES(dir, ATTRIB, "file");
	COMES(wd, ATTRIB, NULL);
	CHECK_CALL(unlink(D "/file"));
	COMES(wd, ATTRIB, NULL); /* one name less */
	COMES(dir, DELETE, "file");
	NOTHING_COMES();
	CHECK_CALL(close(fd));
	COMES(wd, CLOSE_READ, NULL);
	COMES(wd, DELETE_SELF, NULL);
	COMES(wd, IGNORED, NULL);
	touch(D "/file");
	wd = watch(D "/file", DELETE_SELF);
	CHECK_EQ(wd, 3); /* numbers are not used again */
	COMES(dir, OPEN, "file");
	CHECK_CALL(unlink(D "/file"));
	COMES(wd, DELETE_SELF, NULL);
	COMES(wd, IGNORED, NULL);
	COMES(dir, DELETE, "file");
	NOTHING_COMES();
}

static void moves(void)
{
	unsigned cookie, second;
	int one, two, self, gone;

	begin();
	CHECK_CALL(mkdir(D "/one", 0700));
	CHECK_CALL(mkdir(D "/two", 0700));
	touch(D "/one/a");
	touch(D "/two/b");
	one = watch(D "/one", FROM | TO);
	two = watch(D "/two", FROM | TO);
	self = watch(D "/one/a", MOVE_SELF);
	gone = watch(D "/two/b", ATTRIB | DELETE_SELF);
	CHECK_CALL(rename(D "/one/a", D "/one/c"));
	cookie = COMES(one, FROM, "a");
	CHECK(cookie);
	CHECK_EQ(COMES(one, TO, "c"), cookie);
	CHECK_EQ(COMES(self, MOVE_SELF, NULL), 0);
	CHECK_CALL(rename(D "/one/c", D "/two/b")); /* over another one */
	second = COMES(one, FROM, "c");
	CHECK(second && second != cookie);
	CHECK_EQ(COMES(two, TO, "b"), second);
	COMES(gone, ATTRIB, NULL);
	COMES(self, MOVE_SELF, NULL);
	COMES(gone, DELETE_SELF, NULL);
	COMES(gone, IGNORED, NULL);
	CHECK_CALL(mkdir(D "/one/sub", 0700));
	touch(D "/two/x");
	CHECK_CALL(check_syscall(SYS_renameat2, AT_FDCWD, (long)D "/one/sub", AT_FDCWD, (long)D "/two/x", 2, 0));
	cookie = COMES(one, FROM | ISDIR, "sub");
	CHECK_EQ(COMES(two, TO | ISDIR, "x"), cookie);
	cookie = COMES(two, FROM, "x");
	CHECK_EQ(COMES(one, TO, "sub"), cookie);
	NOTHING_COMES();
	CHECK_CALL(unlink(D "/one/sub"));
	CHECK_CALL(unlink(D "/two/b"));
	CHECK_CALL(rmdir(D "/two/x"));
	CHECK_CALL(rmdir(D "/one"));
	CHECK_CALL(rmdir(D "/two"));
}

static void masks(void)
{
	int wd, other, fd;

	begin();
	touch(D "/file");
	symlink("file", D "/symlink");
	wd = watch(D "/file", OPEN);
	CHECK_EQ(watch(D "/symlink", CLOSE_READ), wd); /* it leads to the same file: another mask */
	CHECK_EQ(watch(D "/file", MASK_ADD | OPEN), wd);
	other = watch(D "/symlink", DONT_FOLLOW | ATTRIB);
	CHECK(other != wd);
	CHECK_ERRNO(watch_by(ino, D "/file", MASK_CREATE | OPEN), EEXIST);
	CHECK_ERRNO(watch_by(ino, D "/file", MASK_CREATE | MASK_ADD | OPEN), EINVAL);
	CHECK_ERRNO(watch_by(ino, D "/file", ONLYDIR | OPEN), ENOTDIR);
	CHECK_ERRNO(watch_by(ino, D "/file", 0), EINVAL);
	CHECK_ERRNO(watch_by(ino, D "/file", 0x1000), EINVAL);
	CHECK_ERRNO(watch_by(ino, D "/no", OPEN), ENOENT);
	CHECK_ERRNO(watch_by(ino, (char *)8, OPEN), EFAULT);
	CHECK_ERRNO(watch_by(999, D, OPEN), EBADF);
	CHECK_ERRNO(watch_by(0, D, OPEN), EINVAL);
	CHECK_ERRNO(new_instance(1), EINVAL);
	CHECK_ERRNO(forget(77), EINVAL);
	touch(D "/file");
	COMES(wd, OPEN, NULL);
	NOTHING_COMES(); /* it was closed after writing */
	CHECK_EQ(watch(D "/file", OPEN | ONESHOT), wd);
	touch(D "/file");
	COMES(wd, OPEN, NULL);
	COMES(wd, IGNORED, NULL);
	NOTHING_COMES();
	wd = watch(D, MODIFY | EXCL_UNLINK);
	fd = open(D "/file", O_RDWR);
	CHECK_EQ(write(fd, "x", 1), 1);
	COMES(wd, MODIFY, "file");
	CHECK_CALL(unlink(D "/file"));
	CHECK_EQ(write(fd, "x", 1), 1);
	NOTHING_COMES();
	CHECK_EQ(forget(wd), 0);
	COMES(wd, IGNORED, NULL);
	CHECK_EQ(forget(other), 0);
	CHECK_CALL(close(fd));
	CHECK_CALL(unlink(D "/symlink"));
}

static void the_queue(void)
{
	struct pollfd p = {.events = POLLIN};
	int wd, bytes = -1;

	begin();
	p.fd = ino;
	wd = watch(D, CREATE | DELETE);
	CHECK_EQ(poll(&p, 1, 0), 0);
	CHECK_EQ(ioctl(ino, FIONREAD, &bytes), 0);
	CHECK_EQ(bytes, 0);
	CHECK_ERRNO(read(ino, buffer, sizeof(buffer)), EAGAIN);
	touch(D "/a-name-of-17-char");
	touch(D "/x");
	CHECK_EQ(poll(&p, 1, 0), 1);
	CHECK_EQ(p.revents, POLLIN);
	CHECK_EQ(ioctl(ino, FIONREAD, &bytes), 0);
	CHECK_EQ(bytes, 16 + 32 + 16 + 16);
	CHECK_ERRNO(read(ino, buffer, 47), EINVAL);
	CHECK_EQ(read(ino, buffer, 79), 48);
	CHECK_EQ(((struct event *)buffer)->len, 32);
	CHECK_EQ(read(ino, buffer, 32), 32);
	for (int i = 0; i < 16; i++) /* the name ends in zeros */
		CHECK_EQ(buffer[16 + i], i ? 0 : 'x');
	CHECK_ERRNO(write(ino, "x", 1), EBADF);
	CHECK_CALL(unlink(D "/x"));
	CHECK_ERRNO(read(ino, (void *)8, 64), EFAULT);
	CHECK_CALL(unlink(D "/a-name-of-17-char"));
	COMES(wd, DELETE, "a-name-of-17-char");
	NOTHING_COMES();
}

static void too_many(void)
{
	char path[64];
	long n = 0;
	const struct event *e;
	int wd;

	begin();
	touch(D "/a");
	wd = watch(D, FROM | TO);
	for (int i = 0; i < 5000; i++) {
		CHECK_CALL(rename(D "/a", D "/b"));
		CHECK_CALL(rename(D "/b", D "/a"));
	}
	while ((e = next()) && e->mask != OVERFLOW_) {
		n++;
		if (!CHECK_EQ(e->wd, wd))
			break;
	}
	CHECK(e && e->wd == -1 && !e->len);
	CHECK_EQ(n, 16384);
	NOTHING_COMES();
	snprintf(path, sizeof(path), D "/a");
	CHECK_CALL(unlink(path));
}

#ifndef __linux__ /* there these would be the host's own limits */
static void set_limit(const char *name, const char *value, const char *old)
{
	char path[64], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/fs/inotify/%s", name);
	fd = (int)CHECK_CALL(open(path, O_RDWR));
	CHECK(read(fd, text, sizeof(text) - 1) > 0 && atoi(text) == atoi(old));
	CHECK_EQ(write(fd, value, strlen(value)), strlen(value));
	CHECK_CALL(close(fd));
}

/* The three files of /proc/sys/fs/inotify. An instance keeps the length of its queue. */
static void limits(void)
{
	const struct event *e;
	int fd, wd;

	begin();
	set_limit("max_queued_events", "3", "16384");
	touch(D "/a");
	wd = watch(D, FROM);
	for (int i = 0; i < 5; i++) {
		CHECK_CALL(rename(D "/a", D "/b"));
		CHECK_CALL(rename(D "/b", D "/a"));
	}
	for (int i = 0; i < 10; i++)
		CHECK((e = next()) && e->wd == wd);
	NOTHING_COMES();
	CHECK_CALL(close(ino));
	begin();
	watch(D, FROM);
	for (int i = 0; i < 5; i++) {
		CHECK_CALL(rename(D "/a", D "/b"));
		CHECK_CALL(rename(D "/b", D "/a"));
	}
	for (int i = 0; i < 3; i++)
		CHECK((e = next()) && e->mask == FROM);
	CHECK((e = next()) && e->mask == OVERFLOW_);
	NOTHING_COMES();
	set_limit("max_queued_events", "16384", "3");
	set_limit("max_user_instances", "2", "128");
	fd = (int)CHECK_CALL(new_instance(0));
	CHECK_ERRNO(new_instance(0), EMFILE);
	CHECK_CALL(close(fd));
	set_limit("max_user_instances", "128", "2");
	set_limit("max_user_watches", "1", "8192");
	CHECK_ERRNO(watch_by(ino, D "/a", FROM), ENOSPC);
	set_limit("max_user_watches", "8192", "1");
	CHECK_CALL(unlink(D "/a"));
}
#endif

static void renames(void *arg)
{
	const char *a = arg ? D "/p" : D "/q", *b = arg ? D "/r" : D "/s";

	for (int i = 0; i < 1500; i++) {
		vt_syscall(SYS_renameat2, AT_FDCWD, (long)a, AT_FDCWD, (long)b, 0, 0);
		vt_syscall(SYS_renameat2, AT_FDCWD, (long)b, AT_FDCWD, (long)a, 0, 0);
	}
}

static void adds_and_removes(void *arg)
{
	for (int i = 0; i < 1500; i++) {
		long wd = vt_syscall(SYS_inotify_add_watch, *(int *)arg, (long)D "/p", MOVE_SELF | OPEN, 0, 0, 0);

		vt_syscall(SYS_inotify_rm_watch, *(int *)arg, wd, 0, 0, 0, 0);
	}
}

/* Two tasks rename, another watches and forgets: the two parts of each rename stand together, with one cookie. */
static void together(void)
{
	pid_t threads[3];
	const struct event *e;
	long parts = 0;
	int other;

	begin();
	touch(D "/p");
	touch(D "/q");
	watch(D, FROM | TO);
	other = (int)CHECK_CALL(new_instance(04000));
	threads[0] = thread_start(-1, renames, D);
	threads[1] = thread_start(-1, renames, NULL);
	threads[2] = thread_start(-1, adds_and_removes, &other);
	for (int rest = 20; rest;) {
		unsigned cookie;

		e = next();
		if (!e) {
			check_sleep(MS);
			rest = parts < 12000 ? rest : rest - 1;
			continue;
		}
		if (e->mask == OVERFLOW_)
			break;
		cookie = e->cookie;
		CHECK_EQ(e->mask, FROM);
		e = next();
		if (!e || e->mask == OVERFLOW_)
			break;
		if (!CHECK_EQ(e->mask, TO) || !CHECK_EQ(e->cookie, cookie))
			break;
		parts += 2;
	}
	CHECK(thread_join(threads, 3));
	close(other);
	unlink(D "/p");
	unlink(D "/q");
}

static void sleeps_for_one(void *arg)
{
	char text[64];

	vt_syscall(SYS_exit, vt_syscall(SYS_read, *(int *)arg, (long)text, sizeof(text), 0, 0, 0) == 32 ? 0 : 1, 0, 0,
		   0, 0, 0);
}

static void waits(void)
{
	pid_t threads[1];

	begin();
	ino = (int)CHECK_CALL(new_instance(0));
	watch(D, CREATE);
	threads[0] = thread_start(-1, sleeps_for_one, &ino);
	process_gets(threads[0], 'S');
	touch(D "/w");
	CHECK(thread_join(threads, 1));
	unlink(D "/w");
}

static void bounds(void)
{
	int n = 0;

	begin();
	while (new_instance(0) >= 0 && n < 2000)
		n++;
	CHECK_EQ(errno, EMFILE);
	CHECK(n > 20);
}

static const struct check_case cases[] = {
	{"files_of_a_directory", files_of_a_directory},
	{"a_file", a_file},
	{"moves", moves},
	{"masks", masks},
	{"the_queue", the_queue},
	{"too_many", too_many},
	{"waits", waits},
	{"together", together},
	{"bounds", bounds},
#ifndef __linux__
	{"limits", limits},
#endif
};

/* `inotest unmount DIR`: the file system there goes while it is watched. */
static int unmount(const char *where)
{
	int wd, file;
	char path[64];

	begin();
	snprintf(path, sizeof(path), "%s/file", where);
	touch(path);
	wd = watch(where, ALL);
	file = watch(path, ALL);
	CHECK_CALL(check_syscall(SYS_umount, (long)where, 0, 0, 0, 0, 0));
	COMES(file, 0x2000, NULL); /* the youngest first, as on Linux */
	COMES(file, IGNORED, NULL);
	COMES(wd, 0x40002000, NULL);
	COMES(wd, IGNORED, NULL);
	NOTHING_COMES();
	return check_failures != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return unmount(argv[2]);
	check_seconds = 60;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
