/* faultfiles [-v] [STEP]...: calls about names and files in which each allocation fails once (lib/faults.h). */
#include "faultcalls.h"
#include <poll.h>

static void put_old(const struct fault_step *s)
{
	CALL(unlinkat, HERE, "new", 0);
	CALL(unlinkat, HERE, "new", 0x200);
	check_put("old", content);
}

static void old_holds(const struct fault_step *s)
{
	CHECK(check_holds("old", content));
}

static void not_new(const struct fault_step *s)
{
	CHECK(!exists("new"));
	old_holds(s);
}

static void unlink_new(const struct fault_step *s)
{
	CHECK_CALL(CALL(unlinkat, HERE, "new", 0));
}

static void rmdir_new(const struct fault_step *s)
{
	CHECK_CALL(CALL(unlinkat, HERE, "new", 0x200));
}

static long open_new(const struct fault_step *s)
{
	return keep(DO(openat, HERE, "new", O_CREAT | O_EXCL | O_RDWR, 0644));
}

static void unlink_it(const struct fault_step *s)
{
	close_it(s);
	unlink_new(s);
}

static long open_a(const struct fault_step *s)
{
	return keep(DO(openat, HERE, s->a, O_RDONLY | O_NONBLOCK | O_NOCTTY));
}

/* Open, read to the end, close. */
static long read_a(const struct fault_step *s)
{
	long n, got = DO(openat, HERE, s->a, O_RDONLY);
	int in = (int)got;

	if (got < 0)
		return got;
	do
		n = DO(read, in, room, sizeof(room));
	while (n > 0);
	close(in);
	return n;
}

static long list_a(const struct fault_step *s)
{
	long n, got = DO(openat, HERE, s->a, O_RDONLY);
	int in = (int)got;

	if (got < 0)
		return got;
	do
		n = DO(getdents64, in, room, sizeof(room));
	while (n > 0);
	close(in);
	return n;
}

static long stat_a(const struct fault_step *s)
{
	return DO(newfstatat, HERE, s->a, room, 0);
}

static long readlink_a(const struct fault_step *s)
{
	return DO(readlinkat, HERE, s->a, room, sizeof(room));
}

static long mkdir_new(const struct fault_step *s)
{
	return DO(mkdirat, HERE, "new", 0755);
}

static long symlink_new(const struct fault_step *s)
{
	return DO(symlinkat, "a target that is longer than what an inode holds by itself, as some file systems do",
		  HERE, "new");
}

static long link_new(const struct fault_step *s)
{
	return DO(linkat, HERE, "old", HERE, "new", 0);
}

static long mkfifo_new(const struct fault_step *s)
{
	return DO(mknodat, HERE, "new", 0010644, 0);
}

static long rename_to(const struct fault_step *s)
{
	return DO(renameat2, HERE, "old", HERE, s->a, 0);
}

static void rename_back(const struct fault_step *s)
{
	CHECK_CALL(CALL(renameat2, HERE, s->a, HERE, "old", 0));
}

static void put_victim(const struct fault_step *s)
{
	put_old(s);
	check_put("victim", "of the renaming\n");
}

static void victim_holds(const struct fault_step *s)
{
	old_holds(s);
	CHECK(check_holds("victim", "of the renaming\n"));
}

static long write_long(const struct fault_step *s)
{
	long n = DO(pwrite64, old_fd, room, 20 * PAGE / 2, PAGE);

	return n < 0 || n == 20 * PAGE / 2 ? n : -ENOMEM; /* some of it, as POSIX allows */
}

static void cut_old(const struct fault_step *s)
{
	CHECK_CALL(CALL(ftruncate, old_fd, sizeof(content) - 1));
}

static void old_begins(const struct fault_step *s)
{
	cut_old(s);
	old_holds(s);
}

static long truncate_old(const struct fault_step *s)
{
	return DO(ftruncate, old_fd, 5 * PAGE + 7);
}

static long chdir_a(const struct fault_step *s)
{
	return DO(chdir, s->a);
}

static void chdir_back(const struct fault_step *s)
{
	CHECK_CALL(CALL(chdir, "/tmp/faults"));
}

