/*
 * setidtest: set-user-id and set-group-id programs, and what nobody may see of them. The program copies itself, gives
 * the copy to a user and a mode, and runs it as uid 1000; the copy says who it is. `setidtest as-user FILE [ARG...]`
 * runs any program as uid 1000, `setidtest give FILE ID` makes a file that user's and group's.
 */
#include <callnumbers.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <uapi/elf.h>
#include <sched.h>

#define USER		    1000
#define D		    "/tmp/setidtest"
#define PR_GET_DUMPABLE	    3
#define PR_SET_DUMPABLE	    4
#define PR_SET_NO_NEW_PRIVS 38
#define PR_GET_NO_NEW_PRIVS 39

extern char **environ;

/* What a program finds out about itself. */
struct report {
	unsigned uid, euid, suid, gid, egid, sgid;
	int secure, dumpable;
	int access, access_effective, open; /* of a file that only root may read: errno */
};

/* The auxiliary vector lies behind the environment. */
static int auxv(unsigned long which)
{
	unsigned long *at = (unsigned long *)environ;

	while (*at++)
		;
	for (; at[0]; at += 2)
		if (at[0] == which)
			return (int)at[1];
	return -1;
}

static int errno_of(long result)
{
	return result < 0 ? errno : 0;
}

/* In the copy: tell, and wait for the end of input. */
static int report_self(void)
{
	struct report r;
	char byte;
	int fd;

	CALL(getresuid, &r.uid, &r.euid, &r.suid);
	CALL(getresgid, &r.gid, &r.egid, &r.sgid);
	r.secure = auxv(AT_SECURE);
	r.dumpable = (int)CALL(prctl, PR_GET_DUMPABLE);
	r.access = errno_of(CALL(faccessat, AT_FDCWD, D "/secret", R_OK));
	r.access_effective = errno_of(CALL(faccessat2, AT_FDCWD, D "/secret", R_OK, 0x200));
	fd = open(D "/secret", O_RDONLY);
	r.open = errno_of(fd);
	if (vt_write_all(1, &r, sizeof(r)))
		return 1;
	return vt_read(0, &byte, 1) == 0 ? 0 : 1;
}

/* A copy that runs, and the two ends of it. */
struct running {
	pid_t pid;
	int in, out;
	struct report r;
};

static void install(const char *path, mode_t mode, unsigned uid, unsigned gid)
{
	int from = open("/bin/setidtest", O_RDONLY), to;

	unlink(path);
	to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (from < 0 || to < 0 || vt_copy(from, to) || close(to) || CALL(fchownat, AT_FDCWD, path, uid, gid, 0) ||
	    CALL(fchmodat, AT_FDCWD, path, mode))
		vt_die_errno(2, path);
	close(from);
}

static void exec_copy(const char *path, int in, int out)
{
	char *const argv[] = {(char *)path, "report", NULL};

	dup2(in, 0);
	dup2(out, 1);
	for (int fd = 3; fd < 20; fd++)
		close(fd);
	execve(path, argv, environ);
	_exit(120 + (errno == EACCES));
}

