/* The tracepoint of TLB flushes is off. */
#pragma once

#define TLB_FLUSH_ON_TASK_SWITCH 0
#define TLB_REMOTE_SHOOTDOWN	 1
#define TLB_LOCAL_MM_SHOOTDOWN	 3
#define TLB_REMOTE_SEND_IPI	 4
#define TLB_FLUSH_ALL		 (-1UL)

#define trace_tlb_flush(reason, pages) ((void)(pages))
#define trace_tlb_flush_enabled()      false
