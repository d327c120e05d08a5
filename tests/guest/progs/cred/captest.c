/* captest: capabilities: the sets of a task, what setuid and exec make of them, and that each right is asked for. */
/* also on Linux */
#include <posix.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP };
enum {
	SYS_MODULE_ = 16,
	SYS_CHROOT_ = 18,
	PTRACE_ = 19,
	ADMIN = 21,
	BOOT,
	NICE,
	RESOURCE,
	TIME,
	MKNOD = 27,
	LAST = 40
};
enum { GET_KEEP = 7, SET_KEEP, BSET_READ = 23, BSET_DROP, GET_BITS = 27, SET_BITS, NO_NEW_PRIVS = 38, AMBIENT = 47 };
enum { IS_SET = 1, RAISE, LOWER, CLEAR_ALL };
#define V1     0x19980330u
#define V3     0x20080522u
#define BIT(n) (1UL << (n))
#define USER   1000

struct sets {
	unsigned long effective, permitted, inheritable;
};
static struct header {
	unsigned version;
	int pid;
} header;
static struct words {
	unsigned effective, permitted, inheritable;
} words[2];

static long get(unsigned version, int pid)
{
	header = (struct header){version, pid};
	return check_syscall(SYS_capget, (long)&header, (long)words, 0, 0, 0, 0);
}

static struct sets sets_of(int pid)
{
	CHECK_EQ(get(V3, pid), 0);
	return (struct sets){words[0].effective | (unsigned long)words[1].effective << 32,
			     words[0].permitted | (unsigned long)words[1].permitted << 32,
			     words[0].inheritable | (unsigned long)words[1].inheritable << 32};
}

static long set(struct sets s)
{
	header = (struct header){V3, 0};
	words[0] = (struct words){(unsigned)s.effective, (unsigned)s.permitted, (unsigned)s.inheritable};
	words[1] = (struct words){(unsigned)(s.effective >> 32), (unsigned)(s.permitted >> 32),
				  (unsigned)(s.inheritable >> 32)};
	return check_syscall(SYS_capset, (long)&header, (long)words, 0, 0, 0, 0);
}

static long ctl(long option, long a, long b)
{
	return check_syscall(SYS_prctl, option, a, b, 0, 0, 0);
}

static long set_ids(int r, int e, int s)
{
	return check_syscall(SYS_setresuid, r, e, s, 0, 0, 0);
}

/* A line of /proc/self/status. */
static unsigned long status_of(const char *name)
{
	char *text = vt_read_file("/proc/self/status", NULL), *at = text ? strstr(text, name) : NULL;
	unsigned long value = at ? strtoul(at + strlen(name), NULL, 16) : ~0UL;

	free(text);
	return value;
}

/*
 * Whoever is not root sees only what everybody sees. A container's root may lack rights that these cases can do
 * without.
 */
static bool all_rights(void)
{
	struct sets s = sets_of(0);

	unsigned long wanted = 0x1ff | BIT(TIME) | BIT(MKNOD) | BIT(LAST);

	return !geteuid() && !s.inheritable && s.effective == s.permitted && status_of("CapBnd:") == s.effective &&
	       (s.effective & wanted) == wanted;
}

static void versions(void)
{
	struct sets s = sets_of(0);

	CHECK_ERRNO(get(0, 0), EINVAL);
	CHECK_EQ(header.version, V3);
	header.version = 7;
	CHECK_EQ(check_syscall(SYS_capget, (long)&header, 0, 0, 0, 0, 0), 0);
	CHECK_EQ(header.version, V3);
	CHECK_EQ(check_syscall(SYS_capget, (long)&header, 0, 0, 0, 0, 0), 0);
	CHECK_ERRNO(check_syscall(SYS_capget, 8, (long)words, 0, 0, 0, 0), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_capget, (long)&header, 8, 0, 0, 0, 0), EFAULT);
	CHECK_ERRNO(get(V3, -1), EINVAL);
	CHECK_ERRNO(get(V3, 0x3fffffff), ESRCH);
	words[1] = (struct words){77, 77, 77};
	CHECK_EQ(get(V1, getpid()), 0);
	CHECK_EQ(words[0].effective, (unsigned)s.effective);
	CHECK_EQ(words[1].effective, 77); /* one word a set */
	CHECK_EQ(status_of("CapEff:"), s.effective);
	CHECK_EQ(status_of("CapPrm:"), s.permitted);
	CHECK_EQ(status_of("CapInh:"), s.inheritable);
	header = (struct header){V3, 1};
	CHECK_ERRNO(check_syscall(SYS_capset, (long)&header, (long)words, 0, 0, 0, 0), EPERM);
	header.version = 0;
	CHECK_ERRNO(check_syscall(SYS_capset, (long)&header, (long)words, 0, 0, 0, 0), EINVAL);
	header = (struct header){V3, 0};
	CHECK_ERRNO(check_syscall(SYS_capset, (long)&header, 8, 0, 0, 0, 0), EFAULT);
}

