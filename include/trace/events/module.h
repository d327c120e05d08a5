/* Tracepoints of modules that come and go, and of references to them. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM module

#if !defined(_TRACE_MODULE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MODULE_H

#include <kernel/module.h>
#include <trace/tracepoint.h>

/* Its init is about to run. */
TRACE_EVENT(module_load,
	TP_PROTO(struct module *mod),
	TP_ARGS(mod),
	TP_STRUCT__entry(
		__field(unsigned int, taints)
		__string(name, mod->name)
	),
	TP_fast_assign(
		__entry->taints = mod->taints;
		__assign_str(name);
	),
	TP_printk("%s %s", __get_str(name), __print_flags(__entry->taints, "", { 1, "P" }))
);

/* Its exit has returned, or its init has failed: its memory is about to be freed. A refused file has no such event. */
TRACE_EVENT(module_free,
	TP_PROTO(struct module *mod),
	TP_ARGS(mod),
	TP_STRUCT__entry(
		__string(name, mod->name)
	),
	TP_fast_assign(
		__assign_str(name);
	),
	TP_printk("%s", __get_str(name))
);

/* A reference: its count afterwards (1: the loader's own), and who took or dropped it. */
DECLARE_EVENT_CLASS(module_refcnt,
	TP_PROTO(struct module *mod, unsigned long ip),
	TP_ARGS(mod, ip),
	TP_STRUCT__entry(
		__field(unsigned long, ip)
		__field(int, refcnt)
		__string(name, mod->name)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->refcnt = atomic_read(&mod->refcnt);
		__assign_str(name);
	),
	TP_printk("%s call_site=%ps refcnt=%d", __get_str(name), (void *)__entry->ip, __entry->refcnt)
);
DEFINE_EVENT(module_refcnt, module_get, TP_PROTO(struct module *mod, unsigned long ip), TP_ARGS(mod, ip));
DEFINE_EVENT(module_refcnt, module_put, TP_PROTO(struct module *mod, unsigned long ip), TP_ARGS(mod, ip));

/* The kernel asks modprobe for a module, and waits for it or not. */
TRACE_EVENT(module_request,
	TP_PROTO(const char *name, bool wait, unsigned long ip),
	TP_ARGS(name, wait, ip),
	TP_STRUCT__entry(
		__field(unsigned long, ip)
		__field(bool, wait)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->wait = wait;
		__assign_str(name);
	),
	TP_printk("%s wait=%d call_site=%ps", __get_str(name), (int)__entry->wait, (void *)__entry->ip)
);

#endif

#include <trace/define_trace.h>
