/* permtest: calls that name another task, raise a right of the caller or change the machine, and who may make them. */
#include <rows/permrows.h>
#include <signal.h>
#include <sys/stat.h>

#define D "/tmp/permtest"

static pid_t victim; /* root's, asleep */

/* --- calls that name another task --- */

static long do_kill(void)
{
	return CALL(kill, victim, 0);
}

static long do_tkill(void)
{
	return CALL(tkill, victim, SIGURG);
}

static long do_tgkill(void)
{
	return CALL(tgkill, victim, victim, SIGURG);
}

static long do_sigqueue(void)
{
	int info[32] = {0, 0, -1}; /* si_code: by sigqueue() */

	return CALL(rt_sigqueueinfo, victim, SIGURG, info);
}

static long do_tgsigqueue(void)
{
	int info[32] = {0, 0, -1};

	return CALL(rt_tgsigqueueinfo, victim, victim, SIGURG, info);
}

static long do_setscheduler_of(void)
{
	int priority = 0;

	return CALL(sched_setscheduler, victim, 3, &priority);
}

static long do_setparam_of(void)
{
	int priority = 0;

	return CALL(sched_setparam, victim, &priority);
}

static long do_setaffinity_of(void)
{
	unsigned long all = ~0UL;

	return CALL(sched_setaffinity, victim, sizeof(all), &all);
}

static long do_setpriority_of(void)
{
	return CALL(setpriority, 0, victim, 5);
}

static long do_prlimit_get(void)
{
	struct pair old;

	return CALL(prlimit64, victim, 7, 0, &old);
}

static long do_prlimit_set(void)
{
	struct pair limit = {1024, 1024};

	return CALL(prlimit64, victim, 7, &limit, 0);
}

static long do_setpgid_of(void)
{
	return CALL(setpgid, victim, 0);
}

static long do_waitid_of(void)
{
	return CALL(waitid, 1, victim, 0, 4 /* WEXITED */, 0);
}

static long do_getsid_of(void)
{
	return CALL(getsid, victim);
}

static long do_getaffinity_of(void)
{
	unsigned long mask[16];

	return CALL(sched_getaffinity, victim, sizeof(mask), mask);
}

/* --- rights of the caller --- */

static long do_fifo(void)
{
	int priority = 1;

	return CALL(sched_setscheduler, 0, 1, &priority);
}

static long do_deadline(void)
{
	struct {
		unsigned size, policy;
		unsigned long flags;
		int nice;
		unsigned priority;
		unsigned long runtime, deadline, period;
	} attr = {48, 6, 0, 0, 0, 1000000, 100000000, 100000000};

	return CALL(sched_setattr, 0, &attr, 0);
}

static long do_nice_up(void)
{
	return CALL(setpriority, 0, 0, -5);
}

static long do_nice_down(void)
{
	return CALL(setpriority, 0, 0, 5);
}

/* RLIMIT_CORE: lowered by the caller, then raised again. */
static long do_setrlimit_raise(void)
{
	struct pair low = {100, 100}, high = {100, 101};

	return CALL(setrlimit, 4, &low) ? -1 : CALL(setrlimit, 4, &high);
}

static long do_prlimit_raise(void)
{
	struct pair low = {100, 100}, high = {100, 101};

	return CALL(setrlimit, 4, &low) ? -1 : CALL(prlimit64, 0, 4, &high, 0);
}

static long do_setrlimit_soft(void)
{
	struct pair low = {50, 100}, high = {100, 100};

	return CALL(setrlimit, 4, &low) ? -1 : CALL(setrlimit, 4, &high);
}

static long do_setuid(void)
{
	return CALL(setuid, 0);
}

static long do_setgid(void)
{
	return CALL(setgid, 0);
}

static long do_setreuid(void)
{
	return CALL(setreuid, -1, 0);
}

static long do_setregid(void)
{
	return CALL(setregid, 0, -1);
}

static long do_setresuid(void)
{
	return CALL(setresuid, -1, -1, 0);
}

static long do_setresgid(void)
{
	return CALL(setresgid, -1, 0, -1);
}

static long do_setgroups(void)
{
	unsigned gid = 0;

	return CALL(setgroups, 1, &gid);
}

/* It has no error: what it asks for is there afterwards, or not. */
static long do_setfsuid(void)
{
	CALL(setfsuid, 77);
	errno = EPERM;
	return CALL(setfsuid, -1) == 77 ? 0 : -1;
}

static long do_setfsgid(void)
{
	CALL(setfsgid, 77);
	errno = EPERM;
	return CALL(setfsgid, -1) == 77 ? 0 : -1;
}

/* --- the machine --- */

static long do_chroot(void)
{
	return CALL(chroot, "/tmp");
}

static long do_mount(void)
{
	return CALL(mount, "none", D "/mnt", "tmpfs", 0, 0) ? -1 : CALL(umount, D "/mnt", 0);
}

static long do_remount(void)
{
	return CALL(mount, "none", D "/mounted", 0, 32 /* MS_REMOUNT */, 0);
}

static long do_init_module(void)
{
	return CALL(init_module, "no module", 64, "");
}

static long do_finit_module(void)
{
	return CALL(finit_module, -1, "", 0);
}

