/*
 * Call sites of -pg on this machine. gcc emits, when the frame record of the function is in place,
 *
 *     as compiled             at boot         traced
 *     mov x0, x30             mov x0, x30     mov x0, x30
 *     bl  _mcount             nop             bl  ftrace_caller
 */
#pragma once

#ifndef __ASSEMBLY__
/* ftrace.S */
void _mcount(void);
void ftrace_caller(void);
extern const unsigned int ftrace_call[], ftrace_graph_call[];

#define MCOUNT_ADDR	       ((unsigned long)_mcount)
#define FTRACE_CALLER_ADDR     ((unsigned long)ftrace_caller)
/*
 * The two patchable places in ftrace_caller, nops to begin with. Patched to calls (PATCH_CALL) they call
 *     void fn(unsigned long ip, unsigned long parent_ip, unsigned long *parent_slot)
 * ip: address of the traced function's BL; parent_ip: where that function returns to; parent_slot: the frame
 * record's word that holds parent_ip.
 */
#define ftrace_call_site       ((unsigned long)ftrace_call)
#define ftrace_graph_call_site ((unsigned long)ftrace_graph_call)

/* Entry of __mcount_loc to address of the instruction that is patched: the same here. */
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}
#endif
