/*
 * Which functions have a function command. For each command of an array there are at most two users of functions
 * (struct func_probe with its ftrace_ops): one for functions with a count, one for functions without. The user's filter
 * says which functions have the command.
 *
 * What belongs to a function (its count, its event) lies in `slots`, an array that is indexed by the number of the
 * site. Users and their filters change while the machine is stopped, and no CPU is on its way to a callback then. So a
 * slot is written before its function is in the filter, and freed once the function is out of the filter, without
 * waiting for anybody.
 *
 * A stop of the machine takes milliseconds, and a text may have thousands of lines. So lines that follow one another
 * and give the same command to functions, or take it away, are collected (struct command_change), and one stop puts
 * them in force.
 *
 *	set_ftrace_filter: "sys_*:traceoff:3"
 *	  func_probe {traceoff, counted}   ops.filter = {sys_open, sys_read, ...}
 *	                                   slots[site of sys_open].count = 3, slots[site of sys_read].count = 3, ...
 */
#include <arch/ftrace.h>
#include <kernel/module.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "triggers/trigger.h"
#include "ftrace/internal.h"
#include "commands.h"

/*
 * The callback of every probe. The core has already made sure that it is not called from inside itself or any tracer.
 */
static void call_probe(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct func_probe *probe = op->private;

	probe->command->fire(probe, probe->slots ? &probe->slots[ftrace_rec_of(ip)] : NULL, fregs);
}

/* ---- Probes and their functions. event_mutex held. */

/* Functions that will get the command of a probe together, or lose it. [event_mutex] */
static struct command_change {
	struct func_probe
		*probe; /* NULL: nothing is collected. It is not in its array's list if it has no function yet */
	struct ftrace_set set_to; /* the filter that the probe will have */
	bool add;
	bool any; /* set_to is not the present filter */
} change;

static bool is_probe_of(const struct func_probe *probe, const struct func_users *users)
{
	return probe && probe->tr == users->tr && probe->command == users->command && probe->counted == users->counted;
}

static struct func_probe *find_probe(const struct func_users *users)
{
	struct func_probe *probe = users->tr->func_probes;

	while (probe && !is_probe_of(probe, users))
		probe = probe->next;
	return probe;
}

/* The probe is not registered any more, or was never. */
static void free_probe(struct func_probe *probe)
{
	if (probe->prepared)
		probe->command->unprepare(probe->tr);
	ftrace_free_filter(&probe->ops);
	kvfree(probe->slots);
	kfree(probe);
}

