/*
 * init: the first process. Mounts, console, /etc/rc, a shell that comes back, orphans.
 *
 * It must never end: the kernel would panic. So whatever fails here is said and lived with. Left
 * out: run levels, services, a log-in.
 */
#include <vt.h>
#include <vt_term.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Follows links. */
static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* A mount has failed. A kernel that leaves the room of this file system out says ENODEV, and that is no complaint. */
static void mount_failed(const char *where)
{
	if (errno != EBUSY && errno != ENODEV)
		vt_warn_errno(where);
}

/* Missing directories are made; what is mounted already (EBUSY) or has no place yet is no reason to stop. */
static void mount_one(const char *type, const char *where, const char *also_type)
{
	if (mkdir(where, 0755) < 0 && errno != EEXIST)
		return;
	if (mount(type, where, type, 0, NULL) == 0 || errno == EBUSY)
		return;
	if (also_type && (mount(also_type, where, also_type, 0, NULL) == 0 || errno == EBUSY))
		return;
	mount_failed(where);
}

static void make_dir(const char *where)
{
	if (mkdir(where, 0755) < 0 && errno != EEXIST)
		vt_warn_errno(where);
}

/* The slaves of pseudo terminals. Their group is tty, and its members may write to them. */
static void mount_pts(const char *where)
{
	make_dir(where);
	if (mount("devpts", where, "devpts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620") < 0)
		mount_failed(where);
}

/* Memory that programs share by name: shm_open() makes files there. */
static void mount_shm(const char *where)
{
	make_dir(where);
	if (mount("tmpfs", where, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
		vt_warn_errno(where);
}

/* Descriptors 0 to 2 are the console, whatever the kernel has left there. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR);

	if (fd < 0)
		return; /* keep what there is */
	for (int to = 0; to < 3; to++) {
		if (fd != to && dup2(fd, to) < 0)
			vt_warn_errno("console");
	}
	if (fd > 2)
		close(fd);
}

/*
 * A folder of the host, if the machine has one under this name (docs/host-folder.md). mount(2) says ENOENT when there
 * is none, and then no trace of the attempt is left. Returns whether the folder is there.
 */
static bool mount_host(const char *tag, const char *where)
{
	bool made = mkdir(where, 0755) == 0;

	if (mount(tag, where, "9p", 0, "trans=virtio,version=9p2000.L") == 0 || errno == EBUSY)
		return true;
	if (errno != ENOENT && errno != ENODEV)
		vt_warn_errno(where);
	if (made)
		rmdir(where);
	return false;
}

/*
 * The kernel may have mounted some of these before it started us; what is there already is left
 * alone.
 */
static void mount_all(void)
{
	/* Not /dev/console: the kernel makes that one, for us, before there is anything else. */
	if (!is_there("/dev/null"))
		mount_one("devtmpfs", "/dev", "devfs");
	open_console();
	mount_pts("/dev/pts");
	if (!is_there("/dev/shm"))
		mount_shm("/dev/shm");
	if (!is_there("/proc/self"))
		mount_one("proc", "/proc", NULL);
	if (!is_there("/sys/kernel"))
		mount_one("sysfs", "/sys", NULL);
	make_dir("/sys/kernel"); /* without sysfs it is an ordinary folder, in which tracefs has its place */
	if (!is_there("/sys/kernel/tracing/trace"))
		mount_one("tracefs", "/sys/kernel/tracing", NULL);
	/* debugfs has tracefs in it, at the path of older tutorials. ENODEV: the kernel was booted with debugfs=off. */
	if (!is_there("/sys/kernel/debug/tracing/trace") &&
	    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) < 0 && errno != ENOENT)
		mount_failed("/sys/kernel/debug");
}

/*
 * The console as a session expects it, whatever the one before has left there. What is typed is UTF-8, as a
 * getty has it; speed and flow control are the driver's.
 */
static void reset_console(void)
{
	struct termios t;

	vt_set_blocking(STDIN_FILENO);
	if (tcgetattr(STDIN_FILENO, &t) < 0)
		return; /* no terminal */
	vt_sane_modes(&t, true);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &t) < 0)
		vt_warn_errno("console");
}

/*
 * Start argv as leader of a session of its own with the console as its terminal: that is what ^C and job
 * control need. Returns its id, or -1 after a message.
 */
static pid_t start(char *const argv[])
{
	pid_t pid = fork();

	if (pid < 0)
		vt_warn_errno("fork");
	if (pid != 0)
		return pid;
	if (setsid() < 0)
		vt_warn_errno("setsid");
	/* ENOTTY: the console is no terminal, so there is nothing to control. */
	if (ioctl(STDIN_FILENO, TIOCSCTTY, 1) < 0 && errno != ENOTTY)
		vt_warn_errno("controlling terminal");
	reset_console();
	execvp(argv[0], argv);
	vt_warn_errno(argv[0]);
	_exit(127);
}

/* Reap whatever ends until pid has. */
static void wait_for(pid_t pid)
{
	for (;;) {
		pid_t ended = wait(NULL);

		if (ended == pid || (ended < 0 && errno == ECHILD))
			return;
	}
}

int main(int argc, char **argv)
{
	char *const rc[] = {"/bin/sh", "/etc/rc", NULL};
	char *shell[] = {"/bin/sh", NULL, NULL};
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "--help")) {
		printf("Usage: init (as process 1)\n");
		return vt_finish(0);
	}
	/*
	 * Mounting everything again and a second shell on the console is not what anybody wants by
	 * accident.
	 */
	if (getpid() != 1)
		vt_die(1, "must be process 1");
	mount_all();
	/* A folder that is the root of the session: its programs run there, and see what is shared inside of it. */
	if (mount_host("root", "/debian")) {
		shell[1] = "/etc/enter-root";
		mount_host("host", "/debian/host");
	} else {
		mount_host("host", "/host");
	}
	/* TERM is kept if the kernel's command line has set it. */
	if (setenv("PATH", "/bin:/sbin", 1) < 0 || setenv("HOME", "/root", 1) < 0 || setenv("TERM", "vt102", 0) < 0)
		vt_warn("out of memory");
	if (chdir("/") < 0)
		vt_warn_errno("/");
	if (is_there("/etc/rc") && (pid = start(rc)) > 0)
		wait_for(pid);
	for (;;) {
		struct timespec pause = {.tv_sec = 1};
		struct timespec before = {0}, after = {0};

		clock_gettime(CLOCK_MONOTONIC, &before);
		pid = start(shell);
		if (pid > 0)
			wait_for(pid);
		clock_gettime(CLOCK_MONOTONIC, &after);
		/* A shell that cannot run must not keep the machine busy. */
		if (pid < 0 || after.tv_sec - before.tv_sec < 1)
			nanosleep(&pause, NULL);
	}
}
