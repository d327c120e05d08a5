/*
 * The events of each system call by name (sys_enter_openat, sys_exit_openat), made from the machine's list of calls.
 * There are some hundred of them, but only two tracepoints. So an array has one probe for all beginnings and one for
 * all ends: the probe finds the event by the call's number, and looks whether that one is on.
 *
 *	kernel/fs/open.c		SYSCALL_DEFINE4(openat, int, dfd, const char __user *, filename, ...)
 *	tools/syscall_table.py makes	SYSCALL(56, openat, 4, int, dfd, const char __user *, filename, ...)
 *	  here, by macros		two events, their fields, their place in syscall_events[56]
 */
#include <asm/ptrace.h>
#include <asm/syscall_abi.h>
#include <kernel/init.h>
#include <lib/string.h>
#include <proc/syscall.h>
#include <trace/events/syscalls.h>

#include "core/record.h"
#include "output/iter.h"
#include "events/event_file.h"

/*
 * The two kinds of record. Both begin with the call's number, and the text of their fields says so, too. The arguments
 * stay as they are in the registers, a word each, whatever their type.
 */
struct syscall_trace_enter {
	struct trace_entry ent;
	int nr;
	unsigned long args[];
};
struct syscall_trace_exit {
	struct trace_entry ent;
	int nr;
	long ret;
};
#define SYSCALL_NR_FIELD                                                                               \
	{                                                                                              \
		"int", "__syscall_nr", offsetof(struct syscall_trace_enter, nr), 4, true, FILTER_OTHER \
	}
static_assert(offsetof(struct syscall_trace_enter, nr) == offsetof(struct syscall_trace_exit, nr));

/* ---- Texts: sys_NAME(ARGUMENT: VALUE, ...), and sys_NAME -> VALUE */

/* The name of the call: the event's name without "sys_enter_" or "sys_exit_". */
static const char *name_of(struct trace_iterator *iter, const char *prefix)
{
	return trace_event_of_type(iter->ent->type)->name + strlen(prefix);
}

/*
 * "sys_openat(dfd: ffffff9c, filename: 7ffd..., flags: 0, mode: 0)". The first field is the number, which the name
 * tells already, so it is left out. With the option verbose the types are printed, too.
 */
static void print_enter(struct seq_file *s, struct trace_iterator *iter)
{
	const struct syscall_trace_enter *entry = trace_iter_entry(iter);
	const struct trace_event_field *f = trace_event_of_type(iter->ent->type)->class->fields() + 1;
	bool verbose = iter->tr->trace_flags & TRACE_ITER(VERBOSE);

	seq_printf(s, "sys_%s(", name_of(iter, "sys_enter_"));
	for (unsigned i = 0; f[i].name; i++)
		seq_printf(s, "%s%s%s%s: %lx", i ? ", " : "", verbose ? f[i].type : "", verbose ? " " : "", f[i].name,
			   entry->args[i]);
	seq_puts(s, ")\n");
}

/* "sys_openat -> 0x3"; an error is the errno as a negative number, in hexadecimal as in Linux. */
static void print_exit(struct seq_file *s, struct trace_iterator *iter)
{
	const struct syscall_trace_exit *entry = trace_iter_entry(iter);

	seq_printf(s, "sys_%s -> 0x%lx\n", name_of(iter, "sys_exit_"), (unsigned long)entry->ret);
}

/* ---- On and off: event_mutex held */

static int reg_enter(struct trace_event_file *file, bool on);
static int reg_exit(struct trace_event_file *file, bool on);

/* ---- The events. Of n pairs of type and name: m(type, name) for each, `between` between them. */

#define EACH0(m, between, ...)
#define EACH1(m, between, t, a, ...) m(t, a)
#define EACH2(m, between, t, a, ...) m(t, a) between EACH1(m, between, __VA_ARGS__)
#define EACH3(m, between, t, a, ...) m(t, a) between EACH2(m, between, __VA_ARGS__)
#define EACH4(m, between, t, a, ...) m(t, a) between EACH3(m, between, __VA_ARGS__)
#define EACH5(m, between, t, a, ...) m(t, a) between EACH4(m, between, __VA_ARGS__)
#define EACH6(m, between, t, a, ...) m(t, a) between EACH5(m, between, __VA_ARGS__)
#define EACH(n, m, between, ...)     EACH##n(m, between, __VA_ARGS__)

/*
 * What one argument becomes in each place. For "int, dfd" of openat:
 *
 *	MEMBER		unsigned long dfd;
 *	FIELD		{"int", "dfd", offsetof(record, dfd), 8, false, FILTER_OTHER},
 *	FORMAT		"dfd: 0x%08lx"
 *	FORMAT_ARG	, ((unsigned long)(REC->dfd))
 */
