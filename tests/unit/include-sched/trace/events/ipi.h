/* The tracepoints of interrupts between CPUs are off. */
#pragma once

#define trace_ipi_send_cpu(cpu, callsite, callback)	 ((void)(callsite))
#define trace_ipi_send_cpumask(mask, callsite, callback) ((void)(callsite))
#define trace_ipi_send_cpu_enabled()			 false
#define trace_ipi_send_cpumask_enabled()		 false