static void may_be_set(void)
{
	struct sets s = sets_of(0), less = s;

	if (!all_rights())
		return;
	less.effective &= ~BIT(KILL);
	CHECK_EQ(set(less), 0);
	CHECK_EQ(sets_of(0).effective, less.effective);
	CHECK_EQ(set(s), 0); /* it is permitted still */
	less.permitted &= ~BIT(KILL);
	less.inheritable = BIT(KILL); /* which was permitted, and is no more */
	CHECK_EQ(set(less), 0);
	CHECK_EQ(sets_of(0).inheritable, BIT(KILL));
	CHECK_ERRNO(set(s), EPERM);
	less.effective |= BIT(KILL);
	CHECK_ERRNO(set(less), EPERM);
	less.effective = less.permitted &= ~BIT(SETPCAP);
	less.inheritable = 0;
	CHECK_EQ(set(less), 0);
	less.inheritable = BIT(KILL); /* neither permitted nor inheritable, and no CAP_SETPCAP */
	CHECK_ERRNO(set(less), EPERM);
	CHECK_ERRNO(ctl(BSET_DROP, TIME, 0), EPERM);
	CHECK_ERRNO(ctl(SET_BITS, 0, 0), EPERM);
	CHECK_ERRNO(ctl(BSET_READ, LAST + 30, 0), EINVAL);
	CHECK_EQ(ctl(BSET_READ, TIME, 0), 1);
}

static void user_ids(void)
{
	struct sets s = sets_of(0);

	if (!all_rights())
		return;
	CHECK_EQ(set_ids(-1, USER, -1), 0);
	CHECK_EQ(sets_of(0).effective, 0);
	CHECK_EQ(sets_of(0).permitted, s.permitted);
	CHECK_EQ(set_ids(-1, 0, -1), 0);
	CHECK_EQ(sets_of(0).effective, s.permitted);
	check_syscall(SYS_setfsuid, USER, 0, 0, 0, 0, 0);
	CHECK_EQ(sets_of(0).effective & (BIT(CHOWN) | BIT(DAC_OVERRIDE) | BIT(MKNOD) | BIT(KILL)), BIT(KILL));
	check_syscall(SYS_setfsuid, 0, 0, 0, 0, 0, 0);
	CHECK_EQ(sets_of(0).effective, s.effective);
	CHECK_EQ(ctl(GET_KEEP, 0, 0), 0);
	CHECK_ERRNO(ctl(SET_KEEP, 2, 0), EINVAL);
	CHECK_EQ(ctl(SET_KEEP, 1, 0), 0);
	CHECK_EQ(ctl(GET_KEEP, 0, 0), 1);
	CHECK_EQ(ctl(GET_BITS, 0, 0), 16);
	CHECK_EQ(set_ids(USER, USER, USER), 0);
	CHECK_EQ(sets_of(0).effective, 0);
	CHECK_EQ(sets_of(0).permitted, s.permitted);
	CHECK_EQ(set((struct sets){BIT(SETUID), BIT(SETUID), 0}), 0);
	CHECK_EQ(set_ids(0, 0, 0), 0);
	CHECK_EQ(sets_of(0).effective, BIT(SETUID));
	CHECK_EQ(ctl(SET_KEEP, 0, 0), 0);
	CHECK_EQ(set_ids(USER, USER, USER), 0);
	CHECK_EQ(sets_of(0).permitted, 0);
	CHECK_ERRNO(set_ids(0, 0, 0), EPERM);
}

static const char *self;

