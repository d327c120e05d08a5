/*
 * Function commands ("schedule:traceoff:5"): when a function is called, tracing is switched, a stack is kept, or the
 * trace is dumped. For each command of an array there are at most two users of functions (struct func_probe with its
 * ftrace_ops): one for functions with a count, one for functions without. The user's filter says which functions have
 * the command. No tracer need be selected.
 *
 * What belongs to a function (its count, its event) lies in `slots`, an array that is indexed by the number of the
 * site. Users and their filters change while the machine is stopped, and no CPU is on its way to a callback then. So a
 * slot is written before its function is in the filter, and freed once the function is out of the filter, without
 * waiting for anybody.
 *
 *	set_ftrace_filter: "sys_*:traceoff:3"
 *	  func_probe {traceoff, counted}   ops.filter = {sys_open, sys_read, ...}
 *	                                   slots[site of sys_open].count = 3, slots[site of sys_read].count = 3, ...
 */
#include <arch/ftrace.h>
#include <kernel/panic.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "events/trigger.h"
#include "ftrace/internal.h"
#include "core/aside.h"
#include "records/records.h"
#include "function_commands.h"

struct func_probe;

/*
 * The event of enable_event or disable_event. All functions that one write named share it, and its count, as in Linux.
 */
struct event_switch {
	struct trace_event_file *file; /* [I] */
	unsigned long count;	       /* [a] TRIGGER_UNLIMITED */
	unsigned functions;	       /* [e] how many functions have it; it is freed with the last one */
};

/* What one function of a probe has: a count, or, with a command for an event, that event. */
union func_slot {
	unsigned long count;	    /* [a] left */
	struct event_switch *event; /* [e; read by the callback] */
};

/* A command by its name, and what happens when a function that has it is called. */
struct func_command {
	const char *name;
	bool on;				/* of two opposite commands: does this one switch on? */
	bool of_event;				/* the parameters begin with an event */
	bool once;				/* its count is always 1, whatever the parameter says */
	bool never;				/* it has no count, whatever the parameter says */
	int (*prepare)(struct trace_array *tr); /* NULL, or before the first call. 0 or -errno */
	/*
	 * The function was called. Any context in which functions are traced, preemption off; it must not lock or
	 * allocate. slot: NULL without count and event.
	 */
	void (*fire)(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs);
};

/* Locks: e event_mutex; I immutable. */
struct func_probe {
	struct func_probe *next;	    /* [e] tr->func_probes, the newest first */
	struct trace_array *tr;		    /* [I] */
	const struct func_command *command; /* [I] */
	bool counted;			    /* [I] */
	struct ftrace_ops ops;		    /* [e] its filter: the functions */
	union func_slot *slots; /* [I] one a record of ftrace; those in the filter mean something. NULL: not needed */
};

/* ---- What the commands do */

static void fire_onoff(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs)
{
	trace_switch_counted(probe->tr, probe->command->on, slot ? &slot->count : NULL);
}

static void fire_event(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs)
{
	trace_event_switch_counted(slot->event->file, probe->command->on, &slot->event->count);
}

/* tracing_arm_snapshot() has allocated the second buffer when the command was written, so nothing is allocated here. */
static void fire_snapshot(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs)
{
	if (!slot || trace_count_take(&slot->count))
		tracing_snapshot_instance(probe->tr);
}

/*
 * The stack begins with the traced function itself. While nothing is recorded the count is not lowered, so that it
 * counts stacks that a reader finds.
 */
static void fire_stacktrace(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs)
{
	if (!tracer_tracing_is_on(probe->tr) || (slot && !trace_count_take(&slot->count)))
		return;
	trace_stack_from(probe->tr, preempt_count() - PREEMPT_OFFSET, arch_local_save_flags(), 0,
			 ftrace_regs_frame(fregs));
}

/*
 * Prints to the console, so it must not be set on functions that the console's drivers call under their locks. A
 * counted dump is of all CPUs; "cpudump" is of this CPU.
 */
