/* No events of idle CPUs. */
#pragma once

#define POWER_CSTATE			    1
#define trace_cpu_idle(state, cpu)	    ((void)0)
#define trace_power_start(type, state, cpu) ((void)0)
#define trace_power_end(cpu)		    ((void)0)
