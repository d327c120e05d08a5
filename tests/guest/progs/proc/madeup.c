/*
 * madeup: files that the kernel makes, of each file system: which attributes can be set, and which of them can be
 * mapped, privately and shared. The rows have what Linux 6.12 says.
 */
/* also on Linux */
#include <callnumbers.h>
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { RO = PROT_READ, WO = PROT_WRITE, PRIVATE = 2, SHARED = 1, GROWSDOWN = 0x100 };
#define NOTHING (-1) /* the call is not made */

static int pipe_ends[2], sockets[2], event, tree, memory;

/* Open what is behind a descriptor's name, or the file itself. */
static int open_row(const char *path, int flags)
{
	if (!strcmp(path, "pipe"))
		return dup(pipe_ends[0]);
	if (!strcmp(path, "socket"))
		return dup(sockets[0]);
	if (!strcmp(path, "eventfd"))
		return dup(event);
	if (!strcmp(path, "epoll"))
		return dup(tree);
	return open(path, flags);
}

static void make_objects(void)
{
	CHECK_CALL(pipe(pipe_ends));
	CHECK_CALL(CALL(socketpair, 1, 1, 0, sockets));
	event = (int)CHECK_CALL(CALL(eventfd2, 0, 0));
	tree = (int)CHECK_CALL(CALL(epoll_create1, 0));
	memory = (int)CHECK_CALL(CALL(memfd_create, "m", 0));
}

/* --- mappings --- */

struct mapped {
	const char *path;
	int flags, private, shared; /* of open(2); the errors of both kinds of mapping, 0: it works */
};

static const struct mapped mapped[] = {
	{"/dev/zero", O_RDWR, 0, 0},
	{"/dev/null", O_RDWR, ENODEV, ENODEV},
	{"/dev/full", O_RDWR, ENODEV, ENODEV},
	{"/dev/random", O_RDONLY, ENODEV, ENODEV},
	{"/dev/urandom", O_RDONLY, ENODEV, ENODEV},
	{"/dev/ptmx", O_RDWR, ENODEV, ENODEV},
	{"/proc/uptime", O_RDONLY, EIO, EIO},
	{"/proc/meminfo", O_RDONLY, EIO, EIO},
	{"/proc/self/maps", O_RDONLY, ENODEV, ENODEV},
	{"/proc/self/mem", O_RDONLY, ENODEV, ENODEV},
	{"/proc/self/comm", O_RDWR, ENODEV, ENODEV},
	{"/proc/sys/kernel/ostype", O_RDONLY, ENODEV, ENODEV},
	{"/proc/self", O_RDONLY, ENODEV, ENODEV},
	{"/sys/devices/system/cpu/online", O_RDONLY, ENODEV, ENODEV},
	{"/sys/kernel/tracing/README", O_RDONLY, ENODEV, ENODEV},
	{"/sys/kernel/tracing/trace", O_RDONLY, ENODEV, ENODEV},
	{"/sys/kernel/tracing/trace_marker", O_WRONLY, EACCES, EACCES},
	{"/sys/kernel/tracing/events/sched/sched_switch/format", O_RDONLY, ENODEV, ENODEV},
	{"pipe", 0, ENODEV, ENODEV},
	{"socket", 0, ENODEV, ENODEV},
	{"eventfd", 0, ENODEV, ENODEV},
	{"epoll", 0, ENODEV, ENODEV},
	{".", O_RDONLY, ENODEV, ENODEV},
};

static int map_errno(int fd, int prot, int flags)
{
	void *p = mmap(NULL, 8192, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, 8192);
	return 0;
}

/* A computer need not have tracefs, or show it to everybody. */
static bool is_left_out(const char *path)
{
	return !strncmp(path, "/sys/kernel/tracing", 19) && access(path, R_OK);
}

