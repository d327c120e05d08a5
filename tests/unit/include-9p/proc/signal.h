/* The task that asks: of signals there is nothing but what <sched/wait.h> has here. */
#pragma once

#define PF_EXITING 4

static struct host_task {
	unsigned flags;
} host_current;
#define current (&host_current)