/* Run the copy as uid 1000, after `prepare` (NULL: nothing). False: it did not get to its report. */
static bool start(struct running *copy, const char *path, void (*prepare)(void))
{
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		vt_die_errno(2, "pipe");
	copy->pid = check_fork();
	if (copy->pid == 0) {
		become_user(USER);
		if (prepare)
			prepare();
		exec_copy(path, in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	copy->in = in[1];
	copy->out = out[0];
	return vt_read(copy->out, &copy->r, sizeof(copy->r)) == sizeof(copy->r);
}

static void stop(struct running *copy)
{
	close(copy->in);
	CHECK_EQ(check_wait(copy->pid), 0);
	close(copy->out);
}

static struct report report_of(const char *path, void (*prepare)(void))
{
	struct running copy = {0};

	CHECK(start(&copy, path, prepare));
	stop(&copy);
	return copy.r;
}

static void check_ids(struct report r, unsigned euid, unsigned egid)
{
	CHECK_EQ(r.uid, USER);
	CHECK_EQ(r.euid, euid);
	CHECK_EQ(r.suid, euid);
	CHECK_EQ(r.gid, USER);
	CHECK_EQ(r.egid, egid);
	CHECK_EQ(r.sgid, egid);
	CHECK_EQ(r.secure, euid != USER || egid != USER);
	CHECK_EQ(r.dumpable, euid == USER && egid == USER);
}

static void bits(void)
{
	struct report r;

	install(D "/copy", 0755, 0, 0);
	check_ids(report_of(D "/copy", NULL), USER, USER);
	install(D "/copy", 04755, 0, 0);
	r = report_of(D "/copy", NULL);
	check_ids(r, 0, USER);
	CHECK_EQ(r.access, EACCES); /* access() asks for the real user */
	CHECK_EQ(r.access_effective, 0);
	CHECK_EQ(r.open, 0);
	install(D "/copy", 04755, 1001, 0);
	r = report_of(D "/copy", NULL);
	check_ids(r, 1001, USER);
	CHECK_EQ(r.open, EACCES);
	install(D "/copy", 02755, 0, 0);
	check_ids(report_of(D "/copy", NULL), USER, 0);
	install(D "/copy", 06755, 0, 7);
	check_ids(report_of(D "/copy", NULL), 0, 7);
	install(D "/copy", 02745, 0, 0); /* without the group's right to execute it means something else */
	check_ids(report_of(D "/copy", NULL), USER, USER);
	install(D "/copy", 04755, USER, USER);
	check_ids(report_of(D "/copy", NULL), USER, USER);
	install(D "/copy", 0711, 0, 0); /* who may not read the file may not look into the process either */
	CHECK_EQ(report_of(D "/copy", NULL).dumpable, 0);
}

static void no_new_privs(void)
{
	if (CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || CALL(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		_exit(3);
}

/* A sleeping child that has the same root and working directory as we. */
static void share_fs(void)
{
	if (CALL(clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0) == 0) {
		close(0);
		close(1);
		for (int fd = 3; fd < 20; fd++)
			close(fd);
		check_sleep(3000000000); /* until the parent has long begun another program */
		_exit(0);
	}
}

static void conditions(void)
{
	int fd;

	install(D "/copy", 06755, 0, 0);
	check_ids(report_of(D "/copy", no_new_privs), USER, USER);
	check_ids(report_of(D "/copy", share_fs), USER, USER);
	check_ids(report_of(D "/copy", NULL), 0, 0);
	CHECK_CALL(CALL(mount, "none", D "/mnt", "tmpfs", 2 /* MS_NOSUID */, 0));
	install(D "/mnt/copy", 06755, 0, 0);
	check_ids(report_of(D "/mnt/copy", NULL), USER, USER);
	CHECK_CALL(CALL(mount, "none", D "/mnt", "tmpfs", 32 /* MS_REMOUNT */, 0));
	check_ids(report_of(D "/mnt/copy", NULL), 0, 0);
	CHECK_CALL(CALL(mount, "none", D "/mnt", "tmpfs", 32 | 8 /* MS_NOEXEC */, 0));
	CHECK_ERRNO(execve(D "/mnt/copy", NULL, NULL), EACCES);
	fd = open(D "/mnt/copy", O_RDONLY);
	CHECK_ERRNO(CALL(execveat, fd, "", 0, 0, 0x1000), EACCES);
	CHECK_ERRNO(CALL(mmap, 0, 4096, 5, 2, fd, 0), EPERM); /* PROT_READ | PROT_EXEC, MAP_PRIVATE */
	CHECK_ERRNO(CALL(mprotect, CALL(mmap, 0, 4096, 1, 2, fd, 0), 4096, 5), EACCES);
	CHECK_CALL(CALL(mknodat, AT_FDCWD, D "/mnt/null", 0020666, 0x103));
	CHECK_CALL(close(open(D "/mnt/null", O_RDWR)));
	CHECK_CALL(CALL(mount, "none", D "/mnt", "tmpfs", 32 | 4 /* MS_NODEV */, 0));
	CHECK_ERRNO(open(D "/mnt/null", O_RDWR), EACCES);
	CHECK_ERRNO(CALL(prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), EINVAL);
	CHECK_ERRNO(CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 1, 0, 0), EINVAL);
	CHECK_ERRNO(CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 1, 0), EINVAL);
	CHECK_ERRNO(CALL(prctl, PR_SET_DUMPABLE, 2), EINVAL);
}

/* A set-user-id script runs with its user's rights; a script may well have a set-user-id interpreter. */
static void scripts(void)
{
	int fd = open(D "/script", O_WRONLY | O_CREAT, 0755);

	install(D "/copy", 0755, 0, 0);
	CHECK_CALL(vt_write_all(fd, "#!" D "/copy\n", strlen("#!" D "/copy\n")));
	close(fd);
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, D "/script", 06755));
	check_ids(report_of(D "/script", NULL), USER, USER);
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, D "/script", 0755));
	install(D "/copy", 04755, 0, 0);
	check_ids(report_of(D "/script", NULL), 0, USER);
}

