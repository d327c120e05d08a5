/* Pass 2: struct trace_event_raw_CLASS, the record. Dynamic data lie behind it; a word says where and how long. */
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#undef DEFINE_EVENT
#define DEFINE_EVENT(class, name, proto, args)
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(class, name, proto, args, reg, unreg) DEFINE_EVENT(class, name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(class, name, proto, args, print)

#define __field(type, item)                      type item;
#define __field_ext(type, item, filter)          type item;
#define __field_struct(type, item)               type item;
#define __array(type, item, len)                 type item[len];
#define __dynamic_array(type, item, len)         u32 __data_loc_##item;
#define __string(item, src)                      u32 __data_loc_##item;
#define __bitmask(item, nr_bits)                 u32 __data_loc_##item;
#define __cpumask(item)                          u32 __data_loc_##item;

#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	struct trace_event_raw_##name {                                \
		struct trace_entry ent;                                \
		tstruct                                                \
		char __data[];                                         \
	};