static void mappings(void)
{
	make_objects();
	for (size_t i = 0; i < ARRAY_SIZE(mapped); i++) {
		const struct mapped *m = &mapped[i];
		int fd;

		if (is_left_out(m->path))
			continue;
		fd = open_row(m->path, m->flags);
		if (!CHECK_EQ(fd < 0, 0) || !CHECK_EQ(map_errno(fd, RO, PRIVATE), m->private) ||
		    !CHECK_EQ(map_errno(fd, RO, SHARED), m->shared))
			printf("  %s\n", m->path);
		close(fd);
	}
}

/* /dev/zero: shared, it is memory that fork shares; private, it is anonymous memory. */
static void zero_shared(void)
{
	int fd = (int)CHECK_CALL(open("/dev/zero", O_RDWR)), read_only = (int)CHECK_CALL(open("/dev/zero", O_RDONLY));
	char *p = mmap(NULL, 3 * 4096, RO | WO, SHARED, fd, 0), *q;
	pid_t pid;

	CHECK(p != MAP_FAILED);
	CHECK(p[0] == 0 && p[3 * 4096 - 1] == 0);
	pid = check_fork();
	if (!pid) {
		p[4096] = 'c';
		_exit(0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(p[4096], 'c');
	q = mmap(NULL, 4096, RO | WO, SHARED, fd, 0); /* another mapping is other memory */
	CHECK(q != MAP_FAILED && q[0] == 0);
	CHECK_EQ(map_errno(read_only, RO | WO, SHARED), EACCES);
	CHECK_EQ(map_errno(read_only, RO | WO, PRIVATE), 0);
	CHECK_EQ(map_errno(read_only, RO, SHARED), 0);
	CHECK_EQ(map_errno(fd, RO | WO, SHARED | GROWSDOWN), EINVAL);
	CHECK_CALL(close(fd));
	p[0] = 'x'; /* the memory needs no descriptor */
	CHECK_EQ(CALL(read, read_only, q, 4096), 4096);
}

static void zero_private(void)
{
	int fd = (int)CHECK_CALL(open("/dev/zero", O_RDONLY));
	char *p = mmap(NULL, 4 * 4096, RO | WO, PRIVATE, fd, 0), *text, line[64];
	pid_t pid;

	CHECK(p != MAP_FAILED);
	CHECK(p[0] == 0 && p[4096] == 0);
	p[0] = 'a';
	p[2 * 4096] = 'b';
	pid = check_fork();
	if (!pid) {
		bool right = p[0] == 'a' && p[4096] == 0 && p[2 * 4096] == 'b' && p[3 * 4096] == 0;

		p[4096] = 'c';
		_exit(!right);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK(p[0] == 'a' && p[4096] == 0);
	text = vt_read_file("/proc/self/maps", NULL);
	sniprintf(line, sizeof(line), "%08lx-%08lx rw-p", (unsigned long)p, (unsigned long)p + 4 * 4096);
	CHECK(text && strstr(text, line));
	line[0] = 0;
	if (text && strstr(text, line))
		CHECK(strstr(text, "/dev/zero\n"));
	free(text);
}

/* kB of a line of /proc/self/status. */
static long status_kb(const char *name)
{
	char *text = vt_read_file("/proc/self/status", NULL), *line = text ? strstr(text, name) : NULL;
	long kb = line ? atol(line + strlen(name)) : -1;

	free(text);
	return kb;
}

/* What is read is no memory of a file, and what is written is the program's own, which the OOM killer looks at. */
static void zero_costs(void)
{
	int fd = (int)CHECK_CALL(open("/dev/zero", O_RDONLY));
	volatile char *p = mmap(NULL, 256 * 4096, RO | WO, PRIVATE, fd, 0);
	long file, own, sum = 0;

	status_kb("RssFile:"); /* its own code is in memory from now on */
	file = status_kb("RssFile:");
	own = status_kb("RssAnon:");
	CHECK(p != MAP_FAILED && file >= 0 && own > 0);
	for (int i = 0; i < 256; i++)
		sum += p[i * 4096];
	CHECK_EQ(sum, 0);
	CHECK_RANGE(status_kb("RssFile:") - file, 0, 512);
	for (int i = 0; i < 256; i++)
		p[i * 4096] = 1;
	CHECK_RANGE(status_kb("RssFile:") - file, 0, 512);
	CHECK_RANGE(status_kb("RssAnon:") - own, 1024, 1024 + 64);
}

/* --- attributes --- */

struct made {
	const char *path;
	int mode, owner, times, size; /* what chmod, chown, utimensat, truncate say to root: an error, 0, NOTHING */
};

/* Those that are done to descriptors have no path of their own. Nothing is changed that others could notice. */
static const struct made made[] = {
	{"/proc/self", EPERM, EPERM, EPERM, EISDIR},
	{"/proc/self/task/self", EPERM, EPERM, EPERM, EISDIR}, /* "self" becomes the thread's number */
	{"/proc/self/stat", EPERM, 0, 0, 0},
	{"/proc/self/comm", EPERM, 0, 0, 0},
	{"/proc/self/maps", EPERM, 0, 0, 0},
	{"/proc/self/fd", EPERM, 0, 0, EISDIR},
	{"/proc/self/fdinfo", EPERM, 0, 0, EISDIR},
	{"/proc/self/fdinfo/0", EPERM, 0, 0, 0},
	{"/proc/self/task", EPERM, 0, 0, EISDIR},
	{"/proc/self/map_files", EPERM, 0, 0, EISDIR},
	{"/proc/sys/kernel/ostype", EPERM, EPERM, NOTHING, EACCES},
	{"/proc/sys/kernel/hostname", EPERM, EPERM, NOTHING, NOTHING},
	{"/proc/sys/kernel", EPERM, EPERM, NOTHING, EISDIR},
#ifndef __linux__ /* what others would notice */
	{"/proc/uptime", 0, 0, 0, 0},
	{"/proc/sys/kernel/printk", EPERM, EPERM, 0, 0},
	{"/proc", 0, 0, 0, EISDIR},
	{"/sys/devices/system/cpu/online", 0, 0, 0, 0},
	{"/sys/kernel/tracing/tracing_on", 0, 0, 0, 0},
	{"/sys/kernel/tracing/events/sched/sched_switch/enable", 0, 0, 0, 0},
	{"/sys/kernel/tracing", 0, 0, 0, EISDIR},
	{"/dev/null", 0, 0, 0, EINVAL},
#endif
	{"pipe", 0, 0, 0, EINVAL},
	{"socket", 0, 0, 0, EINVAL},
	{"memory", 0, 0, 0, 0},
};

static int error_of(long result)
{
	return result == -1 ? errno : 0;
}

static void check_made(const struct made *m, const char *path)
{
	struct stat st;
	bool right;

	if (!CHECK_EQ(error_of(stat(path, &st)), 0)) {
		printf("  %s\n", m->path);
		return;
	}
	right = CHECK_EQ(error_of(CALL(fchmodat, AT_FDCWD, path, st.st_mode & 07777)), m->mode);
	right &= CHECK_EQ(error_of(CALL(fchownat, AT_FDCWD, path, st.st_uid, st.st_gid, 0)), m->owner);
	if (m->times != NOTHING)
		right &= CHECK_EQ(error_of(CALL(utimensat, AT_FDCWD, path, 0, 0)), m->times);
	if (m->size != NOTHING)
		right &= CHECK_EQ(error_of(CALL(truncate, path, 0)), m->size);
	if (!right)
		printf("  %s\n", m->path);
}

/* The name of a row: of an object it is that of its descriptor in /proc. */
static const char *path_of(const char *name)
{
	static char path[64];
	int fd = -1;

	if (!strcmp(name, "pipe"))
		fd = pipe_ends[0];
	else if (!strcmp(name, "socket"))
		fd = sockets[0];
	else if (!strcmp(name, "memory"))
		fd = memory;
	else if (!strcmp(name, "/proc/self/task/self"))
		sniprintf(path, sizeof(path), "/proc/self/task/%d", (int)CALL(gettid, 0));
	else
		return name;
	if (fd >= 0)
		sniprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* For root: others mostly get EPERM or EACCES anyway. */
static void attributes(void)
{
	if (geteuid())
		return;
	make_objects();
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		check_made(&made[i], path_of(made[i].path));
	/* Nobody may write to a directory of a process, not even root. What is not in /proc cannot be made there. */
	CHECK_ERRNO(access("/proc/self", W_OK), EPERM);
	CHECK_ERRNO(open("/proc/self/none", O_WRONLY | O_CREAT, 0600), ENOENT);
	CHECK_ERRNO(mkdir("/proc/self/none", 0700), ENOENT);
	CHECK_ERRNO(open("/proc/none", O_WRONLY | O_CREAT, 0600), ENOENT);
	CHECK_ERRNO(open("/proc/sys/none", O_WRONLY | O_CREAT, 0600), ENOENT);
	CHECK_ERRNO(mkdir("/proc/sys/none", 0700), ENOENT);
	CHECK_ERRNO(open("/sys/none", O_WRONLY | O_CREAT, 0600), EACCES);
	CHECK_ERRNO(mkdir("/sys/none", 0700), EPERM);
	/* A descriptor's mode is the object's. */
	CHECK_CALL(CALL(fchmod, pipe_ends[0], 0640));
	CHECK_CALL(CALL(fchown, pipe_ends[1], 7, 8));
}

/* The second chmod(2): a link has no mode of its own that could be set. */
static void links(void)
{
	struct stat st;

	unlink("madeup-link");
	unlink("madeup-file");
	close((int)CHECK_CALL(open("madeup-file", O_RDWR | O_CREAT, 0600)));
	CHECK_CALL(symlink("madeup-file", "madeup-link"));
	CHECK_CALL(CALL(fchmodat2, AT_FDCWD, "madeup-link", 0640, 0));
	CHECK_CALL(stat("madeup-file", &st));
	CHECK_EQ(st.st_mode, S_IFREG | 0640);
	CHECK_ERRNO(CALL(fchmodat2, AT_FDCWD, "madeup-link", 0600, AT_SYMLINK_NOFOLLOW), EOPNOTSUPP);
	CHECK_CALL(CALL(fchmodat2, AT_FDCWD, "madeup-file", 0604, AT_SYMLINK_NOFOLLOW));
	CHECK_CALL(stat("madeup-file", &st));
	CHECK_EQ(st.st_mode, S_IFREG | 0604);
	CHECK_CALL(CALL(fchmodat2, (int)open("madeup-file", O_PATH), "", 0600, 0x1000)); /* AT_EMPTY_PATH */
	CHECK_ERRNO(CALL(fchmodat2, AT_FDCWD, "madeup-file", 0600, 1), EINVAL);
	CHECK_ERRNO(CALL(fchmodat2, AT_FDCWD, "madeup-none", 0600, 0), ENOENT);
	CHECK_CALL(unlink("madeup-link"));
	CHECK_CALL(unlink("madeup-file"));
}

/* A setting that cannot be changed says so at the open, to root as well. */
static void settings(void)
{
	CHECK_ERRNO(open("/proc/sys/kernel/ostype", O_WRONLY), EACCES);
	CHECK_ERRNO(open("/proc/sys/kernel/ostype", O_RDWR), EACCES);
	CHECK_ERRNO(open("/proc/sys/fs/file-nr", O_WRONLY | O_TRUNC), EACCES);
	CHECK_ERRNO(access("/proc/sys/kernel/ostype", W_OK), EACCES);
	CHECK_ERRNO(access("/proc/sys/kernel/ostype", X_OK), EACCES);
	CHECK_CALL(access("/proc/sys/kernel/ostype", R_OK));
	CHECK_CALL(access("/proc/sys/kernel", R_OK | X_OK));
	CHECK_ERRNO(access("/proc/sys/kernel", W_OK), EACCES);
	if (geteuid())
		CHECK_ERRNO(access("/proc/sys/kernel/printk", W_OK), EACCES);
	else
		CHECK_CALL(access("/proc/sys/kernel/printk", W_OK));
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"mappings", mappings},	    {"zero_shared", zero_shared}, {"zero_private", zero_private},
		{"zero_costs", zero_costs}, {"attributes", attributes},	  {"links", links},
		{"settings", settings},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
