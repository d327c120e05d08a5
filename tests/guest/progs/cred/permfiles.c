/* permfiles: who may do what with files, and what /proc and the debugging file systems show to whom. */
#include <rows/permrows.h>
#include <sys/stat.h>

#define D	  "/tmp/permfiles"
#define NODE_CHR  0020000
#define NODE_FIFO 0010000

/* --- files: "root" is root's with mode 644, "secret" with 600, "mine" the user's --- */

static long done(int fd)
{
	return fd < 0 ? -1 : close(fd);
}

static long do_read_secret(void)
{
	return done(open(D "/secret", O_RDONLY));
}

/* The group's bits of a file that belongs to root and to the user's group, by the id that is for files. */
static long do_read_groups(void)
{
	return done(open(D "/group", O_RDONLY));
}

static long do_write_groups(void)
{
	return done(open(D "/group", O_WRONLY));
}

static long do_write_roots(void)
{
	return done(open(D "/root", O_WRONLY));
}

static long do_open_trunc(void)
{
	return done(open(D "/root", O_RDONLY | O_TRUNC));
}

static long do_truncate(void)
{
	return CALL(truncate, D "/root", 0);
}

static long do_noatime(void)
{
	return done(open(D "/root", O_RDONLY | O_NOATIME));
}

static long do_setfl_noatime(void)
{
	int fd = open(D "/root", O_RDONLY);

	return fd < 0 ? -1 : fcntl(fd, F_SETFL, O_NOATIME);
}

static long do_chown(void)
{
	return CALL(fchownat, AT_FDCWD, D "/root", 0, 0, 0);
}

static long do_give_away(void)
{
	return CALL(fchownat, AT_FDCWD, D "/mine", 1001, -1, 0);
}

static long do_chgrp_foreign(void)
{
	return CALL(fchownat, AT_FDCWD, D "/mine", -1, 0, 0);
}

static long do_chmod(void)
{
	return CALL(fchmodat, AT_FDCWD, D "/root", 0644);
}

static long do_utimes_set(void)
{
	struct pair times[2] = {{1, 1}, {1, 1}};

	return CALL(utimensat, AT_FDCWD, D "/root", times, 0);
}

static long do_utimes_now(void)
{
	return CALL(utimensat, AT_FDCWD, D "/root", 0, 0);
}

static long do_utimes_half(void)
{
	struct pair times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};

	return CALL(utimensat, AT_FDCWD, D "/writable", times, 0);
}

static long do_touch_writable(void)
{
	return CALL(utimensat, AT_FDCWD, D "/writable", 0, 0);
}

static long do_access(void)
{
	return CALL(faccessat, AT_FDCWD, D "/root", W_OK);
}

static long do_mknod(void)
{
	return CALL(mknodat, AT_FDCWD, D "/sticky/node", NODE_CHR | 0666, 0x103) ? -1 : unlink(D "/sticky/node");
}

static long do_mkfifo(void)
{
	return CALL(mknodat, AT_FDCWD, D "/sticky/fifo", NODE_FIFO | 0666, 0) ? -1 : unlink(D "/sticky/fifo");
}

/* Is a set-group-id program made where the directory gives it root's group? EPERM says that the bit was dropped. */
static long do_setgid_program(void)
{
	int fd = open(D "/grouped/program", O_CREAT | O_EXCL | O_WRONLY, 02755);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || close(fd) || unlink(D "/grouped/program"))
		return -1;
	if ((st.st_mode & 07777) == 02755 && st.st_gid == 0)
		return 0;
	errno = (st.st_mode & 07777) == 0755 && st.st_gid == 0 ? EPERM : EIO;
	return -1;
}

static long do_unlink_sticky(void)
{
	return unlink(D "/sticky/file") ? -1 : CALL(linkat, AT_FDCWD, D "/root", AT_FDCWD, D "/sticky/file", 0);
}

static long do_rename_sticky(void)
{
	return CALL(renameat2, AT_FDCWD, D "/sticky/file", AT_FDCWD, D "/sticky/other", 0)
		       ? -1
		       : CALL(renameat2, AT_FDCWD, D "/sticky/other", AT_FDCWD, D "/sticky/file", 0);
}

static long do_move_dir(void)
{
	return CALL(renameat2, AT_FDCWD, D "/open/roots", AT_FDCWD, D "/open/to/roots", 0)
		       ? -1
		       : CALL(renameat2, AT_FDCWD, D "/open/to/roots", AT_FDCWD, D "/open/roots", 0);
}

struct unix_name {
	unsigned short family;
	char path[64];
};