static const char *proc_path(pid_t pid, const char *file)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return path;
}

static int open_errno(const char *path)
{
	int fd = open(path, O_RDONLY), err = errno_of(fd);

	if (fd >= 0)
		close(fd);
	return err;
}

static int readlink_errno(const char *path)
{
	char name[64];

	return errno_of(CALL(readlinkat, AT_FDCWD, path, name, sizeof(name)));
}

/* What uid 1000 sees of a process: all of its own, nothing of one that runs a set-user-id program for it. */
static pid_t looked_at;
static int wanted;

static void look(void)
{
	static const char *const files[] = {"maps", "environ", "fd"}, *const links[] = {"exe", "cwd", "root", "fd/0"};
	unsigned long limit[2];
	char text[4096];
	struct stat st;
	int fd;

	become_user(USER);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		CHECK_EQ(open_errno(proc_path(looked_at, files[i])), wanted);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		CHECK_EQ(readlink_errno(proc_path(looked_at, links[i])), wanted);
	CHECK_EQ(errno_of(CALL(chdir, proc_path(looked_at, "cwd"))), wanted);
	CHECK_EQ(errno_of(CALL(prlimit64, looked_at, 7, 0, limit)), wanted ? EPERM : 0);
	CHECK_EQ(CALL(kill, looked_at, 0), 0); /* the real user is the same: that is enough here */
	CHECK_CALL(stat(proc_path(looked_at, "maps"), &st));
	CHECK_EQ(st.st_uid, wanted ? 0 : USER);
	/* Column 28 of stat, the start of the stack, is hidden with the rest. */
	fd = open(proc_path(looked_at, "stat"), O_RDONLY);
	CHECK_CALL(read(fd, text, sizeof(text)));
	char *at = strrchr(text, ')');
	for (int column = 2; at && column < 28; column++)
		at = strchr(at + 1, ' ');
	CHECK(at && (strtoul(at, NULL, 10) == 0) == (wanted != 0));
}

static void lookers(void)
{
	struct running copy = {0};

	install(D "/copy", 0755, 0, 0);
	CHECK(start(&copy, D "/copy", NULL));
	looked_at = copy.pid;
	wanted = 0;
	CHECK_EQ(check_in_child(look), 0);
	stop(&copy);
	install(D "/copy", 04755, 0, 0);
	CHECK(start(&copy, D "/copy", NULL));
	looked_at = copy.pid;
	wanted = EACCES;
	CHECK_EQ(check_in_child(look), 0);
	stop(&copy);
	looked_at = getpid(); /* root's, with the same program */
	CHECK_EQ(open_errno(proc_path(looked_at, "maps")), 0);
}

/* A file of /proc that was opened before an exec shows nothing of the program behind it, not even to root. */
static void opened_before_exec(void)
{
	struct report r;
	char text[64];
	int in[2], out[2], maps, stat;
	pid_t pid;

	install(D "/copy", 0755, 0, 0);
	CHECK_CALL(pipe(in));
	CHECK_CALL(pipe(out));
	pid = check_fork();
	if (pid == 0) {
		check_take(in[0]);
		close(in[1]);
		exec_copy(D "/copy", in[0], out[1]);
	}
	maps = open(proc_path(pid, "maps"), O_RDONLY);
	stat = open(proc_path(pid, "stat"), O_RDONLY);
	CHECK(CALL(pread64, maps, text, sizeof(text), 0) > 0);
	check_give(in[1], 'g');
	CHECK_EQ(vt_read(out[0], &r, sizeof(r)), sizeof(r));
	CHECK_EQ(CALL(pread64, maps, text, sizeof(text), 0), 0);
	CHECK(CALL(pread64, stat, text, sizeof(text), 0) > 0);
	CHECK_EQ(open_errno(proc_path(pid, "maps")), 0);
	close(in[1]);
	CHECK_EQ(check_wait(pid), 0);
}

