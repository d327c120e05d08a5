/* The events of sockets; their header says where each is. */
#define CREATE_TRACE_POINTS
#include <trace/events/sock.h>
