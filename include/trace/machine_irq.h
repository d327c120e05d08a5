/*
 * Tracepoints of NMIs, and of interrupts without a line, which only some machines have. They have no records; those who
 * measure time (hwlat, osnoise) put probes on them. The second kind is defined and called by a machine that has such
 * interrupts, and users find it by name (for_each_kernel_tracepoint), so that a machine without them need not know.
 */
#pragma once

#include <trace/tracepoint.h>

/* In the NMI, where text is not being changed. A probe must cope with having interrupted anything. `cpu`: this one. */
DECLARE_TRACE(nmi_enter, TP_PROTO(unsigned cpu), TP_ARGS(cpu));
DECLARE_TRACE(nmi_exit, TP_PROTO(unsigned cpu), TP_ARGS(cpu));

/* Around an interrupt that has neither a line nor an event ipi_entry. `name` is Linux's for it. Hard interrupt. */
DECLARE_TRACE(vector_enter, TP_PROTO(int vector, const char *name), TP_ARGS(vector, name));
DECLARE_TRACE(vector_exit, TP_PROTO(int vector, const char *name), TP_ARGS(vector, name));
