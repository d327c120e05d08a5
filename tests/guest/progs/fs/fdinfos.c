/* fdinfos: what /proc/PID/fdinfo tells of the files that are objects of the kernel. */
/* also on Linux */
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

/* What the file of a descriptor says behind the lines that every file has. */
static char info[1024];
static const char *info_of(int fd)
{
	char path[40], *text, *own;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	text = vt_read_file(path, NULL);
	own = text ? strstr(text, "\nino:\t") : NULL;
	own = own ? strchr(own + 1, '\n') : NULL;
	snprintf(info, sizeof(info), "%s", own ? own + 1 : "?");
	free(text);
	return info;
}

static void is(int fd, const char *wanted)
{
	if (!CHECK(!strcmp(info_of(fd), wanted)))
		printf("  it is '%s', not '%s'\n", info, wanted);
}

static void begins(int fd, const char *wanted)
{
	if (!CHECK(!strncmp(info_of(fd), wanted, strlen(wanted))))
		printf("  it is '%s', and does not begin with '%s'\n", info, wanted);
}

/* The number of a device as the kernel has it: 12 bits, and 20. */
static unsigned device_of(const struct stat *st)
{
	unsigned long dev = (unsigned long)st->st_dev;

	return (unsigned)((dev >> 8 & 0xfff) << 20 | (dev & 0xff) | (dev >> 12 & 0xfff00));
}

static void eventfds(void)
{
	int a = (int)CHECK_CALL(check_syscall(SYS_eventfd2, 26, 0, 0, 0, 0, 0));
	int b = (int)CHECK_CALL(check_syscall(SYS_eventfd2, 0, 1, 0, 0, 0, 0));
	char wanted[128], *id;
	int ids[2];

	id = strstr(info_of(a), "id: ");
	ids[0] = id ? atoi(id + 4) : -1;
	snprintf(wanted, sizeof(wanted), "eventfd-count: %16x\neventfd-id: %d\neventfd-semaphore: 0\n", 26, ids[0]);
	is(a, wanted);
	id = strstr(info_of(b), "id: ");
	ids[1] = id ? atoi(id + 4) : -1;
	snprintf(wanted, sizeof(wanted), "eventfd-count: %16x\neventfd-id: %d\neventfd-semaphore: 1\n", 0, ids[1]);
	is(b, wanted);
	CHECK(ids[0] >= 0 && ids[1] >= 0 && ids[0] != ids[1]);
}

static void timerfds(void)
{
	struct timespec set[2] = {{2, 500000000}, {1000, 0}};
	int fd = (int)CHECK_CALL(check_syscall(SYS_timerfd_create, 1, 0, 0, 0, 0, 0));
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	is(fd, "clockid: 1\nticks: 0\nsettime flags: 00\nit_value: (0, 0)\nit_interval: (0, 0)\n");
	CHECK_CALL(check_syscall(SYS_timerfd_settime, fd, 0, (long)set, 0, 0, 0));
	begins(fd, "clockid: 1\nticks: 0\nsettime flags: 00\nit_value: (999, ");
	CHECK(!!strstr(info, ")\nit_interval: (2, 500000000)\n"));
	set[0] = (struct timespec){0};
	set[1] = (struct timespec){0, 1};
	CHECK_CALL(check_syscall(SYS_timerfd_settime, fd, 1, (long)set, 0, 0, 0));
	CHECK_EQ(poll(&ready, 1, 30000), 1);
	is(fd, "clockid: 1\nticks: 1\nsettime flags: 01\nit_value: (0, 0)\nit_interval: (0, 0)\n");
}

static void signalfds(void)
{
	unsigned long set = 1UL << (SIGINT - 1) | 1UL << 39;
	int fd = (int)CHECK_CALL(check_syscall(SYS_signalfd4, -1, (long)&set, 8, 0, 0, 0));

	is(fd, "sigmask:\t0000008000000002\n");
}

struct ep_event {
	unsigned events;
	unsigned long data;
}
#ifndef __aarch64__
__attribute__((packed))
#endif
;

static void epolls(void)
{
	struct ep_event event = {0x80000001, 0x123456789abcUL};
	int fd = (int)CHECK_CALL(check_syscall(SYS_epoll_create1, 0, 0, 0, 0, 0, 0)), ends[2];
	struct stat st;
	char wanted[128];

	is(fd, "");
	CHECK_CALL(pipe(ends));
	CHECK_CALL(fstat(ends[0], &st));
	CHECK_CALL(check_syscall(SYS_epoll_ctl, fd, 1, ends[0], (long)&event, 0, 0));
	snprintf(wanted, sizeof(wanted), "tfd: %8d events: %8x data: %16lx  pos:0 ino:%lx sdev:%x\n", ends[0],
		 0x80000019, event.data, (unsigned long)st.st_ino, device_of(&st));
	is(fd, wanted);
}

/* The newest watch comes first. Linux may add the file's handle to a line. */
static void inotifies(void)
{
	int fd = (int)CHECK_CALL(check_syscall(SYS_inotify_init1, 0, 0, 0, 0, 0, 0));
	struct stat st;
	char wanted[128];

	is(fd, "");
	CHECK_CALL(stat(".", &st));
	CHECK_EQ(check_syscall(SYS_inotify_add_watch, fd, (long)".", (long)0x80000002, 0, 0, 0), 1);
	snprintf(wanted, sizeof(wanted), "inotify wd:1 ino:%lx sdev:%x mask:80000002 ignored_mask:0 ",
		 (unsigned long)st.st_ino, device_of(&st));
	begins(fd, wanted);
	CHECK_EQ(check_syscall(SYS_inotify_add_watch, fd, (long)"/proc", 0x04000fff, 0, 0, 0), 2);
	CHECK_CALL(stat("/proc", &st));
	snprintf(wanted, sizeof(wanted), "inotify wd:2 ino:%lx sdev:%x mask:4000fff ignored_mask:0 ",
		 (unsigned long)st.st_ino, device_of(&st));
	begins(fd, wanted);
	CHECK(!!strstr(info, "\ninotify wd:1 "));
}

static void pidfds(void)
{
	pid_t child = sleeper();
	int fd = (int)CHECK_CALL(check_syscall(SYS_pidfd_open, child, 0, 0, 0, 0, 0));
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "Pid:\t%d\nNSpid:\t%d", (int)child, (int)child);
	begins(fd, wanted);
	finish(child);
	begins(fd, "Pid:\t-1\n");
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"eventfds", eventfds}, {"timerfds", timerfds},	  {"signalfds", signalfds},
		{"epolls", epolls},	{"inotifies", inotifies}, {"pidfds", pidfds},
	};

	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