/* Who has changed its ids still sees itself; others of its new user do not. */
static void after_setuid(void)
{
	char byte;
	int go[2], end[2];
	pid_t pid;

	CHECK_CALL(pipe(go));
	CHECK_CALL(pipe(end));
	pid = check_fork();
	if (pid == 0) {
		close(end[1]);
		become_user(USER);
		byte = (char)(CALL(prctl, PR_GET_DUMPABLE) == 0 && !open_errno("/proc/self/maps") &&
			      !open_errno("/proc/self/fd") && !readlink_errno("/proc/self/fd/0"));
		check_give(go[1], byte);
		_exit(vt_read(end[0], &byte, 1) != 0);
	}
	close(end[0]);
	CHECK_EQ(check_take(go[0]), 1);
	looked_at = pid;
	wanted = EACCES;
	CHECK_EQ(open_errno(proc_path(pid, "maps")), 0); /* root */
	pid = check_fork();
	if (pid == 0) {
		become_user(USER);
		CALL(prctl, PR_SET_DUMPABLE, 1);
		_exit(open_errno(proc_path(looked_at, "maps")) != EACCES || open_errno("/proc/self/maps"));
	}
	CHECK_EQ(check_wait(pid), 0);
	close(end[1]);
	CHECK_EQ(check_wait(looked_at), 0);
}

static unsigned mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void write_as_user(void)
{
	int fd = open(D "/file", O_WRONLY);

	become_user(USER);
	CHECK_EQ(write(fd, "x", 1), 1);
}

static void truncate_as_user(void)
{
	become_user(USER);
	CHECK_CALL(CALL(truncate, D "/file", 0));
}

static void chmod_as_user(void)
{
	become_user(USER);
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, D "/file", 06777));
}

/* The bits go with a new owner, and when somebody else than root writes. */
static void lost_bits(void)
{
	int fd;

	install(D "/file", 06777, 0, 0);
	CHECK_CALL(CALL(truncate, D "/file", 10));
	fd = open(D "/file", O_WRONLY);
	CHECK_EQ(write(fd, "x", 1), 1);
	close(fd);
	CHECK_EQ(mode_of(D "/file"), 06777); /* root */
	CHECK_EQ(check_in_child(write_as_user), 0);
	CHECK_EQ(mode_of(D "/file"), 0777);
	install(D "/file", 06777, 0, 0);
	CHECK_EQ(check_in_child(truncate_as_user), 0);
	CHECK_EQ(mode_of(D "/file"), 0777);
	install(D "/file", 06767, 0, 0); /* no right to execute for the group: its bit gives nothing to runners */
	CHECK_CALL(CALL(fchownat, AT_FDCWD, D "/file", 0, 0, 0));
	CHECK_EQ(mode_of(D "/file"), 02767);
	install(D "/file", 06777, 0, 0);
	CHECK_CALL(CALL(fchownat, AT_FDCWD, D "/file", USER, -1, 0));
	CHECK_EQ(mode_of(D "/file"), 0777);
	CHECK_EQ(check_in_child(chmod_as_user), 0); /* the group is root's: its bit is not the user's to give */
	CHECK_EQ(mode_of(D "/file"), 04777);
}

/* A set-group-id directory hands its group down. */
static void group_of_directory(void)
{
	struct stat st;

	CHECK_CALL(mkdir(D "/team", 0777));
	CHECK_CALL(CALL(fchownat, AT_FDCWD, D "/team", 0, 7, 0));
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, D "/team", 02777));
	CHECK_CALL(close(open(D "/team/file", O_CREAT | O_WRONLY, 0644)));
	CHECK_CALL(stat(D "/team/file", &st));
	CHECK_EQ(st.st_gid, 7);
	CHECK_CALL(mkdir(D "/team/dir", 0755));
	CHECK_CALL(stat(D "/team/dir", &st));
	CHECK_EQ(st.st_gid, 7);
	CHECK_EQ(mode_of(D "/team/dir"), 02755);
}

/* Does /proc/kallsyms show addresses, all of them (1), none (0), or some (-1)? */
static int shows_addresses(void)
{
	char *text = vt_read_file("/proc/kallsyms", NULL), *line = text;
	int zero = 0, other = 0;

	for (; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, "0000000000000000 ", 17))
			other++;
		else
			zero++;
	}
	free(text);
	return zero + other < 100 ? -2 : !zero ? 1 : !other ? 0 : -1;
}

static int shows_addresses_to_user(void)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		become_user(USER);
		_exit(shows_addresses());
	}
	return check_wait(pid) >> 8;
}

static void set_sysctl(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0 || close(fd))
		vt_die_errno(2, path);
}