#define MEMBER(t, a)	 unsigned long a;
#define FIELD(t, a)	 {#t, #a, offsetof(record, a), sizeof(unsigned long), false, FILTER_OTHER},
#define FORMAT(t, a)	 #a ": 0x%08lx"
#define FORMAT_ARG(t, a) ", ((unsigned long)(REC->" #a "))"

/* All ends have the same record, so one class serves them. */
static const struct trace_event_field *fields_of_exits(void)
{
	static const struct trace_event_field fields[] = {
		SYSCALL_NR_FIELD,
		{"long", "ret", offsetof(struct syscall_trace_exit, ret), sizeof(long), true, FILTER_OTHER},
		{},
	};

	return fields;
}
static const struct trace_event_class class_of_exits = {
	.system = "syscalls",
	.fields = fields_of_exits,
	.print = print_exit,
	.print_fmt = "\"0x%lx\", REC->ret",
	.names_itself = true,
	.reg = reg_exit,
};

/* An event: the struct, and a pointer to it in the linker's table, whose order numbers the events. */
#define EVENT(event, of_class, point)                                                                            \
	static const struct trace_event_call event_##event = {                                                   \
		.name = #event,                                                                                  \
		.class = &(of_class),                                                                            \
		.tp = &__tracepoint_##point,                                                                     \
	};                                                                                                       \
	static const struct trace_event_call *const __event_ptr_##event __used __section("ptrs_ftrace_events") = \
		&event_##event;

/* Linux's kernel has other names for these three, and they show in the fields' types. */
#define timespec  __kernel_timespec
#define timeval	  __kernel_old_timeval
#define itimerval __kernel_old_itimerval

/*
 * First reading: for each call the fields and the class of its beginning, and both events. `record` is never used as a
 * type of a variable; it only gives each argument its offset.
 */
