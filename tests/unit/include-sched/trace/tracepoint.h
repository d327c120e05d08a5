/* Tracepoints call nobody. */
#pragma once

#include <kernel/jump_label.h>
#include <lib/types.h>
#include <sched/preempt.h>

#define tracepoint_key_on(key) false
