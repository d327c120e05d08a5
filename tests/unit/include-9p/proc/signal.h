/* Nothing of signals but what <sched/wait.h> has here. */
#pragma once
