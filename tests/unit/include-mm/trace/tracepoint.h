/* No tracepoints on the host. */
#pragma once
struct tracepoint;
