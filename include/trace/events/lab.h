/*
 * Events to try out and to copy from, one of each form. They happen in samples/trace_lab.c; docs/events.md tells.
 * Try: echo $i half > /sys/kernel/debug/lab/step
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lab

#if !defined(_TRACE_LAB_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LAB_H

#include <lib/string.h>
#include <trace/tracepoint.h>

TRACE_EVENT(lab_step,
	TP_PROTO(int step, const char *what),
	TP_ARGS(step, what),
	TP_STRUCT__entry(
		__field(int, step)
		__string(what, what)
	),
	TP_fast_assign(
		__entry->step = step;
		__assign_str(what);
	),
	TP_printk("step=%d what=%s", __entry->step, __get_str(what))
);

/* Three events of one form: the second has its own text, the third a condition. Bits of `lights`: 1 lamp, 2 sun. */
DECLARE_EVENT_CLASS(lab_room,
	TP_PROTO(int room, unsigned int lights),
	TP_ARGS(room, lights),
	TP_STRUCT__entry(
		__field(int, room)
		__field(unsigned int, lights)
	),
	TP_fast_assign(
		__entry->room = room;
		__entry->lights = lights;
	),
	TP_printk("room=%d lights=%s", __entry->room,
		__print_flags(__entry->lights, "|", { 1, "LAMP" }, { 2, "SUN" }))
);

DEFINE_EVENT(lab_room, lab_enter, TP_PROTO(int room, unsigned int lights), TP_ARGS(room, lights));

DEFINE_EVENT_PRINT(lab_room, lab_leave, TP_PROTO(int room, unsigned int lights), TP_ARGS(room, lights),
	TP_printk("room=%d left=%s", __entry->room,
		__print_symbolic(__entry->lights, { 0, "dark" }, { 1, "lit" }, { 2, "sunny" }, { 3, "bright" }))
);

DEFINE_EVENT_CONDITION(lab_room, lab_enter_dark, TP_PROTO(int room, unsigned int lights), TP_ARGS(room, lights),
	TP_CONDITION(!lights)
);

/* Of nothing there is no event. `ends`: the first byte and the last. */
TRACE_EVENT_CONDITION(lab_bytes,
	TP_PROTO(const unsigned char *bytes, unsigned int count),
	TP_ARGS(bytes, count),
	TP_CONDITION(count > 0),
	TP_STRUCT__entry(
		__field(unsigned int, count)
		__array(unsigned short, ends, 2)
		__dynamic_array(unsigned char, bytes, count)
	),
	TP_fast_assign(
		__entry->count = count;
		__entry->ends[0] = bytes[0];
		__entry->ends[1] = bytes[count - 1];
		memcpy(__get_dynamic_array(bytes), bytes, count);
	),
	TP_printk("count=%u ends=%s bytes=%s", __entry->count,
		__print_array(__entry->ends, 2, 2),
		__print_hex(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes)))
);

/* What trace_lab_probes.c counts by: the task that hits it hands a word of its own, which a probe sets. */
DECLARE_TRACE(lab_hit, TP_PROTO(int *seen), TP_ARGS(seen));

#endif

#include <trace/define_trace.h>
