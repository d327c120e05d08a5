/*
 * System calls that tell of the system (uname, sysinfo, getcpu, getrandom) or set small things of a task (prctl,
 * personality). Numbers and structures are Linux's. A call that has no meaning here is refused with the errno that an
 * older Linux would give. The names of host and domain are under uts_mutex; what prctl sets belongs to the current
 * task.
 */
#include <asm/elf.h>
#include <asm/uaccess.h>
#include <kernel/cmdline.h>
#include <kernel/random.h>
#include <kernel/smp.h>
#include <kernel/utsname.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/personality.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <sched/timerslack.h>
#include <time/clock.h>

struct getcpu_cache; /* of an argument that no longer has a meaning */

static DEFINE_MUTEX(uts_mutex);
static char nodename[UTS_LEN] = "vitrine";  /* [uts_mutex] */
static char domainname[UTS_LEN] = "(none)"; /* [uts_mutex] */

/*
 * The boot parameter sysname=. Programs that ask uname(2) whether they run on Linux, to whose system calls they are
 * made, are given "Linux" in a root of such programs.
 */
static char sysname[UTS_LEN] = UTS_SYSNAME; /* [immutable after boot] */

static int sysname_setup(const char *value)
{
	if (!*value || strlen(value) >= sizeof(sysname))
		return -EINVAL;
	strscpy(sysname, value, sizeof(sysname));
	return 0;
}
__setup("sysname=", sysname_setup);

/*
 * The names of host and domain may change at any time, so they are copied under the mutex. The other texts never
 * change. Padding is zeroed, because all of it goes to the user.
 */
void get_utsname(struct new_utsname *name)
{
	memset(name, 0, sizeof(*name));
	strscpy(name->sysname, sysname, UTS_LEN);
	strscpy(name->release, UTS_RELEASE, UTS_LEN);
	strscpy(name->version, UTS_VERSION, UTS_LEN);
	strscpy(name->machine, ELF_PLATFORM, UTS_LEN);
	mutex_lock(&uts_mutex);
	strscpy(name->nodename, nodename, UTS_LEN);
	strscpy(name->domainname, domainname, UTS_LEN);
	mutex_unlock(&uts_mutex);
}

/*
 * What the caller's personality(2) makes of the names. With UNAME26 release 6.N becomes 2.6.(60 + N), as on Linux, and
 * keeps what follows the digits.
 */
static void apply_personality(struct new_utsname *names)
{
	char *rest = names->release;
	unsigned minor;

	if ((current->personality & PER_MASK) == PER_LINUX32)
		strscpy(names->machine, COMPAT_UTS_MACHINE, UTS_LEN);
	if (!(current->personality & UNAME26))
		return;
	minor = simple_strtoull(strchr(UTS_RELEASE, '.') + 1, NULL, 10);
	while (isdigit(*rest) || *rest == '.')
		rest++;
	snprintf(names->release, UTS_LEN, "2.6.%u%s", minor + 60, UTS_RELEASE + (rest - names->release));
}

SYSCALL_DEFINE1(newuname, struct new_utsname __user *, name)
{
	struct new_utsname names;

	get_utsname(&names);
	if (unlikely(current->personality))
		apply_personality(&names);
	return copy_to_user(name, &names, sizeof(names)) ? -EFAULT : 0;
}

/*
 * Root only. The new name is read before the mutex is taken, since user memory may fault and sleep, and is padded
 * with zeros, so that nothing of the old one stays. 0, -EPERM, -EINVAL, -EFAULT.
 */
static long set_utsname(char *name, const char __user *uname, int len)
{
	char new[UTS_LEN] = {0};

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (len < 0 || len >= UTS_LEN)
		return -EINVAL;
	if (copy_from_user(new, uname, len))
		return -EFAULT;
	mutex_lock(&uts_mutex);
	memcpy(name, new, UTS_LEN);
	mutex_unlock(&uts_mutex);
	return 0;
}

SYSCALL_DEFINE2(sethostname, char __user *, name, int, len)
{
	return set_utsname(nodename, name, len);
}

SYSCALL_DEFINE2(setdomainname, char __user *, name, int, len)
{
	return set_utsname(domainname, name, len);
}

/* As sysinfo(2) passes it. */
struct sysinfo {
	long uptime;
	unsigned long loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	u16 procs, pad;
	unsigned long totalhigh, freehigh;
	u32 mem_unit;
};
static_assert(sizeof(struct sysinfo) == 112);

/* Fields about swap and high memory, which are not there, are 0. All sizes are in bytes (mem_unit 1). */
SYSCALL_DEFINE1(sysinfo, struct sysinfo __user *, info)
{
	struct sysinfo now = {0};
	u64 loads[3];

	get_avenrun(loads);
	for (int i = 0; i < 3; i++)
		now.loads[i] = loads[i];
	now.uptime = sched_clock() / NSEC_PER_SEC;
	now.totalram = totalram_pages() * PAGE_SIZE;
	now.freeram = nr_free_pages() * PAGE_SIZE;
	now.procs = nr_threads();
	now.mem_unit = 1;
	return copy_to_user(info, &now, sizeof(now)) ? -EFAULT : 0;
}

