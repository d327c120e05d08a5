/*
 * Function commands ("schedule:traceoff:5"): when a function is called, tracing is switched, a stack is kept, or the
 * trace is dumped. This file has what the commands do, how their text is read, and how they are listed; probe.c
 * knows which functions have which command. No tracer need be selected.
 */
#include <arch/ftrace.h>
#include <kernel/panic.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "triggers/trigger.h"
#include "ftrace/internal.h"
#include "core/aside.h"
#include "records/records.h"
#include "tracers/function_commands.h"
#include "commands.h"
#include "dear.h"

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
	if (dear_command_may_fire(DEAR_SNAPSHOT) && (!slot || trace_count_take(&slot->count)))
		tracing_snapshot_instance(probe->tr);
}

/*
 * The stack begins with the traced function itself. While nothing is recorded the count is not lowered, so that it
 * counts stacks that a reader finds.
 */
static void fire_stacktrace(struct func_probe *probe, union func_slot *slot, struct ftrace_regs *fregs)
{
	if (!tracer_tracing_is_on(probe->tr) || !dear_command_may_fire(DEAR_STACKTRACE) ||
	    (slot && !trace_count_take(&slot->count)))
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
	if (dear_command_may_fire(slot ? DEAR_DUMP : DEAR_CPUDUMP) && (!slot || trace_count_take(&slot->count)))
		ftrace_dump(slot ? DUMP_ALL : DUMP_ORIG);
}

static const struct func_command commands[] = {
	{.name = "traceon", .on = true, .fire = fire_onoff},
	{.name = "traceoff", .on = false, .fire = fire_onoff},
	{.name = "snapshot",
	 .prepare = tracing_arm_snapshot,
	 .unprepare = tracing_disarm_snapshot,
	 .fire = fire_snapshot},
	{.name = "stacktrace", .fire = fire_stacktrace},
	{.name = "dump", .once = true, .fire = fire_dump},
	{.name = "cpudump", .never = true, .fire = fire_dump},
	{.name = "enable_event", .on = true, .of_event = true, .fire = fire_event},
	{.name = "disable_event", .on = false, .of_event = true, .fire = fire_event},
};

/* ---- Reading a command. The text is cut into pieces where it lies. */

static const struct func_command *find_command(const char *name)
{
	for (unsigned i = 0; name && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static const char *command_name(unsigned n, bool *of_event)
{
	if (n >= ARRAY_SIZE(commands))
		return NULL;
	*of_event = commands[n].of_event;
	return commands[n].name;
}

/*
 * Which of a command's two probes a line without its '!' means. The file prints ":unlimited" for a function without
 * count, so the word means the same here; ":count=3" and ":3" both mean a counted one, whatever is left of its count.
 */
static bool means_counted(const char *param)
{
	return param && strcmp(param, "unlimited");
}

/* A line that says nothing of a count takes away commands without one alone, as in Linux today. */
static int remove_command(struct func_users *users, const char *glob, const char *param)
{
	users->counted = users->command->once || means_counted(param);
	return func_probes_remove(users, glob);
}

/*
 * A word behind another colon is ignored, as in Linux. Without a parameter there is no limit. 0, or -errno of a
 * number.
 */
static int parse_count(const struct func_users *users, char *param, unsigned long *count)
{
	int ret;

	*count = TRIGGER_UNLIMITED;
	ret = param ? kstrtoul(strsep(&param, ":"), 0, count) : 0;
	if (ret == -EINVAL)
		*users->why = "a count is a number, or nothing for a command without end";
	return ret;
}

/* A command that is not about an event: "GLOB:traceoff", "GLOB:traceoff:3", "!GLOB:traceoff". event_mutex held. */
static int process_plain(struct func_users *users, const char *glob, char *param)
{
	const struct func_command *command = users->command;
	union func_slot slot = {.count = 1};
	int ret = 0;

	if (command->once || command->never || (param && !*param))
		param = NULL;
	if (*glob == '!')
		return remove_command(users, glob + 1, param);
	if (!command->once)
		ret = parse_count(users, param, &slot.count);
	users->counted = slot.count != TRIGGER_UNLIMITED;
	return ret ?: func_probes_add(users, glob, slot);
}

/* A command about an event: "GLOB:enable_event:SYSTEM:EVENT[:COUNT]", "!GLOB:enable_event:...". event_mutex held. */
static int process_event(struct func_users *users, const char *glob, char *param)
{
	const char *system = strsep(&param, ":"), *name = strsep(&param, ":");
	struct trace_event_file *file = name ? trace_event_find(users->tr->events, system, name) : NULL;
	union func_slot slot;
	int ret;

	if (!file)
		return -EINVAL;
	if (*glob == '!')
		return remove_command(users, glob + 1, param);
	slot.event = kzalloc(sizeof(*slot.event), GFP_KERNEL);
	if (!slot.event)
		return -ENOMEM;
	slot.event->file = file;
	ret = parse_count(users, param, &slot.event->count);
	users->counted = slot.event->count != TRIGGER_UNLIMITED;
	if (!ret)
		ret = func_probes_add(users, glob, slot);
	if (ret)
		kfree(slot.event);
	return ret;
}

/* Without an array there is no command, but a name that is none is wrong first, as in Linux. */
static int process_command(struct trace_array *tr, char *text, const char **why)
{
	const char *glob = strsep(&text, ":");
	struct func_users users = {.tr = tr, .command = find_command(strsep(&text, ":")), .why = why};

	if (!users.command)
		return -EINVAL;
	if (!tr)
		return -ENODEV;
	return (users.command->of_event ? process_event : process_plain)(&users, glob, text);
}

/* Functions with a count and those without; in most arrays there are none. */
void ftrace_remove_command(const char *name)
{
	const char *why = NULL;
	struct func_users users = {.command = find_command(name), .why = &why};

	mutex_lock(&event_mutex);
	for_each_trace_array(users.tr)
		for (unsigned counted = 0; counted < 2; counted++) {
			users.counted = counted;
			if (!func_probes_remove(&users, ""))
				func_probes_commit();
		}
	mutex_unlock(&event_mutex);
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
static bool command_from(struct trace_array *tr, loff_t *pos)
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
static void command_show(struct seq_file *m, struct trace_array *tr, loff_t pos)
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

static const struct function_commands commands_room = {
	.word = process_command,
	.commit = func_probes_commit,
	.from = command_from,
	.show = command_show,
	.name = command_name,
};
REGISTER_FUNCTION_COMMANDS(commands_room);
