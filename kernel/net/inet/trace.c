/* The events of packets and sockets; their headers say where each stands. */
#define CREATE_TRACE_POINTS
#include <trace/events/net.h>

#define CREATE_TRACE_POINTS
#include <trace/events/skb.h>

#define CREATE_TRACE_POINTS
#include <trace/events/udp.h>