static void kernel_addresses(void)
{
	static const char kptr[] = "/proc/sys/kernel/kptr_restrict";
	int fd;

	CHECK_EQ(shows_addresses(), 1);
	CHECK_EQ(shows_addresses_to_user(), 0);
	set_sysctl(kptr, "1");
	CHECK_EQ(shows_addresses(), 1);
	CHECK_EQ(shows_addresses_to_user(), 0);
	set_sysctl(kptr, "2\n");
	CHECK_EQ(shows_addresses(), 0);
	fd = open(kptr, O_WRONLY);
	CHECK_ERRNO(write(fd, "3", 1), EINVAL);
	CHECK_ERRNO(write(fd, "x", 1), EINVAL);
	CALL(setresuid, -1, USER, -1); /* a descriptor that root opened is no right to loosen it */
	CHECK_ERRNO(write(fd, "0", 1), EPERM);
	CALL(setresuid, -1, 0, -1);
	CHECK_EQ(write(fd, "0", 1), 1);
	CHECK_EQ(shows_addresses(), 1);
}

static void read_log(void)
{
	char text[64];

	become_user(USER);
	CHECK_EQ(errno_of(CALL(syslog, 3, text, sizeof(text))), wanted);
	CHECK_EQ(errno_of(CALL(syslog, 10, 0, 0)), wanted);
	CHECK_EQ(open_errno("/dev/kmsg"), wanted);
}

static void kernel_log(void)
{
	wanted = 0;
	CHECK_EQ(check_in_child(read_log), 0);
	set_sysctl("/proc/sys/kernel/dmesg_restrict", "1");
	wanted = EPERM;
	CHECK_EQ(check_in_child(read_log), 0);
	CHECK_EQ(open_errno("/dev/kmsg"), 0);
	set_sysctl("/proc/sys/kernel/dmesg_restrict", "0");
}

/* RLIMIT_NICE 22 lets a user go to nice -2, RLIMIT_RTPRIO 10 to that priority; neither further. */
static void limits_that_allow(void)
{
	unsigned long nice_limit[2] = {22, 22}, prio_limit[2] = {10, 10};
	int ten = 10, eleven = 11, zero = 0;

	CHECK_CALL(CALL(prlimit64, 0, 13, nice_limit, 0));
	CHECK_CALL(CALL(prlimit64, 0, 14, prio_limit, 0));
	become_user(USER);
	CHECK_CALL(CALL(setpriority, 0, 0, -2));
	CHECK_ERRNO(CALL(setpriority, 0, 0, -3), EACCES);
	CHECK_CALL(CALL(sched_setscheduler, 0, 5, &zero)); /* SCHED_IDLE, and back */
	CHECK_CALL(CALL(sched_setscheduler, 0, 0, &zero));
	CHECK_ERRNO(CALL(sched_setscheduler, 0, 1, &eleven), EPERM);
	CHECK_CALL(CALL(sched_setscheduler, 0, 1, &ten));
	CHECK_CALL(CALL(sched_setscheduler, 0, 2, &ten));
	prio_limit[0] = 0;
	CHECK_CALL(CALL(prlimit64, 0, 14, prio_limit, 0));
	CHECK_ERRNO(CALL(sched_setscheduler, 0, 1, &ten), EPERM); /* another policy */
	ten = 9;
	CHECK_CALL(CALL(sched_setparam, 0, &ten));
	ten = 10;
	CHECK_ERRNO(CALL(sched_setparam, 0, &ten), EPERM);
	CHECK_CALL(CALL(sched_setscheduler, 0, 5, &zero));
	nice_limit[0] = 0;
	CHECK_CALL(CALL(prlimit64, 0, 13, nice_limit, 0));
	CHECK_ERRNO(CALL(sched_setscheduler, 0, 0, &zero), EPERM); /* SCHED_IDLE is less than nice 19 */
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"bits", bits},
		{"conditions", conditions},
		{"scripts", scripts},
		{"lookers", lookers},
		{"opened_before_exec", opened_before_exec},
		{"after_setuid", after_setuid},
		{"lost_bits", lost_bits},
		{"group_of_directory", group_of_directory},
		{"kernel_addresses", kernel_addresses},
		{"kernel_log", kernel_log},
		{"limits_that_allow", limits_that_allow},
	};

	if (!strcmp(argv[0], D "/copy") || !strcmp(argv[0], D "/mnt/copy"))
		return report_self();
	if (argc > 2 && !strcmp(argv[1], "as-user")) {
		become_user(USER);
		execve(argv[2], argv + 2, environ);
		vt_die_errno(127, argv[2]);
	}
	if (argc == 4 && !strcmp(argv[1], "give"))
		return CALL(fchownat, AT_FDCWD, argv[2], atoi(argv[3]), atoi(argv[3]), 0) != 0;
	if (mkdir(D, 0755) || mkdir(D "/mnt", 0755))
		vt_die_errno(2, D);
	close(open(D "/secret", O_CREAT | O_WRONLY, 0600));
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
