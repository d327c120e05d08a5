/* Scheduling policies, priorities and CPU masks. */
#ifndef VT_SCHED_H
#define VT_SCHED_H

#include <sys/types.h>
#include <time.h>
#include <uapi/sched.h>
#include <uapi/sched_types.h>

#define SCHED_OTHER SCHED_NORMAL /* the name that POSIX has for it */

/* Bit n of word n / 64 is CPU n. */
#define CPU_SETSIZE 1024
typedef struct vt_cpu_set {
	unsigned long bits[CPU_SETSIZE / 64];
} cpu_set_t;

#define CPU_SET(cpu, set)   ((void)((set)->bits[(cpu) / 64] |= 1UL << ((cpu) % 64)))
#define CPU_ISSET(cpu, set) (((set)->bits[(cpu) / 64] >> ((cpu) % 64)) & 1)

/* pid 0 is the caller. Return 0 (getscheduler: the policy, get_priority_*: a priority), or -1 with errno. */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param);
int sched_getscheduler(pid_t pid);
int sched_setparam(pid_t pid, const struct sched_param *param);
int sched_getparam(pid_t pid, struct sched_param *param);
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
/* Clears what the kernel did not write. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int sched_get_priority_max(int policy);
int sched_get_priority_min(int policy);
int sched_yield(void);

#define SCHED_FLAG_RECLAIM 0x02 /* not in our kernel: EINVAL */

/* flags are 0. The kernel writes at most size bytes. */
int sched_setattr(pid_t pid, const struct sched_attr *attr, unsigned int flags);
int sched_getattr(pid_t pid, struct sched_attr *attr, unsigned int size, unsigned int flags);

#endif