static long do_delete_module(void)
{
	return CALL(delete_module, "nothing", 0);
}

static long do_umount(void)
{
	return CALL(umount, D "/mounted", 0) ? -1 : CALL(mount, "none", D "/mounted", "tmpfs", 0, 0);
}

/* What ctrl-alt-del does: the one command that leaves the machine running. */
static long do_reboot(void)
{
	return CALL(reboot, 0xfee1dead, 672274793, 0, 0);
}

/* The second number is none of Linux's four. */
static long do_reboot_by_mistake(void)
{
	return CALL(reboot, 0xfee1dead, 672274794, 0, 0);
}

static long do_sethostname(void)
{
	return CALL(sethostname, "vitrine", 7);
}

static long do_setdomainname(void)
{
	return CALL(setdomainname, "(none)", 6);
}

static long do_settimeofday(void)
{
	struct pair now;

	return CALL(gettimeofday, &now, 0) ? -1 : CALL(settimeofday, &now, 0);
}

static long do_clock_settime(void)
{
	struct pair now;

	return CALL(clock_gettime, 0, &now) ? -1 : CALL(clock_settime, 0, &now);
}

static long do_syslog_unread(void)
{
	return CALL(syslog, 9, 0, 0);
}

static long do_syslog_level(void)
{
	return CALL(syslog, 7, 0, 0); /* CONSOLE_ON: as it was */
}

static long do_syslog_all(void)
{
	char text[128];

	return CALL(syslog, 3, text, sizeof(text));
}

static const struct perm_row rows[] = {
	{"kill", do_kill, EPERM, 0},
	{"tkill", do_tkill, EPERM, 0},
	{"tgkill", do_tgkill, EPERM, 0},
	{"rt_sigqueueinfo", do_sigqueue, EPERM, 0},
	{"rt_tgsigqueueinfo", do_tgsigqueue, EPERM, 0},
	{"sched_setscheduler of another", do_setscheduler_of, EPERM, 0},
	{"sched_setparam of another", do_setparam_of, EPERM, 0},
	{"sched_setaffinity of another", do_setaffinity_of, EPERM, 0},
	{"setpriority of another", do_setpriority_of, EPERM, 0},
	{"prlimit64 reading another's", do_prlimit_get, EPERM, 0},
	{"prlimit64 setting another's", do_prlimit_set, EPERM, 0},
	{"setpgid of no child", do_setpgid_of, ESRCH, ESRCH},
	{"waitid for no child", do_waitid_of, ECHILD, ECHILD},
	{"getsid", do_getsid_of, 0, 0},
	{"sched_getaffinity", do_getaffinity_of, 0, 0},
	{"sched_setscheduler SCHED_FIFO", do_fifo, EPERM, 0},
	{"sched_setattr SCHED_DEADLINE", do_deadline, EPERM, 0},
	{"setpriority up", do_nice_up, EACCES, 0},
	{"setpriority down", do_nice_down, 0, 0},
	{"setrlimit hard limit up", do_setrlimit_raise, EPERM, 0},
	{"prlimit64 hard limit up", do_prlimit_raise, EPERM, 0},
	{"setrlimit soft limit up", do_setrlimit_soft, 0, 0},
	{"setuid", do_setuid, EPERM, 0},
	{"setgid", do_setgid, EPERM, 0},
	{"setreuid", do_setreuid, EPERM, 0},
	{"setregid", do_setregid, EPERM, 0},
	{"setresuid", do_setresuid, EPERM, 0},
	{"setresgid", do_setresgid, EPERM, 0},
	{"setgroups", do_setgroups, EPERM, 0},
	{"setfsuid", do_setfsuid, EPERM, 0},
	{"setfsgid", do_setfsgid, EPERM, 0},
	{"chroot", do_chroot, EPERM, 0},
	{"mount", do_mount, EPERM, 0},
	{"mount MS_REMOUNT", do_remount, EPERM, 0},
	{"umount", do_umount, EPERM, 0},
	{"init_module", do_init_module, EPERM, ENOEXEC},
	{"finit_module", do_finit_module, EPERM, EBADF},
	{"delete_module", do_delete_module, EPERM, ENOENT},
	{"reboot", do_reboot, EPERM, 0},
	{"reboot by mistake", do_reboot_by_mistake, EPERM, EINVAL},
	{"sethostname", do_sethostname, EPERM, 0},
	{"setdomainname", do_setdomainname, EPERM, 0},
	{"settimeofday", do_settimeofday, EPERM, 0},
	{"clock_settime", do_clock_settime, EPERM, 0},
	{"syslog SIZE_UNREAD", do_syslog_unread, EPERM, 0},
	{"syslog CONSOLE_ON", do_syslog_level, EPERM, 0},
	{"syslog READ_ALL", do_syslog_all, 0, 0},
};

int main(void)
{
	int status;

	if (mkdir(D, 0755) || mkdir(D "/mnt", 0755) || mkdir(D "/mounted", 0755) ||
	    CALL(mount, "none", D "/mounted", "tmpfs", 0, 0))
		vt_die_errno(2, D);
	victim = check_fork();
	if (victim == 0)
		for (;;)
			check_sleep(1000000000);
	status = perm_main(rows, ARRAY_SIZE(rows));
	kill(victim, SIGKILL);
	return status;
}
