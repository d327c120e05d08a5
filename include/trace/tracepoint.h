/*
 * Tracepoints: named places where the kernel tells whoever listens what happens. A header declares one with its
 * prototype, one .c file defines it, probes of exactly that type register and unregister at run time. With no probe the
 * place is a patched nop and its arguments are not evaluated.
 *
 *     DECLARE_TRACE(sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));   // in include/trace/events/sched.h
 *     DEFINE_TRACE(sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));    // in the .c that owns it
 *     trace_sched_wakeup(p);                                                      // the place
 *     register_trace_sched_wakeup(probe, data);  // void probe(void *data, struct task_struct *p)
 *
 * DEFINE_TRACE_FN names two functions besides: one that is called before the first probe is there (its -errno refuses
 * the probe), one when the last is gone. Both may sleep; the lock of all registrations is held. Static keys that they
 * count (static_key_inc_later) are switched with the tracepoint's own.
 *
 * Probes run with preemption off and must follow the rules of the context they are called in. After unregister,
 * tracepoint_synchronize_unregister() waits until no probe can be running any more.
 */
#pragma once

#include <kernel/export.h>
#include <kernel/jump_label.h>
#include <lib/types.h>
#include <sched/preempt.h>

/* One probe; an array of them ends with func NULL and is replaced as a whole (RCU). */
struct tracepoint_func {
	void *func;
	void *data;
};
struct tracepoint {
	const char *name;	       /* [immutable] */
	struct static_key key;	       /* on while there is a probe */
	int (*regfunc)(void);	       /* [immutable] before the key goes on; NULL: nothing to do */
	void (*unregfunc)(void);       /* [immutable] no probe is left; the key goes off with the next switch */
	struct tracepoint_func *funcs; /* [tracepoints_mutex for changes, RCU for callers] NULL: none */
};

/* -EEXIST when this pair is there already, -ENOMEM; unregister: -ENOENT when it is not, nothing else. Thread context;
 * sleep. */
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data);
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data);
void tracepoint_synchronize_unregister(void);
/* A tracepoint of the kernel itself that has a probe whose data lies in these bytes: its name, or NULL. Any context. */
const char *tracepoint_with_data(const void *start, size_t size);
/* Call fn for each tracepoint of the kernel itself, in no particular order. */
void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *priv), void *priv);
/*
 * The same for many probes: each of these publishes its change, and tracepoint_switch() completes all that were made
 * since, in one stop of the machine and at most one grace period. Until then a first probe need not be called yet, and
 * a probe that was removed may still be.
 */
int tracepoint_probe_register_later(struct tracepoint *tp, void *probe, void *data);
int tracepoint_probe_unregister_later(struct tracepoint *tp, void *probe, void *data);
void tracepoint_switch(void);

/*
 * A set of probes with the same data, in one stop. Registered in this order, removed in the opposite one: all of them,
 * or a -errno and no probe of them can be running any more, as after unregister. Thread context; sleep.
 */
struct tracepoint_probe {
	struct tracepoint *tp;
	void *probe;
};
int tracepoint_probes_register(const struct tracepoint_probe *probes, unsigned n, void *data);
void tracepoint_probes_unregister(const struct tracepoint_probe *probes, unsigned n, void *data);

#define TP_PROTO(...) __VA_ARGS__
#define TP_ARGS(...)  __VA_ARGS__

/*
 * For an array of pointers to constant texts, of which records keep the address alone: the file printk_formats lists
 * them, for readers of raw records.
 */
#define __tracepoint_string __used __section("ptrs_printk_formats")

#define TP_CONDITION(...) __VA_ARGS__
#define PARAMS(...)	  __VA_ARGS__

/* Is there a probe? make NOEVENTS=1 leaves out all places where that is asked, to measure what they cost. */
#ifdef NO_TRACEPOINTS
#define tracepoint_key_on(key) false
#else
#define tracepoint_key_on(key) static_key_false(key)
#endif

/* With a condition that is asked for at the place, only when there is a probe. */
#define DECLARE_TRACE(name, proto, args) DECLARE_TRACE_CONDITION(name, PARAMS(proto), PARAMS(args), true)
#define DECLARE_TRACE_CONDITION(name, proto, args, cond) \
	__DECLARE_TRACE(name, PARAMS(proto), PARAMS(void *data, proto), PARAMS(NULL, args), PARAMS(cond))