static long getcwd_(const struct fault_step *s)
{
	return DO(getcwd, room, sizeof(room));
}

static long unlink_old(const struct fault_step *s)
{
	return DO(unlinkat, HERE, "old", 0);
}

static long flock_old(const struct fault_step *s)
{
	return DO(flock, old_fd, 2);
}

static void flock_none(const struct fault_step *s)
{
	CHECK_CALL(CALL(flock, old_fd, 8));
}

static long dup_high(const struct fault_step *s)
{
	return keep(DO(dup3, old_fd, 700, 0));
}

static long mount_a(const struct fault_step *s)
{
	return DO(mount, s->a, "mnt", s->a, 0, 0);
}

static void umount_it(const struct fault_step *s)
{
	CHECK_CALL(CALL(umount, "mnt", 0));
}

static long splice_it(const struct fault_step *s)
{
	long at = 0, n = DO(splice, old_fd, &at, pipe_fds[1], 0, PAGE, 0);

	if (n > 0)
		CHECK_EQ(CALL(read, pipe_fds[0], room, n), n);
	return n;
}

static long sendfile_it(const struct fault_step *s)
{
	long at = 0, n = DO(sendfile64, pipe_fds[1], old_fd, &at, PAGE);

	if (n > 0)
		CHECK_EQ(CALL(read, pipe_fds[0], room, n), n);
	return n;
}

static long poll_many(const struct fault_step *s)
{
	static struct pollfd polls[100];

	for (int i = 0; i < 100; i++)
		polls[i] = (struct pollfd){.fd = pipe_fds[1], .events = POLLOUT};
	return DO(ppoll, polls, 100, 0, 0, 0);
}

static long writev_many(const struct fault_step *s)
{
	static struct {
		const void *base;
		unsigned long len;
	} vec[60];
	long n;

	for (int i = 0; i < 60; i++) {
		vec[i].base = content;
		vec[i].len = 10;
	}
	n = DO(writev, pipe_fds[1], vec, 60);
	if (n > 0)
		CHECK_EQ(CALL(read, pipe_fds[0], room, 600), n);
	return n;
}
static long statx_a(const struct fault_step *s)
{
	return DO(statx, HERE, s->a, 0, 0x7ff, room);
}

static long statfs_a(const struct fault_step *s)
{
	return DO(statfs, s->a, room);
}

static long chmod_old(const struct fault_step *s)
{
	return DO(fchmodat, HERE, "old", 0600);
}

static long times_old(const struct fault_step *s)
{
	return DO(utimensat, HERE, "old", 0, 0);
}

static long access_a(const struct fault_step *s)
{
	return DO(faccessat, HERE, s->a, 4);
}

