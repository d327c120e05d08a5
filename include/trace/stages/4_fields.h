/* Pass 4: the table of a class's fields, for `format` and for filters. */
#include <trace/stages/no_fields.h>
#define TRACE_FIELD(text, item, how, is_signed, filter) \
	{ text, #item, offsetof(record, how), sizeof(((record *)0)->how), is_signed, filter },
#define TRACE_FIELD_FILTER(type) \
	(__builtin_types_compatible_p(type, const char *) || __builtin_types_compatible_p(type, char *) ? \
		 FILTER_PTR_STRING : FILTER_OTHER)
#define TRACE_ARRAY_FILTER(type, of_char) (__builtin_types_compatible_p(type, char) ? of_char : FILTER_NONE)
#define __field(type, item)             TRACE_FIELD(#type, item, item, is_signed_type(type), TRACE_FIELD_FILTER(type))
#define __field_ext(type, item, filter) TRACE_FIELD(#type, item, item, is_signed_type(type), filter)
#define __field_struct(type, item)      TRACE_FIELD(#type, item, item, false, FILTER_NONE)
#define __array(type, item, len)                                                                       \
	TRACE_FIELD(#type "[" __stringify(len) "]", item, item, is_signed_type(type), \
		    TRACE_ARRAY_FILTER(type, FILTER_STATIC_STRING))
#define __dynamic_array(type, item, len)                                              \
	TRACE_FIELD("__data_loc " #type "[]", item, __data_loc_##item, is_signed_type(type), \
		    TRACE_ARRAY_FILTER(type, FILTER_DYN_STRING))
#define __string(item, src) __dynamic_array(char, item, )
#define __bitmask(item, nr_bits) \
	TRACE_FIELD("__data_loc unsigned long[]", item, __data_loc_##item, false, FILTER_CPUMASK)
#define __cpumask(item) TRACE_FIELD("__data_loc cpumask_t", item, __data_loc_##item, false, FILTER_CPUMASK)

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)          \
	static notrace const struct trace_event_field *trace_event_fields_##name(void) \
	{                                                                       \
		typedef struct trace_event_raw_##name record;                   \
		static const struct trace_event_field fields[] = {              \
			tstruct { NULL, NULL, 0, sizeof(record), false, FILTER_NONE } \
		};                                                              \
		return fields;                                                  \
	}