static void fire_dump(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs)
{
	if (!slot || trace_count_take(&slot->count))
		ftrace_dump(slot ? DUMP_ALL : DUMP_ORIG);
}

static const struct func_command commands[] = {
	{.name = "traceon", .on = true, .fire = fire_onoff},
	{.name = "traceoff", .on = false, .fire = fire_onoff},
	{.name = "snapshot", .prepare = tracing_arm_snapshot, .fire = fire_snapshot},
	{.name = "stacktrace", .fire = fire_stacktrace},
	{.name = "dump", .once = true, .fire = fire_dump},
	{.name = "cpudump", .never = true, .fire = fire_dump},
	{.name = "enable_event", .on = true, .of_event = true, .fire = fire_event},
	{.name = "disable_event", .on = false, .of_event = true, .fire = fire_event},
};

/*
 * The callback of every probe. The core has already made sure that it is not called from inside itself or any tracer.
 */
static void call_probe(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct func_probe *probe = op->private;

	probe->command->fire(probe, probe->slots ? &probe->slots[ftrace_rec_of(ip)] : NULL, fregs);
}

/* ---- Probes and their functions. event_mutex held. */

static struct func_probe *find_probe(struct trace_array *tr, const struct func_command *command, bool counted)
{
	struct func_probe *probe = tr->func_probes;

	while (probe && (probe->command != command || probe->counted != counted))
		probe = probe->next;
	return probe;
}

/* The probe is not registered any more, or was never. */
static void free_probe(struct func_probe *probe)
{
	ftrace_free_filter(&probe->ops);
	kvfree(probe->slots);
	kfree(probe);
}

/* A new probe, which is not in the list yet. NULL: no memory. */
static struct func_probe *alloc_probe(struct trace_array *tr, const struct func_command *command, bool counted)
{
	struct func_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;
	probe->tr = tr;
	probe->command = command;
	probe->counted = counted;
	probe->ops.func = call_probe;
	probe->ops.name = command->name;
	probe->ops.private = probe;
	if (counted || command->of_event) {
		probe->slots = kvzalloc(ftrace_nr_recs * sizeof(*probe->slots), GFP_KERNEL);
		if (!probe->slots) {
			free_probe(probe);
			return NULL;
		}
	}
	return probe;
}

static bool in_set(const struct ftrace_set *set, unsigned rec)
{
	return set->count && test_bit(rec, set->bits);
}

/*
 * `set`, which is not empty, becomes the filter, and *set gets the filter that was there before. The first set of a
 * probe registers it and puts it into the array's list. 0; or -errno and nothing has changed.
 */
static int put_in_force(struct func_probe *probe, struct ftrace_set *set)
{
	int ret;

	if (probe->ops.filter.count) {
		mutex_lock(&ftrace_lock);
		ret = ftrace_ops_replace_set(&probe->ops, &probe->ops.filter, set);
		mutex_unlock(&ftrace_lock);
		return ret;
	}
	swap(probe->ops.filter, *set);
	ret = register_ftrace_function(&probe->ops);
	if (ret) {
		swap(probe->ops.filter, *set);
		return ret;
	}
	probe->next = probe->tr->func_probes;
	probe->tr->func_probes = probe;
	return 0;
}

/* One more function has this event. The first one makes sure that the event's probe is registered, recording or not. */
static int event_switch_get(struct event_switch *event)
{
	int ret = 0;

	if (!event->functions++) {
		ret = trace_event_hold_other_later(event->file);
		trace_events_complete(event->file->tr->events);
	}
	return ret;
}

/*
 * One function less. The caller calls trace_events_complete() after the last of them, so that many functions cost one
 * stop of the machine.
 */
static void event_switch_put_later(struct event_switch *event)
{
	if (--event->functions)
		return;
	trace_event_release_other_later(event->file);
	kfree(event);
}

/* Undoes event_switch_get() after an error. The struct itself stays the caller's. */
static void give_event_back(struct trace_event_file *file)
{
	trace_event_release_other_later(file);
	trace_events_complete(file->tr->events);
}

