/* Pass 7: trace_raw_output_CLASS(), which prints a record. */
#include <trace/stages/no_fields.h>
#define __field(type, item)
#define __field_ext(type, item, filter)
#define __field_struct(type, item)
#define __array(type, item, len)
#define __dynamic_array(type, item, len)
#define __string(item, src)
#define __bitmask(item, nr_bits)
#define __cpumask(item)

#undef __entry
#define __entry field
#define __print_flags(flags, delim, ...) \
	trace_print_flags(iter, delim, flags, (const struct trace_print_flags[]){ __VA_ARGS__, { 0, NULL } })
#define __print_symbolic(value, ...) \
	trace_print_symbols(iter, value, (const struct trace_print_flags[]){ __VA_ARGS__, { 0, NULL } })
#define __print_hex(bytes, len)              trace_print_hex(iter, bytes, len, false)
#define __print_hex_str(bytes, len)          trace_print_hex(iter, bytes, len, true)
#define __get_bitmask(item) trace_print_bitmask(iter, __get_dynamic_array(item), __get_dynamic_array_len(item))
#define __get_cpumask(item) __get_bitmask(item)
#undef __print_ns_to_secs
#undef __print_ns_without_secs
#undef __print_u64
#define __print_u64(value)                   ((unsigned long long)(value)) /* for %llu */
#define __print_ns_to_secs(ns)               ((unsigned long long)(ns) / NSEC_PER_SEC)
#define __print_ns_without_secs(ns)          ((u32)((ns) % NSEC_PER_SEC))
#define __print_array(array, count, el_size) trace_print_array(iter, array, count, el_size)

#undef TP_printk
#define TP_printk(fmt, ...) fmt "\n", ##__VA_ARGS__

#define TRACE_EVENT_OUTPUT(fn, class, print)                                             \
	static notrace void fn(struct seq_file *s, struct trace_iterator *iter)          \
	{                                                                                \
		struct trace_event_raw_##class __maybe_unused *field = trace_iter_entry(iter); \
                                                                                         \
		seq_printf(s, print);                                                    \
	}

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	TRACE_EVENT_OUTPUT(trace_raw_output_##name, name, PARAMS(print))
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(class, name, proto, args, print) \
	TRACE_EVENT_OUTPUT(trace_raw_output_event_##name, class, PARAMS(print))
