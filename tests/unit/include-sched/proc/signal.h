/* Signals that the scheduler looks at or sends. */
#pragma once

#include <sched/sched.h>

#define SIGXCPU 24
int send_sig(int sig, struct task_struct *p, int priv);
bool fatal_signal_pending(struct task_struct *t);