/*
 * Functions of `set` that the probe does not have yet get `slot`. Functions that it has keep theirs, so a second write
 * does not reset a count that is running down. No CPU reads the new slots before put_in_force().
 */
static void fill_slots(struct func_probe *probe, const struct ftrace_set *set, union func_slot slot)
{
	for (unsigned rec = 0; probe->slots && rec < ftrace_nr_recs; rec++) {
		if (!in_set(set, rec) || in_set(&probe->ops.filter, rec))
			continue;
		probe->slots[rec] = slot;
		if (probe->command->of_event)
			slot.event->functions++;
	}
}

/* The probe's filter as it is now: with the lock, as a module that goes changes it, too. 0, -ENOMEM. */
static int copy_filter(struct ftrace_set *set, struct func_probe *probe)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_set_copy(set, &probe->ops.filter);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/*
 * *set becomes the probe's filter with the functions of `glob` added, or taken away. -EINVAL: the pattern matches
 * nothing, or nothing that is not so already. A function gets a command only if text_goes() will be told when its text
 * goes: the state of its module changes before that, and event_mutex is held here and there.
 */
static int match_other(struct func_probe *probe, const char *glob, struct ftrace_set *set, bool add)
{
	int ret = copy_filter(set, probe);
	unsigned before = set->count;

	if (!ret && add)
		ret = ftrace_set_match_staying(set, glob, &probe->ops.filter);
	else if (!ret)
		ret = ftrace_set_match(set, glob, false);
	return ret ?: set->count == before ? -EINVAL : 0;
}

/*
 * Gives the command to the functions that match. slot.event->functions is raised once before the functions are counted,
 * and lowered after, so that it cannot fall to zero halfway. slot.event stays the caller's unless this returns 0.
 */
static int add_functions(struct func_probe *probe, const char *glob, union func_slot slot)
{
	const struct func_command *command = probe->command;
	struct ftrace_set set = {};
	int ret = match_other(probe, glob, &set, true);

	if (!ret && command->prepare)
		ret = command->prepare(probe->tr);
	if (!ret && command->of_event)
		ret = event_switch_get(slot.event);
	if (!ret) {
		fill_slots(probe, &set, slot);
		ret = put_in_force(probe, &set);
		if (command->of_event && !ret)
			slot.event->functions--; /* ours */
		else if (command->of_event)
			give_event_back(slot.event->file);
	}
	ftrace_set_clear(&set);
	return ret;
}

/* Finds the command's probe or makes one, and removes it again when no function got the command. */
static int add_command(struct trace_array *tr, const struct func_command *command, bool counted, const char *glob,
		       union func_slot slot)
{
	struct func_probe *old = find_probe(tr, command, counted), *probe = old ?: alloc_probe(tr, command, counted);
	int ret = probe ? add_functions(probe, glob, slot) : -ENOMEM;

	if (ret && probe && !old)
		free_probe(probe);
	return ret;
}

static void unlink_probe(struct func_probe *probe)
{
	struct func_probe **p = &probe->tr->func_probes;

	while (*p != probe)
		p = &(*p)->next;
	*p = probe->next;
}

/*
 * Only the functions in `set`, a part of the filter, keep the command; *set is the old filter afterwards. 0; or -errno
 * and nothing has changed. When ftrace has given up (-ENODEV) the user is gone all the same, and what it held must be
 * given back.
 */
static int leave_functions(struct func_probe *probe, struct ftrace_set *set)
{
	int ret;

	if (set->count)
		return put_in_force(probe, set);
	ret = unregister_ftrace_function(&probe->ops);
	if (ret && ret != -ENODEV)
		return ret;
	swap(probe->ops.filter, *set);
	unlink_probe(probe);
	return 0;
}

/*
 * As leave_functions(), and what the other functions had is given back. It is safe to free at once, as no CPU can be
 * inside call_probe() for them. A probe without functions is freed.
 */