static long do_bind(void)
{
	struct unix_name name = {1, D "/socket"};
	int fd = (int)CALL(socket, 1, 2, 0);
	long res = CALL(bind, fd, &name, sizeof(name));
	int err = errno;

	close(fd);
	errno = err;
	return res ? -1 : unlink(D "/socket");
}

/* Of a file that is no socket the right to write is asked for first. */
static long do_connect(void)
{
	struct unix_name name = {1, D "/root"};
	int fd = (int)CALL(socket, 1, 2, 0);
	long res = CALL(connect, fd, &name, sizeof(name));
	int err = errno;

	close(fd);
	errno = err;
	return res;
}

/* A socket of AF_INET that nobody keeps. */
static long make_socket(int type, int protocol)
{
	long fd = CALL(socket, 2, type, protocol);

	return fd < 0 ? -1 : close((int)fd);
}

static long do_raw_socket(void)
{
	return make_socket(3, 1);
}

static long do_bind_port(void)
{
	struct {
		unsigned short family, port;
		unsigned addr, zero[2];
	} name = {2, 0x0200, 0x0100007f, {0, 0}}; /* port 2 of 127.0.0.1 */
	int fd = (int)CALL(socket, 2, 2, 0);
	long res = CALL(bind, fd, &name, sizeof(name));
	int err = errno;

	close(fd);
	errno = err;
	return res;
}

static long do_link(void)
{
	return CALL(linkat, AT_FDCWD, D "/root", AT_FDCWD, D "/link", 0) ? -1 : unlink(D "/link");
}

static int roots_fd; /* open since before the row's user was chosen, as if root had passed it */

static long do_link_fd(void)
{
	return CALL(linkat, roots_fd, "", AT_FDCWD, D "/open/link", AT_EMPTY_PATH) ? -1 : unlink(D "/open/link");
}

static long do_unlink(void)
{
	return unlink(D "/gone") ? -1 : done(open(D "/gone", O_CREAT | O_WRONLY, 0644));
}

static long do_mkdir(void)
{
	return CALL(mkdirat, AT_FDCWD, D "/dir", 0755) ? -1 : CALL(unlinkat, AT_FDCWD, D "/dir", AT_REMOVEDIR);
}

static long do_chdir(void)
{
	return CALL(chdir, D "/closed");
}

static long do_setxattr(void)
{
	return CALL(setxattr, D "/root", "user.x", "v", 1, 0);
}

static long do_setxattr_trusted(void)
{
	return CALL(setxattr, D "/mine", "trusted.x", "v", 1, 0);
}

/* --- what /proc and the debugging file systems show of process 1 and of the kernel --- */

static long do_exe(void)
{
	char name[64];

	return CALL(readlinkat, AT_FDCWD, "/proc/1/exe", name, sizeof(name));
}

static long do_cwd(void)
{
	return CALL(chdir, "/proc/1/cwd");
}

static long do_root(void)
{
	return CALL(chdir, "/proc/1/root");
}

static long do_maps(void)
{
	return done(open("/proc/1/maps", O_RDONLY));
}

static long do_environ(void)
{
	return done(open("/proc/1/environ", O_RDONLY));
}

static long do_fd(void)
{
	return done(open("/proc/1/fd", O_RDONLY | O_DIRECTORY));
}

static long do_fd_0(void)
{
	return done(open("/proc/1/fd/0", O_RDONLY));
}

static long do_status(void)
{
	return done(open("/proc/1/status", O_RDONLY));
}

static long do_comm(void)
{
	int fd = open("/proc/1/comm", O_WRONLY);

	return fd < 0 ? -1 : write(fd, "x", 1);
}

static long do_slabinfo(void)
{
	return done(open("/proc/slabinfo", O_RDONLY));
}

static long do_tracefs(void)
{
	return done(open("/sys/kernel/tracing/trace", O_RDONLY));
}

static long do_debugfs(void)
{
	return done(open("/sys/kernel/debug/sched/debug", O_RDONLY));
}

static long do_kptr_restrict(void)
{
	return done(open("/proc/sys/kernel/kptr_restrict", O_WRONLY));
}

static long do_kmsg_write(void)
{
	return done(open("/dev/kmsg", O_WRONLY));
}