#define SYSCALL(nr, name, nargs, ...)                                                                                 \
	static const struct trace_event_field *enter_fields_##name(void)                                              \
	{                                                                                                             \
		typedef struct {                                                                                      \
			struct syscall_trace_enter __head;                                                            \
			EACH(nargs, MEMBER, , __VA_ARGS__)                                                            \
		} record __maybe_unused;                                                                              \
		static const struct trace_event_field fields[] = {SYSCALL_NR_FIELD,                                   \
								  EACH(nargs, FIELD, , __VA_ARGS__){}};               \
		return fields;                                                                                        \
	}                                                                                                             \
	static const struct trace_event_class enter_class_##name = {                                                  \
		.system = "syscalls",                                                                                 \
		.fields = enter_fields_##name,                                                                        \
		.print = print_enter,                                                                                 \
		.print_fmt = "\"" EACH(nargs, FORMAT, ", ", __VA_ARGS__) "\"" EACH(nargs, FORMAT_ARG, , __VA_ARGS__), \
		.names_itself = true,                                                                                 \
		.reg = reg_enter,                                                                                     \
	};                                                                                                            \
	EVENT(sys_exit_##name, class_of_exits, sys_exit)                                                              \
	EVENT(sys_enter_##name, enter_class_##name, sys_enter)
#include <generated/syscall_table.h>
#undef SYSCALL

/*
 * Second reading: the events by the number of the call. An event's place in the linker's table is also its place among
 * an array's files. NULL: there is no such call.
 */
struct syscall_events {
	const struct trace_event_call *const *enter, *const *exit;
	unsigned nargs;
};
static const struct syscall_events syscall_events[NR_SYSCALLS] = {
#define SYSCALL(nr, name, nargs, ...) [nr] = {&__event_ptr_sys_enter_##name, &__event_ptr_sys_exit_##name, nargs},
#include <generated/syscall_table.h>
#undef SYSCALL
};

/* Declared in event_file.h. */
static const char *syscall_name(u64 nr)
{
	return nr < NR_SYSCALLS && syscall_events[nr].enter ? (*syscall_events[nr].enter)->name + strlen("sys_enter_")
							    : NULL;
}

static int syscall_name_init(void)
{
	trace_syscall_name = syscall_name;
	return 0;
}
early_initcall(syscall_name_init);

/* ---- Probes: data is the array's set of events. Thread context, preemption off. */

/* The array's file of this event. NULL: the event is off, or does not exist. */
static struct trace_event_file *find_on(struct trace_event_set *set, const struct trace_event_call *const *event)
{
	struct trace_event_file *file;

	if (!event)
		return NULL;
	file = &set->files[event - __start_ptrs_ftrace_events];
	return READ_ONCE(file->flags) & EVENT_FILE_ENABLED ? file : NULL;
}

/* The record gets as many arguments as the call takes, straight from the registers of the caller. */
static __always_inline void fill_enter(struct syscall_trace_enter *entry, struct pt_regs *regs, int nr, unsigned nargs)
{
	entry->nr = nr;
	for (unsigned i = 0; i < nargs; i++)
		entry->args[i] = syscall_get_arg(regs, i);
}

/*
 * The general way to a record, for events with a filter, triggers or options. It stands apart so that the usual way
 * saves no registers; `fp` is the probe's frame, where a stack begins.
 */
static noinline void enter_general(struct trace_event_file *file, struct pt_regs *regs, int nr, unsigned nargs,
				   unsigned len, unsigned long fp)
{
	struct trace_event_buffer buffer;
	void *entry = trace_event_begin(&buffer, file, len);

	if (!entry)
		return;
	fill_enter(entry, regs, nr, nargs);
	trace_event_end(&buffer, fp);
}

/*
 * Called on the way into each system call while the array has any such event on. The record has the length of the
 * call's arguments. An event without filter, trigger or options goes the short way; when the short way finds no room,
 * or anything else in its way, the general one does the work.
 *
 * The barrier at the end keeps the call of enter_general() from becoming a jump: the probe's frame must exist while the
 * stack is walked.
 */
static void enter_probe(void *set, struct pt_regs *regs, long id)
{
	struct trace_event_opened opened;
	struct trace_event_file *file;
	unsigned nargs, len;
	void *entry;

	if ((unsigned long)id >= NR_SYSCALLS)
		return;
	file = find_on(set, syscall_events[id].enter);
	if (!file)
		return;
	nargs = syscall_events[id].nargs;
	len = sizeof(struct syscall_trace_enter) + nargs * sizeof(long);
	if (trace_event_is_plain(file)) {
		entry = trace_event_open(&opened, file, len);
		if (likely(entry)) {
			fill_enter(entry, regs, id, nargs);
			trace_event_close(&opened);
			return;
		}
		trace_event_leave(file);
	}
	enter_general(file, regs, id, nargs, len, arch_caller_fp());
	barrier();
}

/* The same for the end of a call. */
static noinline void exit_general(struct trace_event_file *file, int nr, long ret, unsigned long fp)
{
	struct syscall_trace_exit *entry;
	struct trace_event_buffer buffer;

	entry = trace_event_begin(&buffer, file, sizeof(*entry));
	if (!entry)
		return;
	entry->nr = nr;
	entry->ret = ret;
	trace_event_end(&buffer, fp);
}

/* On the way out. A number that we do not have was refused with ENOSYS and has no event. */
static void exit_probe(void *set, struct pt_regs *regs, long ret)
{
	struct trace_event_opened opened;
	struct syscall_trace_exit *entry;
	struct trace_event_file *file;
	int nr = syscall_get_nr(regs);

	if ((unsigned)nr >= NR_SYSCALLS)
		return;
	file = find_on(set, syscall_events[nr].exit);
	if (!file)
		return;
	if (trace_event_is_direct(file, sizeof(*entry))) {
		entry = trace_event_open(&opened, file, sizeof(*entry));
		if (likely(entry)) {
			entry->nr = nr;
			entry->ret = ret;
			trace_event_close(&opened);
			return;
		}
		trace_event_leave(file);
	}
	exit_general(file, nr, ret, arch_caller_fp());
	barrier();
}

/*
 * The first event of an array registers the probe, and the last one removes it. 0 or -errno; the sites change at the
 * next trace_events_complete(). event_mutex held.
 */
static int reg_counted(struct trace_event_file *file, bool on, unsigned which, void *probe)
{
	struct trace_event_set *set = file->tr->events;
	unsigned *count = &set->nr_syscalls_on[which];
	int ret = 0;

	if (on && !*count)
		ret = tracepoint_probe_register_later(file->call->tp, probe, set);
	if (!on && *count == 1)
		ret = tracepoint_probe_unregister_later(file->call->tp, probe, set);
	if (!ret)
		*count += on ? 1 : -1;
	return ret;
}

static int reg_enter(struct trace_event_file *file, bool on)
{
	return reg_counted(file, on, 0, (void *)enter_probe);
}

static int reg_exit(struct trace_event_file *file, bool on)
{
	return reg_counted(file, on, 1, (void *)exit_probe);
}