static int keep_functions(struct func_probe *probe, struct ftrace_set *set)
{
	int ret = leave_functions(probe, set);

	if (ret)
		return ret;
	for (unsigned rec = 0; probe->command->of_event && rec < ftrace_nr_recs; rec++)
		if (in_set(set, rec) && !in_set(&probe->ops.filter, rec))
			event_switch_put_later(probe->slots[rec].event);
	trace_events_complete(probe->tr->events);
	if (!probe->ops.filter.count)
		free_probe(probe);
	return 0;
}

static int remove_functions(struct func_probe *probe, const char *glob)
{
	struct ftrace_set set = {};
	int ret = match_other(probe, glob, &set, false);

	if (!ret)
		ret = keep_functions(probe, &set);
	ftrace_set_clear(&set);
	return ret;
}

/*
 * Functions whose text goes, that of init or all of a module's, lose their commands. Without memory for that, ftrace
 * takes the functions out of the filters all the same; what they had stays allocated.
 */
static void text_goes(struct module *mod)
{
	struct func_probe *probe, *next;
	struct trace_array *tr;

	mutex_lock(&event_mutex);
	for_each_trace_array(tr)
		for (probe = tr->func_probes; probe; probe = next) {
			struct ftrace_set set = {};

			next = probe->next;
			if (!copy_filter(&set, probe) && ftrace_set_leave(&set, mod))
				keep_functions(probe, &set);
			ftrace_set_clear(&set);
		}
	mutex_unlock(&event_mutex);
}
static const struct module_notifier command_notifier = {.live = text_goes, .going = text_goes};
REGISTER_MODULE_NOTIFIER(command_notifier);

/* The array is removed. No memory is needed: an empty set cannot fail. */
static void ftrace_clear_commands(struct trace_array *tr)
{
	while (tr->func_probes) {
		struct ftrace_set none = {};

		if (WARN_ON(keep_functions(tr->func_probes, &none)))
			return;
		ftrace_set_clear(&none);
	}
}

/* ---- Reading a command. The text is cut into pieces where it lies. */