/* Run this program again: its sets, as it finds them, in *eff and *prm. */
static void executed(unsigned long *eff, unsigned long *prm)
{
	unsigned long told[2] = {~0UL, ~0UL};
	int ends[2];
	char number[12];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	snprintf(number, sizeof(number), "%d", ends[1]);
	pid = check_fork();
	if (pid == 0) {
		execve(self, (char *[]){"captest", "tell", number, NULL}, (char *[]){NULL});
		_exit(3);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(read(ends[0], told, sizeof(told)), sizeof(told));
	close(ends[0]);
	close(ends[1]);
	*eff = told[0];
	*prm = told[1];
}

static void exec_of_root(void)
{
	struct sets s = sets_of(0);
	unsigned long eff, prm;

	if (!all_rights())
		return;
	CHECK_EQ(ctl(BSET_DROP, TIME, 0), 0);
	CHECK_EQ(ctl(BSET_READ, TIME, 0), 0);
	CHECK_EQ(sets_of(0).effective, s.effective); /* only exec looks at it */
	CHECK_EQ(set((struct sets){BIT(KILL), BIT(KILL), 0}), 0);
	executed(&eff, &prm);
	CHECK_EQ(eff, s.effective & ~BIT(TIME));
	CHECK_EQ(prm, s.permitted & ~BIT(TIME));
	CHECK_EQ(ctl(NO_NEW_PRIVS, 1, 0), 0);
	executed(&eff, &prm);
	CHECK_EQ(eff, BIT(KILL));
	CHECK_EQ(prm, BIT(KILL));
}

static void securebits(void)
{
	unsigned long eff, prm;

	if (!all_rights())
		return;
	CHECK_ERRNO(ctl(SET_BITS, 0x10000, 0), EPERM);
	CHECK_EQ(ctl(SET_BITS, 3, 0), 0); /* root is nobody special, for good */
	executed(&eff, &prm);
	CHECK_EQ(eff | prm, 0);
	CHECK_ERRNO(ctl(SET_BITS, 2, 0), EPERM);
	CHECK_ERRNO(ctl(SET_BITS, 1, 0), EPERM);
	CHECK_EQ(ctl(SET_BITS, 3 | 4, 0), 0); /* the sets stay with user 0 and without */
	CHECK_EQ(set_ids(USER, USER, USER), 0);
	CHECK(sets_of(0).effective & BIT(KILL));
}

/* The copy of this program that make_set_uid_file() makes. On a Linux there may be several runs at a time. */
static char set_uid_file[40];

/* A copy of this program that begins as another user, also without the rights of root. */
static const char *make_set_uid_file(void)
{
	const char *name = set_uid_file;
	size_t size;
	char *text = vt_read_file(self, &size);
	int fd = (int)CHECK_CALL(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700));

	CHECK_EQ(write(fd, text, size), (long)size);
	CHECK_CALL(check_syscall(SYS_fchownat, AT_FDCWD, (long)name, USER + 1, USER + 1, 0, 0));
	CHECK_CALL(chmod(name, 04755));
	close(fd);
	free(text);
	return name;
}

static void ambient(void)
{
	const char *others;
	unsigned long eff, prm;

	CHECK_ERRNO(ctl(AMBIENT, RAISE, LAST + 30), EINVAL);
	CHECK_ERRNO(ctl(AMBIENT, 5, KILL), EINVAL);
	CHECK_ERRNO(ctl(AMBIENT, CLEAR_ALL, 1), EINVAL);
	if (!all_rights())
		return;
	others = make_set_uid_file();
	CHECK_ERRNO(ctl(AMBIENT, RAISE, KILL), EPERM); /* not inheritable */
	CHECK_EQ(ctl(SET_KEEP, 1, 0), 0);
	CHECK_EQ(set_ids(USER, USER, USER), 0);
	CHECK_EQ(set((struct sets){BIT(KILL), BIT(KILL) | BIT(CHOWN), BIT(KILL) | BIT(CHOWN)}), 0);
	executed(&eff, &prm);
	CHECK_EQ(eff | prm, 0);
	CHECK_EQ(ctl(AMBIENT, RAISE, KILL), 0);
	CHECK_EQ(ctl(AMBIENT, RAISE, CHOWN), 0);
	CHECK_EQ(ctl(AMBIENT, LOWER, CHOWN), 0);
	CHECK_EQ(ctl(AMBIENT, IS_SET, KILL), 1);
	CHECK_EQ(ctl(AMBIENT, IS_SET, CHOWN), 0);
	CHECK_EQ(status_of("CapAmb:"), BIT(KILL));
	executed(&eff, &prm);
	CHECK_EQ(eff, BIT(KILL));
	CHECK_EQ(prm, BIT(KILL));
	self = others; /* with another user's rights, no ambient ones are left */
	executed(&eff, &prm);
	CHECK_EQ(eff | prm, 0);
	CHECK_EQ(set((struct sets){BIT(KILL), BIT(KILL), 0}), 0); /* what is not inheritable is not ambient */
	CHECK_EQ(ctl(AMBIENT, IS_SET, KILL), 0);
}