static const struct fault_step steps[] = {
	STEP("openat, a new file", open_new, put_old, unlink_it, not_new),
	STEP("openat, an old file", open_a, put_old, close_it, old_holds, .a = "old"),
	STEP("openat, a directory", open_a, NULL, close_it, NULL, .a = "/tmp"),
	STEP("openat, a terminal", open_a, NULL, close_it, NULL, .a = "/dev/console"),
	STEP("openat, /proc/self/mem", open_a, NULL, close_it, NULL, .a = "/proc/self/mem"),
	STEP("openat, a fifo", open_a, NULL, close_it, NULL, .a = "fifo"),
	STEP("openat, through a link", open_a, NULL, close_it, NULL, .a = "/proc/self/root/tmp/faults/link"),
	STEP("getdents64, /tmp", list_a, NULL, NULL, NULL, .a = "/tmp"),
	STEP("getdents64, /proc", list_a, NULL, NULL, NULL, .a = "/proc"),
	STEP("getdents64, /proc/self/fd", list_a, NULL, NULL, NULL, .a = "/proc/self/fd"),
	STEP("getdents64, /proc/self/task", list_a, NULL, NULL, NULL, .a = "/proc/self/task"),
	STEP("getdents64, /dev/pts", list_a, NULL, NULL, NULL, .a = "/dev/pts"),
	STEP("newfstatat, /proc", stat_a, NULL, NULL, NULL, .a = "/proc/1/task/1/fd/../stat"),
	STEP("readlinkat", readlink_a, NULL, NULL, NULL, .a = "link"),
	STEP("readlinkat, /proc", readlink_a, NULL, NULL, NULL, .a = "/proc/self/exe"),
	STEP("mkdirat", mkdir_new, put_old, rmdir_new, not_new),
	STEP("symlinkat", symlink_new, put_old, unlink_new, not_new),
	STEP("linkat", link_new, put_old, unlink_new, not_new),
	STEP("mknodat", mkfifo_new, put_old, unlink_new, not_new),
	STEP("renameat2", rename_to, put_old, rename_back, not_new, .a = "new"),
	STEP("renameat2, to a directory", rename_to, put_old, rename_back, old_holds, .a = "dir/new"),
	STEP("renameat2, onto a file", rename_to, put_victim, rename_back, victim_holds, .a = "victim"),
	STEP("unlinkat", unlink_old, put_old, put_old, old_holds),
	STEP("pwrite64", write_long, cut_old, cut_old, old_begins),
	STEP("ftruncate", truncate_old, cut_old, cut_old, old_holds),
	STEP("chdir", chdir_a, NULL, chdir_back, NULL, .a = "dir/../dir"),
	STEP("getcwd", getcwd_, NULL, NULL, NULL),
	STEP("flock", flock_old, NULL, flock_none, flock_none),
	STEP("dup3", dup_high, NULL, close_it, NULL),
	STEP("mount, ramfs", mount_a, NULL, umount_it, NULL, .a = "ramfs"),
	STEP("mount, proc", mount_a, NULL, umount_it, NULL, .a = "proc"),
	STEP("mount, sysfs", mount_a, NULL, umount_it, NULL, .a = "sysfs"),
	STEP("mount, tracefs", mount_a, NULL, umount_it, NULL, .a = "tracefs"),
	STEP("mount, debugfs", mount_a, NULL, umount_it, NULL, .a = "debugfs"),
	STEP("mount, devpts", mount_a, NULL, umount_it, NULL, .a = "devpts"),
	STEP("splice", splice_it, put_old, NULL, old_holds),
	STEP("sendfile64", sendfile_it, put_old, NULL, old_holds),
	STEP("ppoll", poll_many, NULL, NULL, NULL),
	STEP("writev", writev_many, NULL, NULL, NULL),
	STEP("statx", statx_a, NULL, NULL, NULL, .a = "/proc/self/task"),
	STEP("statfs", statfs_a, NULL, NULL, NULL, .a = "/sys/kernel/tracing"),
	STEP("fchmodat", chmod_old, put_old, NULL, old_holds),
	STEP("utimensat", times_old, put_old, NULL, old_holds),
	STEP("faccessat", access_a, NULL, NULL, NULL, .a = "/sys/kernel/tracing/events/sched/sched_switch/id"),
#define READ(path)                                   \
	{                                            \
		"reading " path, read_a, .a = (path) \
	}
	READ("/proc/self/status"),
	READ("/proc/self/maps"),
	READ("/proc/self/smaps"),
	READ("/proc/self/mountinfo"),
	READ("/proc/self/stat"),
	READ("/proc/self/auxv"),
	READ("/proc/self/environ"),
	READ("/proc/self/fdinfo/0"),
	READ("/proc/meminfo"),
	READ("/proc/slabinfo"),
	READ("/proc/interrupts"),
	READ("/proc/timer_list"),
	READ("/proc/config.gz"),
	READ("/proc/net/unix"),
	READ("/proc/modules"),
	READ("/proc/sys/kernel/hostname"),
	READ("/sys/devices/system/cpu/online"),
};

int main(int argc, char **argv)
{
	fault_calls_prepare();
	mkdir("mnt", 0755);
	mkdir("dir", 0755);
	CALL(mknodat, HERE, "fifo", 0010644, 0);
	CALL(symlinkat, "old", HERE, "link");
	return faults_main(argc, argv, steps, sizeof(steps) / sizeof(*steps));
}
