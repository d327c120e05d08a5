/* Events, with their tracepoints, static branches and names of values; other modules may use one of the tracepoints. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "damaged_events.h"

MODULE_LICENSE("GPL");

void events_happen(int a);
void events_happen(int a)
{
	trace_damaged_one(a, "one");
	trace_damaged_two(a, "two");
	trace_damaged_three(a);
}
EXPORT_TRACEPOINT_SYMBOL_GPL(damaged_three);