/* --- each right is asked for --- */

static pid_t target; /* of USER, with other rights than ours */
static const char file[] = "captest-file", closed[] = "captest-closed";

static long open_closed(void)
{
	return open(closed, O_RDONLY);
}

static long write_closed(void)
{
	return open(closed, O_WRONLY);
}

static long own_file(void)
{
	return check_syscall(SYS_fchownat, AT_FDCWD, (long)file, 5, 5, 0, 0);
}

static long mode_of_closed(void)
{
	return chmod(closed, 0600);
}

static long kills(void)
{
	return kill(target, 0);
}

static long groups(void)
{
	return check_syscall(SYS_setgroups, 0, 0, 0, 0, 0, 0);
}

static long other_user(void)
{
	return check_syscall(SYS_setresuid, 78, -1, -1, 0, 0, 0);
}

static long roots(void)
{
	return check_syscall(SYS_chroot, (long)"/", 0, 0, 0, 0, 0);
}

/* One better than now. The system call tells nice values as 20 less the value. */
static long nicer(void)
{
	long nice = 20 - check_syscall(SYS_getpriority, 0, 0, 0, 0, 0, 0);

	return check_syscall(SYS_setpriority, 0, 0, nice - 1, 0, 0, 0);
}

static long raises(void)
{
	struct rlimit limit = {1, 2};

	if (setrlimit(RLIMIT_CORE, &limit))
		return 0;
	limit.rlim_max = 3;
	return setrlimit(RLIMIT_CORE, &limit);
}

static long debugs(void)
{
	long ret = check_syscall(SYS_ptrace, 16, target, 0, 0, 0, 0);

	if (!ret)
		check_wait(target);
	return ret;
}

/* With the right the call says what else is wrong. */
#ifndef __linux__
static long unloads(void)
{
	return check_syscall(SYS_delete_module, (long)"no-such-module", 0, 0, 0, 0, 0) && errno == EPERM ? -1 : 0;
}
#endif

static long boots(void)
{
	return check_syscall(SYS_reboot, 0, 0, 0, 0, 0, 0) && errno == EPERM ? -1 : 0;
}

static long sets_clock(void)
{
	int bad_zone[2] = {100000, 0};

	return check_syscall(SYS_settimeofday, 0, (long)bad_zone, 0, 0, 0, 0) && errno == EPERM ? -1 : 0;
}

static long mounts(void)
{
	return check_syscall(SYS_mount, (long)"none", (long)"/", (long)"no-such-type", 0, 0, 0) && errno == EPERM ? -1
														  : 0;
}

static const struct right {
	const char *name;
	int cap, errno_without;
	long (*f)(void);
} rights[] = {
	{"CAP_DAC_OVERRIDE", DAC_OVERRIDE, EACCES, write_closed},
	{"CAP_DAC_READ_SEARCH", DAC_READ_SEARCH, EACCES, open_closed},
	{"CAP_CHOWN", CHOWN, EPERM, own_file},
	{"CAP_FOWNER", FOWNER, EPERM, mode_of_closed},
	{"CAP_KILL", KILL, EPERM, kills},
	{"CAP_SETGID", SETGID, EPERM, groups},
	{"CAP_SETUID", SETUID, EPERM, other_user},
	{"CAP_SYS_CHROOT", SYS_CHROOT_, EPERM, roots},
	{"CAP_SYS_NICE", NICE, EACCES, nicer},
	{"CAP_SYS_RESOURCE", RESOURCE, EPERM, raises},
	{"CAP_SYS_PTRACE", PTRACE_, EPERM, debugs},
#ifndef __linux__ /* which may be built without modules */
	{"CAP_SYS_MODULE", SYS_MODULE_, EPERM, unloads},
#endif
	{"CAP_SYS_BOOT", BOOT, EPERM, boots},
	{"CAP_SYS_TIME", TIME, EPERM, sets_clock},
	{"CAP_SYS_ADMIN", ADMIN, EPERM, mounts},
};
static const struct right *now;
static bool has_it, is_user;

