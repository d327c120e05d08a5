/*
 * Pass 6: trace_event_raw_event_CLASS(), the probe that makes a record: directly; or, with only a filter between,
 * on the stack first; or else in the general way. It jumps to these: so the direct way needs no frame, and the frame of
 * the general way is the one that the tracepoint has called.
 *
 * A record with dynamic data is never made on the stack, but gcc cannot know that, and would warn of what is written
 * behind it (array-bounds, gcc 16). So it is not told where `entry` comes from.
 */
#include <trace/stages/no_fields.h>
#define __field(type, item)
#define __field_ext(type, item, filter)
#define __field_struct(type, item)
#define __array(type, item, len)
#define __dynamic_array(type, item, len)         __entry->__data_loc_##item = offsets.item;
#define __string(item, src)                      __dynamic_array(char, item, )
#define __bitmask(item, nr_bits)                 __dynamic_array(unsigned long, item, )
#define __cpumask(item)                          __dynamic_array(unsigned long, item, )

#undef __entry
#define __entry entry
#define __get_dynamic_array(item)     ((void *)((char *)__entry + (__entry->__data_loc_##item & 0xffff)))
#define __get_dynamic_array_len(item) (__entry->__data_loc_##item >> 16)
#define __get_str(item)               ((char *)__get_dynamic_array(item))
#define __assign_str(item, ...)       memcpy(__get_str(item), offsets.item##_src, __get_dynamic_array_len(item))
#define __assign_bitmask(item, src, nr_bits) memcpy(__get_dynamic_array(item), src, __get_dynamic_array_len(item))
#define __assign_cpumask(item, src)          __assign_bitmask(item, src, NR_CPUS)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                                     \
	static noinline notrace void trace_event_filtered_##name(void *file, proto)                        \
	{                                                                                                  \
		struct trace_event_data_offsets_##name __maybe_unused offsets;                             \
		struct trace_event_raw_##name record __attribute__((aligned(8)));                          \
		struct trace_event_raw_##name *entry = &record;                                            \
                                                                                                           \
		trace_event_get_offsets_##name(&offsets, args);                                            \
		trace_event_fill(&record.ent, trace_event_head(file));                                     \
		if (sizeof(offsets))                                                                       \
			asm("" : "+r"(entry));                                                             \
		tstruct                                                                                    \
		{                                                                                          \
			assign                                                                             \
		}                                                                                          \
		trace_event_judge(file, entry, sizeof(record));                                            \
	}                                                                                                  \
	static noinline notrace void trace_event_general_##name(void *file, proto)                         \
	{                                                                                                  \
		struct trace_event_data_offsets_##name __maybe_unused offsets;                             \
		const unsigned record_len = sizeof(struct trace_event_raw_##name) +                        \
					    trace_event_get_offsets_##name(&offsets, args);                \
		struct trace_event_raw_##name *entry;                                                      \
		struct trace_event_buffer buffer;                                                          \
                                                                                                           \
		entry = trace_event_begin(&buffer, file, record_len);                                      \
		if (!entry)                                                                                \
			return;                                                                            \
		tstruct                                                                                    \
		{                                                                                          \
			assign                                                                             \
		}                                                                                          \
		trace_event_end(&buffer, arch_caller_fp());                                                \
		barrier();                                                                                 \
	}                                                                                                  \
	static noinline notrace void trace_event_retry_##name(void *file, proto)                           \
	{                                                                                                  \
		trace_event_leave(file);                                                                   \
		trace_event_general_##name(file, args);                                                    \
	}                                                                                                  \
	static notrace void trace_event_raw_event_##name(void *file, proto)                                \
	{                                                                                                  \
		struct trace_event_data_offsets_##name __maybe_unused offsets;                             \
		const unsigned record_len = sizeof(struct trace_event_raw_##name) +                        \
					    trace_event_get_offsets_##name(&offsets, args);                \
		struct trace_event_raw_##name *entry;                                                      \
		struct trace_event_opened opened;                                                          \
                                                                                                           \
		if (unlikely(!trace_event_is_direct(file, record_len))) {                                  \
			if (trace_event_is_judged(file, record_len) &&                                     \
			    record_len == sizeof(struct trace_event_raw_##name))                           \
				trace_event_filtered_##name(file, args);                                   \
			else                                                                               \
				trace_event_general_##name(file, args);                                    \
			return;                                                                            \
		}                                                                                          \
		entry = trace_event_open(&opened, file, record_len);                                       \
		if (unlikely(!entry)) {                                                                    \
			trace_event_retry_##name(file, args);                                              \
			return;                                                                            \
		}                                                                                          \
		tstruct                                                                                    \
		{                                                                                          \
			assign                                                                             \
		}                                                                                          \
		trace_event_close(&opened);                                                                \
	}
