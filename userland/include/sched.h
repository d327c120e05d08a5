/* Scheduling policies, priorities and CPU masks. */
#ifndef VT_SCHED_H
#define VT_SCHED_H

#include <sys/types.h>
#include <time.h>
#include <sys/sched.h>

#define SCHED_OTHER 0
#define SCHED_FIFO  1
#define SCHED_RR    2
#define SCHED_BATCH 3
#define SCHED_IDLE  5
#define SCHED_DEADLINE 6

#define SCHED_RESET_ON_FORK 0x40000000

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

/* As the kernel has it; size is sizeof(struct sched_attr). Times are nanoseconds. */
struct sched_attr {
	unsigned int size;
	unsigned int sched_policy;
	unsigned long sched_flags;
	int sched_nice;
	unsigned int sched_priority;
	unsigned long sched_runtime; /* SCHED_DEADLINE: CPU time in each period, */
	unsigned long sched_deadline; /* had so long after its beginning; */
	unsigned long sched_period; /* 0: the deadline */
	unsigned int sched_util_min, sched_util_max; /* 0 */
};

#define SCHED_FLAG_RESET_ON_FORK 0x01
#define SCHED_FLAG_RECLAIM	 0x02 /* not in our kernel: EINVAL */
#define SCHED_FLAG_DL_OVERRUN	 0x04 /* SIGXCPU when the budget is used up */
#define SCHED_FLAG_KEEP_POLICY	 0x08
#define SCHED_FLAG_KEEP_PARAMS	 0x10

/* flags are 0. The kernel writes at most size bytes. */
int sched_setattr(pid_t pid, const struct sched_attr *attr, unsigned int flags);
int sched_getattr(pid_t pid, struct sched_attr *attr, unsigned int size, unsigned int flags);

#endif