static const struct perm_row rows[] = {
	{"open a secret", do_read_secret, EACCES, 0},
	{"open what the group may read", do_read_groups, 0, 0},
	{"open that for writing", do_write_groups, EACCES, 0},
	{"open for writing", do_write_roots, EACCES, 0},
	{"open O_TRUNC", do_open_trunc, EACCES, 0},
	{"truncate", do_truncate, EACCES, 0},
	{"open O_NOATIME", do_noatime, EPERM, 0},
	{"fcntl O_NOATIME", do_setfl_noatime, EPERM, 0},
	{"chown", do_chown, EPERM, 0},
	{"chown giving away", do_give_away, EPERM, 0},
	{"chown to a foreign group", do_chgrp_foreign, EPERM, 0},
	{"chmod", do_chmod, EPERM, 0},
	{"utimensat with times", do_utimes_set, EPERM, 0},
	{"utimensat now", do_utimes_now, EACCES, 0},
	{"utimensat now and omit", do_utimes_half, EPERM, 0},
	{"utimensat now, writable", do_touch_writable, 0, 0},
	{"access", do_access, EACCES, 0},
	{"mknod of a device", do_mknod, EPERM, 0},
	{"mknod of a fifo", do_mkfifo, 0, 0},
	{"make a program for root's group", do_setgid_program, EPERM, 0},
	{"unlink in a sticky directory", do_unlink_sticky, EPERM, 0},
	{"rename in a sticky directory", do_rename_sticky, EPERM, 0},
	{"rename of a directory to another", do_move_dir, EACCES, 0},
	{"link", do_link, EACCES, 0},
	{"linkat of a descriptor", do_link_fd, ENOENT, 0},
	{"bind", do_bind, EACCES, 0},
	{"bind to a low port", do_bind_port, EACCES, 0},
	{"raw socket", do_raw_socket, EPERM, 0},
	{"connect", do_connect, EACCES, ECONNREFUSED},
	{"unlink", do_unlink, EACCES, 0},
	{"mkdir", do_mkdir, EACCES, 0},
	{"chdir", do_chdir, EACCES, 0},
	{"setxattr", do_setxattr, EACCES, EOPNOTSUPP},
	{"setxattr trusted.", do_setxattr_trusted, EPERM, EOPNOTSUPP},
	{"/proc/PID/exe", do_exe, EACCES, 0},
	{"/proc/PID/cwd", do_cwd, EACCES, 0},
	{"/proc/PID/root", do_root, EACCES, 0},
	{"/proc/PID/maps", do_maps, EACCES, 0},
	{"/proc/PID/environ", do_environ, EACCES, 0},
	{"/proc/PID/fd", do_fd, EACCES, 0},
	{"/proc/PID/fd/N", do_fd_0, EACCES, 0},
	{"/proc/PID/status", do_status, 0, 0},
	{"/proc/PID/comm", do_comm, EACCES, EINVAL},
	{"/proc/slabinfo", do_slabinfo, EACCES, 0},
	{"tracefs", do_tracefs, EACCES, 0},
	{"debugfs", do_debugfs, EACCES, 0},
	{"/proc/sys/kernel/kptr_restrict", do_kptr_restrict, EACCES, 0},
	{"/dev/kmsg for writing", do_kmsg_write, EACCES, 0},
};

static void make(const char *path, mode_t mode, unsigned owner)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	if (fd < 0 || close(fd) || CALL(fchownat, AT_FDCWD, path, owner, owner, 0) ||
	    CALL(fchmodat, AT_FDCWD, path, mode))
		vt_die_errno(2, path);
}

static void make_dir(const char *path, mode_t mode)
{
	if (CALL(mkdirat, AT_FDCWD, path, 0700) || CALL(fchmodat, AT_FDCWD, path, mode))
		vt_die_errno(2, path);
}

static void make_files(void)
{
	make_dir(D, 0755);
	make(D "/root", 0644, 0);
	make(D "/gone", 0644, 0);
	make(D "/secret", 0600, 0);
	make(D "/group", 0640, 0);
	if (CALL(fchownat, AT_FDCWD, D "/group", 0, PERM_USER, 0))
		vt_die_errno(2, D "/group");
	make(D "/writable", 0666, 0);
	make(D "/mine", 0644, PERM_USER);
	make_dir(D "/closed", 0700);
	make_dir(D "/sticky", 01777);
	make_dir(D "/grouped", 02777);
	make_dir(D "/open", 0777);
	make_dir(D "/open/to", 0777);
	make_dir(D "/open/roots", 0755);
	if (CALL(linkat, AT_FDCWD, D "/root", AT_FDCWD, D "/sticky/file", 0))
		vt_die_errno(2, D);
}

int main(void)
{
	make_files();
	roots_fd = open(D "/root", O_RDONLY);
	return perm_main(rows, ARRAY_SIZE(rows));
}
