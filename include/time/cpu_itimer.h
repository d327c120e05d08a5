/* ITIMER_VIRTUAL and ITIMER_PROF: interval timers in CPU time of a process. */
#pragma once

#include <lib/types.h>
#include <uapi/time.h>

struct signal_struct;

/* `which` is ITIMER_VIRTUAL or ITIMER_PROF, of the current process. Thread context; both take siglock. */
void get_cpu_itimer(int which, struct itimerval *out);
/* Set it, in ns; value 0 stops the timer. `old` gets what it was before. */
void set_cpu_itimer(int which, u64 value, u64 interval, struct itimerval *old);
/* Send the signals of the current process's timers that are over. Context: the tick's interrupt, no locks. */
void check_cpu_itimers(struct signal_struct *sig);
