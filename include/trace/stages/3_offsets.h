/*
 * Pass 3: struct trace_event_data_offsets_CLASS: for each dynamic field what its __data_loc word will be, and from
 * where a string comes.
 */
#include <trace/stages/no_fields.h>
#define __field(type, item)
#define __field_ext(type, item, filter)
#define __field_struct(type, item)
#define __array(type, item, len)
#define __dynamic_array(type, item, len)         u32 item;
#define __string(item, src)                      u32 item; const char *item##_src;
#define __bitmask(item, nr_bits)                 u32 item;
#define __cpumask(item)                          u32 item;

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	struct trace_event_data_offsets_##name {                       \
		tstruct                                                \
	};