SYSCALL_DEFINE3(getcpu, unsigned __user *, cpup, unsigned __user *, nodep, struct getcpu_cache __user *, unused)
{
	unsigned here = smp_processor_id(); /* true at some moment of the call, as anybody can say */

	if (cpup && put_user(here, cpup))
		return -EFAULT;
	return nodep ? put_user(0, nodep) : 0;
}

#define GRND_NONBLOCK 1u
#define GRND_RANDOM   2u
#define GRND_INSECURE 4u

/*
 * Random bytes are there from the beginning, so no flag makes a difference. A long read stops at a signal and says how
 * much it has, as Linux does from 256 bytes on.
 */
SYSCALL_DEFINE3(getrandom, char __user *, ubuf, size_t, len, unsigned int, flags)
{
	size_t done = 0;
	u8 chunk[256];

	if ((flags & ~(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE)) ||
	    (flags & (GRND_RANDOM | GRND_INSECURE)) == (GRND_RANDOM | GRND_INSECURE))
		return -EINVAL;
	len = min(len, (size_t)INT_MAX);
	while (done < len) {
		size_t n = min(len - done, sizeof(chunk));

		get_random_bytes(chunk, n);
		if (copy_to_user(ubuf + done, chunk, n))
			return done ? (long)done : -EFAULT;
		done += n;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	return done;
}

/*
 * Any bits are taken, as on Linux, and stay over fork and exec; <proc/personality.h> says which have an effect. Returns
 * those before.
 */
long ksys_personality(unsigned persona)
{
	unsigned old = current->personality;

	if (persona != PER_QUERY)
		current->personality = persona;
	return old;
}

SYSCALL_DEFINE1(personality, unsigned int, personality)
{
	return ksys_personality(personality);
}

#define PR_SET_PDEATHSIG       1
#define PR_GET_PDEATHSIG       2
#define PR_GET_DUMPABLE	       3
#define PR_SET_DUMPABLE	       4
#define PR_SET_NAME	       15
#define PR_GET_NAME	       16
#define PR_SET_TIMERSLACK      29
#define PR_GET_TIMERSLACK      30
#define PR_SET_CHILD_SUBREAPER 36
#define PR_GET_CHILD_SUBREAPER 37
#define PR_SET_NO_NEW_PRIVS    38
#define PR_GET_NO_NEW_PRIVS    39

/* PR_SET_NAME: 15 bytes and a zero, the rest is cut off as on Linux. 0 or -EFAULT. */
static long set_comm_from_user(const char __user *uname)
{
	char name[TASK_COMM_LEN];
	long n = strncpy_from_user(name, uname, sizeof(name) - 1);

	if (n < 0)
		return n;
	name[n] = '\0';
	set_task_comm(current, name);
	return 0;
}

/*
 * Each option is Linux's. What belongs to the memory (dumpable) is a word that others read without a lock; what
 * belongs to the task is written by that task alone. no_new_privs can never be cleared.
 */
SYSCALL_DEFINE5(prctl, int, option, unsigned long, arg2, unsigned long, arg3, unsigned long, arg4, unsigned long, arg5)
{
	switch (option) {
	case PR_SET_PDEATHSIG:
		if (arg2 > NSIG)
			return -EINVAL;
		current->pdeath_signal = arg2;
		return 0;
	case PR_GET_PDEATHSIG:
		return put_user(current->pdeath_signal, (int __user *)arg2);
	case PR_GET_DUMPABLE: /* there are no core files: it says who may look into the process */
		return READ_ONCE(current->mm->dumpable);
	case PR_SET_DUMPABLE:
		if (arg2 != SUID_DUMP_DISABLE && arg2 != SUID_DUMP_USER)
			return -EINVAL;
		WRITE_ONCE(current->mm->dumpable, arg2);
		return 0;
	case PR_SET_CHILD_SUBREAPER:
		WRITE_ONCE(current->signal->child_subreaper, !!arg2);
		return 0;
	case PR_GET_CHILD_SUBREAPER:
		return put_user(READ_ONCE(current->signal->child_subreaper), (int __user *)arg2);
	case PR_SET_NO_NEW_PRIVS:
		if (arg2 != 1 || arg3 || arg4 || arg5)
			return -EINVAL;
		current->no_new_privs = true;
		return 0;
	case PR_GET_NO_NEW_PRIVS:
		return arg2 || arg3 || arg4 || arg5 ? -EINVAL : current->no_new_privs;
	case PR_SET_TIMERSLACK:
		set_timer_slack(current, arg2);
		return 0;
	case PR_GET_TIMERSLACK:
		return READ_ONCE(current->timer_slack_ns);
	case PR_SET_NAME:
		return set_comm_from_user((const char __user *)arg2);
	case PR_GET_NAME:
		return copy_to_user((void __user *)arg2, current->comm, TASK_COMM_LEN) ? -EFAULT : 0;
	}
	return prctl_caps(option, arg2, arg3, arg4, arg5);
}