/* A new probe, which is not in the list yet. NULL: no memory. */
static struct func_probe *alloc_probe(const struct func_users *users)
{
	struct func_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;
	probe->tr = users->tr;
	probe->command = users->command;
	probe->counted = users->counted;
	probe->ops.func = call_probe;
	probe->ops.name = users->command->name;
	probe->ops.private = probe;
	if (users->counted || users->command->of_event) {
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

static void unlink_probe(struct func_probe *probe)
{
	struct func_probe **p = &probe->tr->func_probes;

	while (*p != probe)
		p = &(*p)->next;
	*p = probe->next;
}

/* The first functions of a probe: it becomes a user of functions, and *set its filter. 0 or -errno. */
static int register_probe(struct func_probe *probe, struct ftrace_set *set)
{
	int ret;

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

/*
 * The last functions go. When ftrace has given up (-ENODEV) the user is gone all the same, and what it held must be
 * given back.
 */
static int unregister_probe(struct func_probe *probe, struct ftrace_set *set)
{
	int ret = unregister_ftrace_function(&probe->ops);

	if (ret && ret != -ENODEV)
		return ret;
	swap(probe->ops.filter, *set);
	unlink_probe(probe);
	return 0;
}

/* *set becomes the probe's filter, and gets the filter that was there before. 0; or -errno and nothing has changed. */
static int exchange_filter(struct func_probe *probe, struct ftrace_set *set)
{
	int ret;

	if (!probe->ops.filter.count)
		return register_probe(probe, set);
	if (!set->count)
		return unregister_probe(probe, set);
	mutex_lock(&ftrace_lock);
	ret = ftrace_ops_replace_set(&probe->ops, &probe->ops.filter, set);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/* The first function that has this event makes sure that the event's probe is registered, recording or not. */
static int event_switch_get_later(struct event_switch *event)
{
	return event->functions++ ? 0 : trace_event_hold_other_later(event->file);
}

/* One function less. The last one frees it. */
static void event_switch_put_later(struct event_switch *event)
{
	if (--event->functions)
		return;
	trace_event_release_other_later(event->file);
	kfree(event);
}

/*
 * Only the functions in *set have the command from now on, and *set is empty. 0; or -errno, and nothing has changed.
 *
 * After the exchange *set has functions that are not in the filter: those that have lost the command, or, after an
 * error, those that were to get it. The events of both are given back. That is safe at once, as no CPU can be inside
 * call_probe() for such a function. A probe without functions is freed.
 */
static int change_functions(struct func_probe *probe, struct ftrace_set *set)
{
	bool of_event = probe->command->of_event;
	int ret;

	if (of_event)
		trace_events_complete(probe->tr->events);
	ret = exchange_filter(probe, set);
	for (unsigned rec = 0; of_event && rec < ftrace_nr_recs; rec++)
		if (in_set(set, rec) && !in_set(&probe->ops.filter, rec))
			event_switch_put_later(probe->slots[rec].event);
	if (of_event)
		trace_events_complete(probe->tr->events);
	if (!probe->ops.filter.count)
		free_probe(probe);
	ftrace_set_clear(set);
	return ret;
}

/* One stop of the machine, or none when no word has changed anything. */
int func_probes_commit(void)
{
	struct func_probe *probe = change.probe;

	change.probe = NULL;
	if (!probe)
		return 0;
	if (change.any)
		return change_functions(probe, &change.set_to);
	if (!probe->ops.filter.count)
		free_probe(probe);
	ftrace_set_clear(&change.set_to);
	return 0;
}

/* A set as it is now: with the lock, as a module that goes changes sets, too. 0, -ENOMEM. */
static int copy_set(struct ftrace_set *to, struct ftrace_set *from)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_set_copy(to, from);
	mutex_unlock(&ftrace_lock);
	return ret;
}

static const char no_such_command[] = "no such command is there to be taken away; the file shows those that are";

/* Commands that were set without a count, or with one, are not those that are to go. */
static int refuse_removal(const struct func_users *users)
{
	const struct func_users others = {.tr = users->tr, .command = users->command, .counted = true};

	*users->why = !users->counted && find_probe(&others)
			      ? "the command has a count, and ':0' behind it takes it away"
			      : no_such_command;
	return -ENODEV;
}

/* The command's probe; `make`: a new one if there is none yet. Or an ERR_PTR: -ENOMEM, -ENODEV. */
static struct func_probe *get_probe(const struct func_users *users, bool make)
{
	struct func_probe *probe = find_probe(users);

	if (probe)
		return probe;
	if (!make)
		return ERR_PTR(refuse_removal(users));
	return alloc_probe(users) ?: ERR_PTR(-ENOMEM);
}

/* The next word is about these users, and adds functions or takes some away. What is of another kind comes in force. */
static int change_begin(const struct func_users *users, bool add)
{
	struct func_probe *probe;
	int ret;

	if (is_probe_of(change.probe, users) && change.add == add)
		return 0;
	ret = func_probes_commit();
	if (ret)
		return ret;
	probe = get_probe(users, add);
	if (IS_ERR(probe))
		return PTR_ERR(probe);
	ret = copy_set(&change.set_to, &probe->ops.filter);
	if (!ret)
		change = (struct command_change){.probe = probe, .set_to = change.set_to, .add = add};
	else if (!probe->ops.filter.count)
		free_probe(probe);
	return ret;
}

/* Functions of `set` without the command get `slot`. No CPU reads a slot before its function is in the filter. */
static void fill_slots(struct func_probe *probe, const struct ftrace_set *set, union func_slot slot)
{
	for (unsigned rec = 0; probe->slots && rec < ftrace_nr_recs; rec++) {
		if (!in_set(set, rec) || in_set(&change.set_to, rec))
			continue;
		probe->slots[rec] = slot;
		if (probe->command->of_event)
			slot.event->functions++;
	}
}

/* Each word makes sure of what the command needs; it counts once for the probe. 0 or -errno. */
static int prepare_probe(struct func_probe *probe)
{
	const struct func_command *command = probe->command;
	int ret = command->prepare ? command->prepare(probe->tr) : 0;

	if (!ret && probe->prepared)
		command->unprepare(probe->tr);
	probe->prepared |= !ret && command->prepare;
	return ret;
}

/*
 * Functions of `set` that the change does not have yet get `slot`. slot.event->functions is raised once before the
 * functions are counted, and lowered after, so that it cannot fall to zero halfway. 0, or -errno: the slot is the
 * caller's.
 */
static int give_slots(struct func_probe *probe, const struct ftrace_set *set, union func_slot slot)
{
	const struct func_command *command = probe->command;
	int ret = prepare_probe(probe);

	if (!ret && command->of_event)
		ret = event_switch_get_later(slot.event);
	if (ret)
		return ret;
	fill_slots(probe, set, slot);
	if (command->of_event)
		slot.event->functions--;
	return 0;
}

/*
 * The functions that match join the change, with `slot`, or leave it (slot NULL). Functions that have the command
 * already keep their slots, so a second write does not reset a count that is running down. A function gets a command
 * only if text_goes() will be told when its text goes: the state of its module changes before that, and event_mutex is
 * held here and there. 0. -EINVAL: the pattern matches nothing, or nothing that is not so already; -ENOMEM.
 */
static int change_match(const struct func_users *users, const char *glob, const union func_slot *slot)
{
	struct ftrace_set set = {};
	int ret = copy_set(&set, &change.set_to);

	if (!ret && slot)
		ret = ftrace_set_match_staying(&set, glob, &change.set_to);
	else if (!ret)
		ret = ftrace_set_match(&set, glob, false);
	if (!ret && set.count == change.set_to.count) {
		*users->why = slot ? "the functions have this command already; '!' in front of it takes it away"
				   : no_such_command;
		ret = -EINVAL;
	}
	if (!ret && slot) {
		ret = give_slots(change.probe, &set, *slot);
		if (ret == -EBUSY)
			*users->why = trace_rings_are_mapped;
	}
	if (!ret) {
		swap(set, change.set_to);
		change.any = true;
	}
	ftrace_set_clear(&set);
	return ret;
}

int func_probes_add(const struct func_users *users, const char *glob, union func_slot slot)
{
	return change_begin(users, true) ?: change_match(users, glob, &slot);
}

int func_probes_remove(const struct func_users *users, const char *glob)
{
	return change_begin(users, false) ?: change_match(users, *glob ? glob : "*", NULL);
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
			if (!copy_set(&set, &probe->ops.filter) && ftrace_set_leave(&set, mod))
				change_functions(probe, &set);
			ftrace_set_clear(&set); /* for a set that was only copied */
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

		if (WARN_ON(change_functions(tr->func_probes, &none)))
			return;
	}
}

static const char *commands_left(const struct trace_array *tr)
{
	return tr->func_probes ? tr->func_probes->command->name : NULL;
}

static const struct trace_part commands_part = {.unhook = ftrace_clear_commands, .left = commands_left};
REGISTER_TRACE_PART(commands_part);