/* As root with all rights but this one, or as another user with this one alone. */
static void one_right(void)
{
	struct sets s = sets_of(0);

	errno = 0;
	if (is_user) {
		CHECK_EQ(ctl(SET_KEEP, 1, 0), 0);
		CHECK_EQ(set_ids(77, 77, 77), 0);
		s.effective = has_it ? BIT(now->cap) : 0;
	} else if (!has_it) {
		s.effective &= ~BIT(now->cap);
		if (now->cap == DAC_READ_SEARCH)
			s.effective &= ~BIT(DAC_OVERRIDE);
	}
	CHECK_EQ(set((struct sets){s.effective, s.effective, 0}), 0);
	if (has_it)
		CHECK_CALL(now->f());
	else
		CHECK_ERRNO(now->f(), now->errno_without);
}

static void make_files(void)
{
	close(open(file, O_RDWR | O_CREAT, 0644));
	close(open(closed, O_RDWR | O_CREAT, 0000));
	CHECK_CALL(check_syscall(SYS_fchownat, AT_FDCWD, (long)file, USER, USER, 0, 0));
	CHECK_CALL(check_syscall(SYS_fchownat, AT_FDCWD, (long)closed, USER, USER, 0, 0));
}

static pid_t start_target(void)
{
	int ends[2];
	pid_t pid;

	CHECK_CALL(pipe(ends));
	pid = check_fork();
	if (pid == 0) {
		CHECK_CALL(check_syscall(SYS_setresgid, USER, USER, USER, 0, 0, 0));
		CHECK_CALL(set_ids(USER, USER, USER));
		check_give(ends[1], 1);
		for (;;)
			pause();
	}
	check_take(ends[0]);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void each_right(void)
{
	if (!all_rights())
		return;
	CHECK_CALL(chmod(".", 0755));
	for (size_t i = 0; i < ARRAY_SIZE(rights) * 4; i++) {
		int before = check_failures, status;

		now = &rights[i / 4];
		if (!(sets_of(0).permitted & BIT(now->cap)))
			continue;
		has_it = i & 1;
		is_user = i & 2;
		make_files();
		target = start_target();
		status = check_in_child(one_right);
		kill(target, SIGKILL);
		check_wait(target);
		if (!CHECK_EQ(status, 0) || check_failures != before)
			printf("  %s, %s, as %s\n", now->name, has_it ? "with it" : "without",
			       is_user ? "user" : "root");
	}
	CHECK_CALL(unlink(file));
	CHECK_CALL(unlink(closed));
}

/* Another task's, while that one changes them: always a set that it has had. */
static void anothers(void)
{
	pid_t pid = all_rights() ? check_fork() : -1;
	unsigned long full = sets_of(0).effective;

	if (pid < 0)
		return;
	if (pid == 0)
		for (struct sets s = sets_of(0);; s.effective ^= BIT(KILL) | BIT(LAST))
			set(s);
	for (int i = 0; i < 20000; i++) {
		unsigned long off = ~sets_of(pid).effective & full;

		if (off && !CHECK_EQ(off, BIT(KILL) | BIT(LAST)))
			break;
	}
	kill(pid, SIGKILL);
	check_wait(pid);
}

static const struct check_case cases[] = {
	{"versions", versions},		{"may_be_set", may_be_set}, {"user_ids", user_ids},	{"ambient", ambient},
	{"exec_of_root", exec_of_root}, {"securebits", securebits}, {"each_right", each_right}, {"anothers", anothers},
};

int main(int argc, char **argv)
{
	int status;

	if (argc == 3 && !strcmp(argv[1], "tell")) {
		struct sets s = sets_of(0);
		unsigned long told[2] = {s.effective, s.permitted};

		return write(atoi(argv[2]), told, sizeof(told)) != sizeof(told);
	}
	self = "/proc/self/exe";
	check_seconds = 60;
	snprintf(set_uid_file, sizeof(set_uid_file), "/tmp/captest.%d", getpid());
	status = check_main(argc, argv, cases, ARRAY_SIZE(cases));
	unlink(set_uid_file);
	return status;
}
