/* The running task. */
#pragma once

#include <asm/current.h>
#include <sched/task.h>

#define current get_current()
