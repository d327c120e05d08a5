/* No tracepoints on the host. */
#pragma once
struct tracepoint;
void tracepoint_switch(void);
