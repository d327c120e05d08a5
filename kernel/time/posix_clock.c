/*
 * System calls that read and set clocks.
 *
 * There is one counter, which all CPUs share, and one difference between it and the wall clock. So clocks of Linux that
 * differ by how they are slewed or whether they count a suspended machine are the same here. A program's times come in
 * three shapes (timespec, timeval, clock_t), and all arithmetic is in nanoseconds of 64 bits; what is too large
 * saturates in ktime_set().
 */
#include <asm/uaccess.h>
#include <proc/capability.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/sched.h>
#include <sched/spinlock.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <time/posix.h>

typedef s64 __kernel_old_time_t;

/*
 * Read a program's time as ns. 0 with *ns set; -EFAULT; -EINVAL when it is not a time. A time beyond 292 years
 * saturates, which means for ever.
 */
int get_timespec_ns(const struct timespec __user *uts, u64 *ns)
{
	struct timespec ts;

	if (copy_from_user(&ts, uts, sizeof(ts)))
		return -EFAULT;
	if (ts.tv_sec < 0 || ts.tv_nsec < 0 || ts.tv_nsec >= NSEC_PER_SEC)
		return -EINVAL;
	*ns = ktime_set(ts.tv_sec, ts.tv_nsec);
	return 0;
}

/* The same for a timeval that was copied already. 0 or -EINVAL. */
int get_timeval_ns(const struct timeval *tv, u64 *ns)
{
	if (tv->tv_sec < 0 || tv->tv_usec < 0 || tv->tv_usec >= NSEC_PER_SEC / NSEC_PER_USEC)
		return -EINVAL;
	*ns = ktime_set(tv->tv_sec, tv->tv_usec * NSEC_PER_USEC);
	return 0;
}

int put_timespec_ns(struct timespec __user *uts, u64 ns)
{
	struct timespec ts = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	return copy_to_user(uts, &ts, sizeof(ts)) ? -EFAULT : 0;
}

struct timeval ns_to_timeval(u64 ns)
{
	return (struct timeval){ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / NSEC_PER_USEC};
}

/*
 * Clocks of CPU time. The numbers below 0 name a task's (clock_getcpuclockid(3)): the number of the task, inverted,
 * stands above three bits. One says whether it is the thread alone or its whole process, two say what is counted.
 */
#define CPUCLOCK_PROF	   0 /* user and system time, as they are shown */
#define CPUCLOCK_VIRT	   1 /* user time */
#define CPUCLOCK_SCHED	   2 /* the exact sum */
#define CPUCLOCK_WHICH	   3
#define CPUCLOCK_PERTHREAD 4

/* The two with a number of their own are those of current. */
static int cpu_clock_bits(int clock)
{
	if (clock == CLOCK_PROCESS_CPUTIME_ID)
		return CPUCLOCK_SCHED;
	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return CPUCLOCK_SCHED | CPUCLOCK_PERTHREAD;
	return clock & (CPUCLOCK_WHICH | CPUCLOCK_PERTHREAD);
}

bool cpu_clock_of_thread(int clock)
{
	return cpu_clock_bits(clock) & CPUCLOCK_PERTHREAD;
}

bool cpu_clock_is_exact(int clock)
{
	return (cpu_clock_bits(clock) & CPUCLOCK_WHICH) == CPUCLOCK_SCHED;
}

/* A process's clock is anybody's to read; a thread's is its own process's. */
struct task_struct *get_cpu_clock_task(int clock)
{
	pid_t pid = clock < 0 ? ~(clock >> 3) : 0;
	struct task_struct *p = pid ? find_get_task(pid) : current;

	if (!pid)
		get_task_struct(p);
	if (!p)
		return NULL;
	if ((cpu_clock_bits(clock) & CPUCLOCK_WHICH) != CPUCLOCK_WHICH &&
	    (cpu_clock_of_thread(clock) ? p->signal == current->signal : !pid || thread_group_leader(p)))
		return p;
	put_task_struct(p);
	return NULL;
}

/* 0 or -EINVAL. A process's has the times of all its threads, also of those that have ended. */
static int cpu_clock_read(int clock, u64 *ns)
{
	struct task_struct *p = get_cpu_clock_task(clock);
	u64 utime, stime;

	if (!p)
		return -EINVAL;
	if (!cpu_clock_of_thread(clock))
		thread_group_cputime(p, &utime, &stime);
	else
		task_cputime_adjusted(p, &utime, &stime);
	put_task_struct(p);
	*ns = (cpu_clock_bits(clock) & CPUCLOCK_WHICH) == CPUCLOCK_VIRT ? utime : utime + stime;
	return 0;
}

/* The clocks by number, as clock_gettime and timers have them. -EINVAL: no such clock. */
int clock_read_ns(int clock, u64 *ns)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI: /* the difference to UTC is 0, as on Linux until a program sets it */
		*ns = ktime_get_real_ns();
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW: /* one counter, never slewed: they are the same */
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME: /* the machine is never suspended */
		*ns = sched_clock();
		return 0;
	case CLOCK_THREAD_CPUTIME_ID:
		*ns = task_sched_runtime(current);
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID:
		return cpu_clock_read(clock, ns);
	}
	return clock < 0 ? cpu_clock_read(clock, ns) : -EINVAL;
}

SYSCALL_DEFINE2(clock_gettime, const clockid_t, which_clock, struct timespec __user *, tp)
{
	u64 ns;
	int ret = clock_read_ns(which_clock, &ns);

	return ret ? ret : put_timespec_ns(tp, ns);
}

static bool is_coarse(clockid_t clock)
{
	return clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE;
}

/*
 * The resolution of a clock is 1 ns, as far as a program can tell, and that of a coarse one a tick, as on Linux: these
 * are exact here, too, but programs learn the length of a tick in this way.
 */
