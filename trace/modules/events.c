/*
 * Events of modules (TRACE_EVENT in a module's own header): they become late events (trace/late) before the module's
 * init runs, and leave when it goes.
 */
#include <kernel/module.h>
#include <kernel/module_check.h>
#include <kernel/printk.h>
#include <lib/errno.h>

#include "core/tracer.h"
#include "events/event_file.h"
#include "modules.h"

static bool is_of_module(const struct trace_event_call *call, const void *mod)
{
	return call->module == mod;
}

/* A module goes, or could not come. */
static void events_going(struct module *mod)
{
	mutex_lock(&event_mutex);
	trace_late_events_remove(is_of_module, mod);
	mutex_unlock(&event_mutex);
}

/* 0 or -errno, with a line in the log that says what to do. */
static int add_call(const struct trace_event_call *call)
{
	const char *module = call->module->name, *system = call->class->system;
	int err = trace_late_event_add(call);

	if (err == -EEXIST)
		pr_err("%s: there is an event %s:%s already\n", module, system, call->name);
	if (err == -ENOSPC)
		pr_err("%s: no room for event %s:%s; unload a module that has events, or delete dynamic events\n",
		       module, system, call->name);
	return err;
}

/*
 * A module is loaded: its events get places in every array. All of them or none: what was added goes again at an error,
 * which refuses the module. Thread context.
 */
static int events_coming(struct module *mod)
{
	unsigned n;
	const struct trace_event_call *const *calls = module_section(mod, "ptrs_ftrace_events", sizeof(*calls), &n);
	int err = 0;

	mutex_lock(&event_mutex);
	for (unsigned i = 0; i < n && !err; i++)
		err = add_call(calls[i]);
	if (n)
		trace_late_events_ready();
	mutex_unlock(&event_mutex);
	if (err)
		events_going(mod);
	return err;
}

/* The functions of a class are called when the event is on, or its format is read. */
static bool class_is_whole(const struct module_check *c, const struct trace_event_class *class)
{
	return module_has_const(c, class, sizeof(*class)) && module_has_name(c, class->system) &&
	       module_has_code(c, (unsigned long)class->fields) && module_has_code(c, (unsigned long)class->probe) &&
	       module_has_code(c, (unsigned long)class->print) && module_has_text(c, class->print_fmt) && !class->reg;
}

static bool call_is_whole(struct module_check *c, const struct trace_event_call *call)
{
	return module_has_const(c, call, sizeof(*call)) && class_is_whole(c, call->class) &&
	       module_has_name(c, call->name) && tracepoint_check(c, call->tp) && call->module == module_checked(c) &&
	       !call->fields && !call->pins && (!call->print || module_has_code(c, (unsigned long)call->print)) &&
	       (!call->print_fmt || module_has_text(c, call->print_fmt));
}

static int events_check(struct module_check *c)
{
	unsigned n;
	int err;
	const struct trace_event_call *const *calls =
		module_check_table(c, "ptrs_ftrace_events", sizeof(*calls), false, &n, &err);

	for (; n && !err; n--, calls++)
		if (!call_is_whole(c, *calls))
			err = module_bad_table(c, "ptrs_ftrace_events");
	return err;
}

static const struct module_notifier events_notifier = {
	.coming = events_coming, .going = events_going, .check = events_check};
REGISTER_MODULE_NOTIFIER(events_notifier);
