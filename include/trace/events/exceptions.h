/* Tracepoints of page faults. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM exceptions

#if !defined(_TRACE_EXCEPTIONS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_EXCEPTIONS_H

#include <asm/ptrace.h>
#include <trace/tracepoint.h>

/* error_code is the machine's own: what the CPU says of the fault. */
DECLARE_EVENT_CLASS(exceptions,
	TP_PROTO(unsigned long address, const struct pt_regs *regs, unsigned long error_code),
	TP_ARGS(address, regs, error_code),
	TP_STRUCT__entry(
		__field(unsigned long, address)
		__field(unsigned long, ip)
		__field(unsigned long, error_code)
	),
	TP_fast_assign(
		__entry->address = address;
		__entry->ip = instruction_pointer(regs);
		__entry->error_code = error_code;
	),
	TP_printk("address=%ps ip=%ps error_code=0x%lx",
		(void *)__entry->address, (void *)__entry->ip, __entry->error_code)
);

/* First thing in the fault's handler, by where the CPU was: in a program, or in the kernel. */
DEFINE_EVENT(exceptions, page_fault_user,
	TP_PROTO(unsigned long address, const struct pt_regs *regs, unsigned long error_code),
	TP_ARGS(address, regs, error_code));
DEFINE_EVENT(exceptions, page_fault_kernel,
	TP_PROTO(unsigned long address, const struct pt_regs *regs, unsigned long error_code),
	TP_ARGS(address, regs, error_code));

#endif

#include <trace/define_trace.h>
