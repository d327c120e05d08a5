/* What lab events compares: a number of each width and kind. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lab_fields

#if !defined(_TRACE_LAB_FIELDS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_LAB_FIELDS_H

#include <trace/tracepoint.h>

#ifndef LAB_VALUES
#define LAB_VALUES
struct lab_values {
	u64 value[8];
};
#endif

TRACE_EVENT(lab_fields,
	TP_PROTO(unsigned int id, const struct lab_values *v),
	TP_ARGS(id, v),
	TP_STRUCT__entry(
		__field(unsigned int, id)
		__field(s8, a)
		__field(u8, b)
		__field(s16, c)
		__field(u16, d)
		__field(s32, e)
		__field(u32, f)
		__field(s64, g)
		__field(u64, h)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->a = v->value[0];
		__entry->b = v->value[1];
		__entry->c = v->value[2];
		__entry->d = v->value[3];
		__entry->e = v->value[4];
		__entry->f = v->value[5];
		__entry->g = v->value[6];
		__entry->h = v->value[7];
	),
	TP_printk("id=%u", __entry->id)
);

#endif

#include <trace/define_trace.h>
