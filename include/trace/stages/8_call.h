/* Pass 8: what TP_printk says, as text for `format`, and its names; the class and the events in their table. */
#include <trace/stages/no_fields.h>
#undef __print_flags
#undef __print_symbolic
#undef __print_hex
#undef __print_hex_str
#undef __print_array
#undef __print_ns_to_secs
#undef __print_ns_without_secs
#undef __print_u64
/* For readers of `format`, which compute; the texts are Linux's. */
#define __print_u64(value)	    value
#define __print_ns_to_secs(ns)	    (ns) / 1000000000UL
#define __print_ns_without_secs(ns) (ns) % 1000000000UL
#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __get_bitmask
#undef __get_cpumask
#undef __entry
#define __entry REC

#undef TP_printk
#define TP_printk(fmt, ...) "\"" fmt "\", " __stringify(__VA_ARGS__)

/* The id keeps names apart that several headers, or several places of one, speak of. */
#define TRACE_EVAL_MAP(id, text, number)                                                                     \
	static const struct trace_eval_map __concat(__eval_map_, id) = {                                      \
		.system = __stringify(TRACE_SYSTEM), .name = text, .value = number};                         \
	static const struct trace_eval_map *const __concat(__eval_map_ptr_, id) __used                        \
		__section("ptrs_trace_eval_maps") = &__concat(__eval_map_, id);
#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(name) TRACE_EVAL_MAP(__COUNTER__, #name, (long)(name))
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(type) TRACE_EVAL_MAP(__COUNTER__, "sizeof(" #type ")", sizeof(type))

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, text) \
	static const struct trace_event_class event_class_##name = {   \
		.system = __stringify(TRACE_SYSTEM),                   \
		.fields = trace_event_fields_##name,                   \
		.probe = (void *)trace_event_raw_event_##name,         \
		.print = trace_raw_output_##name,                      \
		.print_fmt = text,                                     \
	};

#define TRACE_EVENT_CALL(class_name, event, ...)                                      \
	static const struct trace_event_call event_##event = {                        \
		.name = #event,                                                       \
		.class = &event_class_##class_name,                                   \
		.tp = &__tracepoint_##event,                                          \
		.module = THIS_MODULE,                                                \
		__VA_ARGS__                                                           \
	};                                                                            \
	static const struct trace_event_call *const __event_ptr_##event __used       \
		__section("ptrs_ftrace_events") = &event_##event;

#undef DEFINE_EVENT
#define DEFINE_EVENT(class, name, proto, args) TRACE_EVENT_CALL(class, name)
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(class, name, proto, args, text) \
	TRACE_EVENT_CALL(class, name, .print = trace_raw_output_event_##name, .print_fmt = text)
