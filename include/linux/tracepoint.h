/*
 * Tracepoints in modules. A header declares them, one .c file defines them:
 *
 *	DECLARE_TRACE(subsys_event, TP_PROTO(int firstarg), TP_ARGS(firstarg));   // in the header
 *	DEFINE_TRACE(subsys_event);                                               // in one .c file
 *
 * DEFINE_TRACE needs the name alone, as in the first years of tracepoints, because the declaration says the rest; the
 * prototype and the arguments may stand behind it, as today.
 */
#pragma once

#include <linux/module.h>
#include <linux/types.h>
#include <trace/tracepoint.h>

#ifdef MODULE
/* The walk through the probes stands beside the declaration: there the prototype is known. */
#define __TRACE_WALK(name, data_proto, data_args)                                                             \
	static notrace __maybe_unused void __tracewalk_##name(data_proto)                                     \
	{                                                                                                     \
		preempt_disable_notrace();                                                                    \
		for (struct tracepoint_func *it = READ_ONCE(__tracepoint_##name.funcs); it && it->func; it++) \
			((void (*)(data_proto))it->func)(data_args);                                          \
		preempt_enable_notrace();                                                                     \
	}
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)                                 \
	DECLARE_TRACE_CONDITION(name, PARAMS(proto), PARAMS(args), true) \
	__TRACE_WALK(name, PARAMS(void *data, proto), PARAMS(it->data, args))
/* A call that hands over nothing: trace_NAME(), and probes have their data alone. */
#define DECLARE_TRACE_NOARGS(name)                          \
	__DECLARE_TRACE(name, void, void *data, NULL, true) \
	__TRACE_WALK(name, void *data, it->data)
#undef DEFINE_TRACE
#define DEFINE_TRACE(name, ...)                                                                              \
	struct tracepoint __tracepoint_##name = {#name, STATIC_KEY_INIT, NULL, NULL, NULL};                  \
	static const struct tracepoint *const __tracepoint_ptr_##name __used __section("ptrs_tracepoints") = \
		&__tracepoint_##name;                                                                        \
	extern __typeof__(__traceiter_##name) __traceiter_##name __attribute__((alias("__tracewalk_" #name)))
#endif

/* For other modules, which put probes on it or call it. */
#define EXPORT_TRACEPOINT_SYMBOL(name)      \
	EXPORT_SYMBOL(__tracepoint_##name); \
	EXPORT_SYMBOL(__traceiter_##name)
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name)      \
	EXPORT_SYMBOL_GPL(__tracepoint_##name); \
	EXPORT_SYMBOL_GPL(__traceiter_##name)
