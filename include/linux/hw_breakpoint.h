/* Breakpoints of the debug hardware on variables and functions of the kernel and of modules. */
#pragma once

#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
