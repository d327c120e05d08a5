/* Pass 5: how many bytes the dynamic data of a record take, and where each lies. */
#include <trace/stages/no_fields.h>
#define __field(type, item)
#define __field_ext(type, item, filter)
#define __field_struct(type, item)
#define __array(type, item, len)
#define __dynamic_array(type, item, len)                                                 \
	item_size = (len) * sizeof(type);                                                \
	offsets->item = (size + offsetof(record, __data)) | item_size << 16;              \
	size += item_size;
#define __string(item, src)                        \
	offsets->item##_src = (src) ?: "(null)";   \
	__dynamic_array(char, item, strlen(offsets->item##_src) + 1)
#define __bitmask(item, nr_bits) __dynamic_array(unsigned long, item, BITS_TO_LONGS(nr_bits))
#define __cpumask(item)          __bitmask(item, NR_CPUS)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                                   \
	static __always_inline notrace unsigned trace_event_get_offsets_##name(                          \
		struct trace_event_data_offsets_##name *offsets, proto)                                  \
	{                                                                                                \
		typedef struct trace_event_raw_##name record __maybe_unused;                             \
		unsigned __maybe_unused item_size;                                                       \
		unsigned size = 0;                                                                       \
                                                                                                         \
		tstruct                                                                                  \
		return size;                                                                             \
	}
