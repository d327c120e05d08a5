/* Timers of timer_create(2), of a process: kernel/proc/timers/posix_timer.c. */
#pragma once

#include <lib/types.h>

struct k_itimer;
struct siginfo;
struct signal_struct;

/*
 * The timer's signal has left its queue. One that a task takes gets the number of expirations since, `info` NULL: it
 * was thrown away. A timer with an interval goes on. [S]
 */
void posixtimer_taken(struct k_itimer *t, struct siginfo *info);
/* Send the signals of the process's timers in CPU time that are over. Context: the tick's interrupt, no locks. */
void check_cpu_posix_timers(struct signal_struct *sig);
/* Delete all of current's process: exec, and its last thread at its end. Thread context. */
void exit_posix_timers(void);
