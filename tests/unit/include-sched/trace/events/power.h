/* No events of idle CPUs. */
#pragma once

#define trace_cpu_idle(state, cpu) ((void)0)