SYSCALL_DEFINE2(clock_getres, const clockid_t, which_clock, struct timespec __user *, tp)
{
	u64 ns;
	int ret = clock_read_ns(which_clock, &ns);

	if (ret || !tp)
		return ret;
	return put_timespec_ns(tp, is_coarse(which_clock) ? TICK_NSEC : 1);
}

/*
 * Linux's bounds of the wall clock. The latest time still lets the machine run for 30 years before the clock overflows.
 * The earliest is the time that the machine has been up: the moment of its start must not lie before 1970.
 */
#define UPTIME_SEC_MAX (30LL * 365 * 24 * 3600)
#define SETTOD_SEC_MAX (KTIME_SEC_MAX - UPTIME_SEC_MAX)

static struct timezone sys_tz; /* [tz_lock] only kept for programs: the kernel's time is UTC */
static bool tz_was_set;	       /* [tz_lock] */
static DEFINE_SPINLOCK(tz_lock);

/*
 * The first zone that is given without a time says that the clock ran on local time until now, so the clock is moved by
 * the zone's offset, as on Linux; but not to before the machine was started.
 */
static void set_timezone(const struct timezone *tz, bool alone)
{
	u64 moved = ktime_get_real_ns() + tz->tz_minuteswest * 60 * NSEC_PER_SEC;
	bool warp;

	spin_lock(&tz_lock);
	sys_tz = *tz;
	warp = alone && !tz_was_set;
	tz_was_set = true;
	spin_unlock(&tz_lock);
	if (warp && (s64)(moved - sched_clock()) >= 0)
		set_wall_clock(moved);
}

/*
 * Set the time, the zone, or both; NULL leaves that one as it is. The order of the checks is Linux's, because programs
 * see which error comes first. 0, -EINVAL or -EPERM.
 */
static int do_settimeofday(const struct timespec *ts, const struct timezone *tz)
{
	u64 ns = 0;

	if (ts) {
		if (ts->tv_sec < 0 || ts->tv_nsec < 0 || ts->tv_nsec >= NSEC_PER_SEC || ts->tv_sec >= SETTOD_SEC_MAX)
			return -EINVAL;
		ns = ktime_set(ts->tv_sec, ts->tv_nsec);
	}
	if (!capable(CAP_SYS_TIME))
		return -EPERM;
	if (tz && (tz->tz_minuteswest > 15 * 60 || tz->tz_minuteswest < -15 * 60))
		return -EINVAL;
	if (tz)
		set_timezone(tz, !ts);
	if (ts && ns < sched_clock())
		return -EINVAL;
	if (ts)
		set_wall_clock(ns);
	return 0;
}

/* Only the wall clock can be set; the others follow the counter. */
SYSCALL_DEFINE2(clock_settime, const clockid_t, which_clock, const struct timespec __user *, tp)
{
	struct timespec ts;

	if (which_clock != CLOCK_REALTIME)
		return -EINVAL;
	if (copy_from_user(&ts, tp, sizeof(ts)))
		return -EFAULT;
	return do_settimeofday(&ts, NULL);
}

/* The zone is copied under its lock, and then to the program without the lock, since that may sleep. */
SYSCALL_DEFINE2(gettimeofday, struct timeval __user *, tv, struct timezone __user *, tz)
{
	struct timeval now = ns_to_timeval(ktime_get_real_ns());
	struct timezone zone;

	spin_lock(&tz_lock);
	zone = sys_tz;
	spin_unlock(&tz_lock);
	if (tv && copy_to_user(tv, &now, sizeof(now)))
		return -EFAULT;
	if (tz && copy_to_user(tz, &zone, sizeof(zone)))
		return -EFAULT;
	return 0;
}

SYSCALL_DEFINE1(time, __kernel_old_time_t __user *, tloc)
{
	s64 seconds = ktime_get_real_ns() / NSEC_PER_SEC;

	return tloc && put_user(seconds, tloc) ? -EFAULT : seconds;
}

/* The zone may come alone, with the time, or not at all. */
SYSCALL_DEFINE2(settimeofday, struct timeval __user *, tv, struct timezone __user *, tz)
{
	struct timespec ts;
	struct timezone zone;
	struct timeval now;

	if (tv && copy_from_user(&now, tv, sizeof(now)))
		return -EFAULT;
	if (tv && (now.tv_usec < 0 || now.tv_usec > NSEC_PER_SEC / NSEC_PER_USEC))
		return -EINVAL; /* a whole million is found below */
	if (tz && copy_from_user(&zone, tz, sizeof(zone)))
		return -EFAULT;
	if (tv)
		ts = (struct timespec){now.tv_sec, now.tv_usec * NSEC_PER_USEC};
	return do_settimeofday(tv ? &ts : NULL, tz ? &zone : NULL);
}

/* The unit of times(2): hundredths of a second. */
static s64 ns_to_clock_t(u64 ns)
{
	return ns / (NSEC_PER_SEC / USER_HZ);
}

/*
 * Times of this process, and of those of its children that it has waited for. The result is the time since the machine
 * was started, in the same unit.
 */
SYSCALL_DEFINE1(times, struct tms __user *, tbuf)
{
	struct tms tms;
	u64 utime, stime;

	if (tbuf) {
		thread_group_cputime(current, &utime, &stime);
		tms.tms_utime = ns_to_clock_t(utime);
		tms.tms_stime = ns_to_clock_t(stime);
		tms.tms_cutime = ns_to_clock_t(READ_ONCE(current->signal->cutime));
		tms.tms_cstime = ns_to_clock_t(READ_ONCE(current->signal->cstime));
		if (copy_to_user(tbuf, &tms, sizeof(tms)))
			return -EFAULT;
	}
	return ns_to_clock_t(sched_clock());
}
