/* Pass 1: every tracepoint is defined, with or without an event. */
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args) DEFINE_TRACE_FN(name, NULL, NULL, PARAMS(proto), PARAMS(args))
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)
#undef DEFINE_EVENT
#define DEFINE_EVENT(class, name, proto, args) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(class, name, proto, args, reg, unreg) \
	DEFINE_TRACE_FN(name, reg, unreg, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(class, name, proto, args, print) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))

/* In all passes an event by itself is a class with one event; the condition stands in trace_NAME(). */
#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                              \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print)) \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)                               \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print)) \
	DEFINE_EVENT_FN(name, name, PARAMS(proto), PARAMS(args), reg, unreg)
#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign), PARAMS(print))
#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION(class, name, proto, args, cond) DEFINE_EVENT(class, name, PARAMS(proto), PARAMS(args))