static const struct func_command *find_command(const char *name)
{
	for (unsigned i = 0; name && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

const char *ftrace_command_name(unsigned n, bool *of_event)
{
	if (n >= ARRAY_SIZE(commands))
		return NULL;
	*of_event = commands[n].of_event;
	return commands[n].name;
}

/* An empty pattern means every function that has the command ("!:traceoff"). -EINVAL: there is no such probe. */
static int remove_from(struct func_probe *probe, const char *glob)
{
	return probe ? remove_functions(probe, *glob ? glob : "*") : -EINVAL;
}

/*
 * Which of a command's two probes a line without its '!' means. The file prints ":unlimited" for a function without
 * count, so the word means the same here; ":count=3" and ":3" both mean a counted one, whatever is left of its count.
 */
static bool means_counted(const char *param)
{
	return param && strcmp(param, "unlimited");
}

/*
 * A line that says nothing of a count takes away a command without one, or else one with a count, as the documents of
 * Linux 2.6 have it; today's Linux refuses the second.
 */
static int remove_command(struct trace_array *tr, const struct func_command *command, const char *glob,
			  const char *param)
{
	bool counted = command->once || means_counted(param);
	int ret = remove_from(find_probe(tr, command, counted), glob);

	return ret == -EINVAL && !param && !counted ? remove_from(find_probe(tr, command, true), glob) : ret;
}

/*
 * A word behind another colon is ignored, as in Linux. Without a parameter there is no limit. 0, or -errno of a
 * number.
 */
static int parse_count(char *param, unsigned long *count)
{
	*count = TRIGGER_UNLIMITED;
	return param ? kstrtoul(strsep(&param, ":"), 0, count) : 0;
}

/* A command that is not about an event: "GLOB:traceoff", "GLOB:traceoff:3", "!GLOB:traceoff". event_mutex held. */
static int process_plain(struct trace_array *tr, const struct func_command *command, const char *glob, char *param)
{
	union func_slot slot = {.count = 1};
	int ret = 0;

	if (command->once || command->never || (param && !*param))
		param = NULL;
	if (*glob == '!')
		return remove_command(tr, command, glob + 1, param);
	if (!command->once)
		ret = parse_count(param, &slot.count);
	return ret ?: add_command(tr, command, slot.count != TRIGGER_UNLIMITED, glob, slot);
}

/* A command about an event: "GLOB:enable_event:SYSTEM:EVENT[:COUNT]", "!GLOB:enable_event:...". event_mutex held. */
static int process_event(struct trace_array *tr, const struct func_command *command, const char *glob, char *param)
{
	const char *system = strsep(&param, ":"), *name = strsep(&param, ":");
	struct trace_event_file *file = name ? trace_event_find(tr->events, system, name) : NULL;
	union func_slot slot;
	int ret;

	if (!file)
		return -EINVAL;
	if (*glob == '!')
		return remove_command(tr, command, glob + 1, param);
	slot.event = kzalloc(sizeof(*slot.event), GFP_KERNEL);
	if (!slot.event)
		return -ENOMEM;
	slot.event->file = file;
	ret = parse_count(param, &slot.event->count);
	if (!ret)
		ret = add_command(tr, command, slot.event->count != TRIGGER_UNLIMITED, glob, slot);
	if (ret)
		kfree(slot.event);
	return ret;
}

int ftrace_process_command(struct trace_array *tr, char *text)
{
	const char *glob = strsep(&text, ":");
	const struct func_command *command = find_command(strsep(&text, ":"));
	int ret;

	if (!command)
		return -EINVAL;
	if (!tr)
		return -ENODEV;
	mutex_lock(&event_mutex);
	ret = (command->of_event ? process_event : process_plain)(tr, command, glob, text);
	mutex_unlock(&event_mutex);
	return ret;
}

/* ---- Showing: function REC with the Nth probe has number N * ftrace_nr_recs + REC */

static struct func_probe *probe_at(struct trace_array *tr, loff_t pos)
{
	struct func_probe *probe = tr->func_probes;

	for (loff_t n = pos / ftrace_nr_recs; probe && n; n--)
		probe = probe->next;
	return probe;
}

/* event_mutex keeps the list of probes, ftrace_lock their filters; the caller holds both. */
bool ftrace_command_from(struct trace_array *tr, loff_t *pos)
{
	struct func_probe *probe = probe_at(tr, *pos);
	unsigned rec = *pos % ftrace_nr_recs;

	for (; probe; probe = probe->next, rec = 0) {
		loff_t first = *pos - *pos % ftrace_nr_recs;

		rec = find_next_bit(probe->ops.filter.bits, ftrace_nr_recs, rec);
		*pos = first + rec;
		if (rec < ftrace_nr_recs)
			return true;
	}
	return false;
}

/*
 * One line of set_ftrace_filter: the site, the command, and how often it may still act. pos: probe and record in one
 * number. The caller holds event_mutex and ftrace_lock.
 */
void ftrace_command_show(struct seq_file *m, struct trace_array *tr, loff_t pos)
{
	const struct func_probe *probe = probe_at(tr, pos);
	unsigned rec = pos % ftrace_nr_recs;
	unsigned long count = TRIGGER_UNLIMITED;

	seq_printf(m, "%s:%s", ftrace_rec_name(&ftrace_recs[rec]), probe->command->name);
	if (probe->command->of_event) {
		const struct event_switch *event = probe->slots[rec].event;

		seq_printf(m, ":%s:%s", event->file->call->class->system, event->file->call->name);
		count = READ_ONCE(event->count);
	} else if (probe->counted) {
		count = READ_ONCE(probe->slots[rec].count);
	}
	if (count == TRIGGER_UNLIMITED)
		seq_puts(m, ":unlimited\n");
	else
		seq_printf(m, ":count=%ld\n", count);
}

static const char *commands_left(const struct trace_array *tr)
{
	return tr->func_probes ? tr->func_probes->command->name : NULL;
}

static const struct trace_part commands_part = {.unhook = ftrace_clear_commands, .left = commands_left};
REGISTER_TRACE_PART(commands_part);