/* data_proto, data_args: those of a probe, which has its data before the others. */
#define __DECLARE_TRACE(name, proto, data_proto, data_args, cond)                              \
	extern struct tracepoint __tracepoint_##name;                                          \
	void __traceiter_##name(data_proto);                                                   \
	static __always_inline void trace_##name(proto)                                        \
	{                                                                                      \
		if (tracepoint_key_on(&__tracepoint_##name.key) && (cond))                     \
			__traceiter_##name(data_args);                                         \
	}                                                                                      \
	static __always_inline bool trace_##name##_enabled(void)                               \
	{                                                                                      \
		return tracepoint_key_on(&__tracepoint_##name.key);                            \
	}                                                                                      \
	static inline int register_trace_##name(void (*probe)(data_proto), void *data)         \
	{                                                                                      \
		return tracepoint_probe_register(&__tracepoint_##name, (void *)probe, data);   \
	}                                                                                      \
	static inline int unregister_trace_##name(void (*probe)(data_proto), void *data)       \
	{                                                                                      \
		return tracepoint_probe_unregister(&__tracepoint_##name, (void *)probe, data); \
	}

/* Modules may put probes on all tracepoints of the kernel, and call their own. */
#ifdef MODULE
#define EXPORT_TRACEPOINT(name)
#else
#define EXPORT_TRACEPOINT(name) EXPORT_SYMBOL_GPL(__tracepoint_##name);
#endif

/*
 * Once, in the .c that owns the tracepoint. __traceiter_NAME calls the only probe, keeping nothing, or jumps to who
 * calls several: to a walk of the stack both look the same. Not traced. What the array's address leads to is there
 * before the address is (publish_funcs), so a plain read of that does.
 */
#define DEFINE_TRACE(name, proto, args) DEFINE_TRACE_FN(name, NULL, NULL, PARAMS(proto), PARAMS(args))
#define DEFINE_TRACE_FN(name, reg, unreg, proto, args)                                                       \
	struct tracepoint __tracepoint_##name = {#name, STATIC_KEY_INIT, reg, unreg, NULL};                  \
	static const struct tracepoint *const __tracepoint_ptr_##name __used __section("ptrs_tracepoints") = \
		&__tracepoint_##name;                                                                        \
	EXPORT_TRACEPOINT(name)                                                                              \
	static notrace noinline void __traceeach_##name(void *funcs, proto)                                  \
	{                                                                                                    \
		for (struct tracepoint_func *it = funcs; it->func; it++)                                     \
			((void (*)(void *, proto))it->func)(it->data, args);                                 \
		preempt_enable_notrace();                                                                    \
	}                                                                                                    \
	notrace noinline void __traceiter_##name(void *unused, proto)                                        \
	{                                                                                                    \
		struct tracepoint_func *funcs;                                                               \
                                                                                                             \
		preempt_disable_notrace();                                                                   \
		funcs = __tracepoint_##name.funcs;                                                           \
		barrier(); /* read once: not through a volatile, which costs an instruction */               \
		if (likely(funcs)) {                                                                         \
			if (funcs[1].func) {                                                                 \
				__traceeach_##name(funcs, args);                                             \
				return;                                                                      \
			}                                                                                    \
			((void (*)(void *, proto))funcs->func)(funcs->data, args);                           \
		}                                                                                            \
		preempt_enable_notrace();                                                                    \
	}

/*
 * Tracepoints that are recorded (<trace/trace_events.h>). At first sight of a header they are tracepoints like any
 * other; <trace/define_trace.h> reads it again.
 */
#define TRACE_DEFINE_ENUM(name)
#define TRACE_DEFINE_SIZEOF(type)
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)
#define DEFINE_EVENT(class, name, proto, args)		      DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_FN(class, name, proto, args, reg, unreg) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_PRINT(class, name, proto, args, print)   DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define DEFINE_EVENT_CONDITION(class, name, proto, args, cond) \
	DECLARE_TRACE_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT(name, proto, args, tstruct, assign, print) DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	DECLARE_TRACE_CONDITION(name, PARAMS(proto), PARAMS(args), PARAMS(cond))
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg) \
	DECLARE_TRACE(name, PARAMS(proto), PARAMS(args))
