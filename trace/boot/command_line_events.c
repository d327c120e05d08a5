/*
 * Events, triggers and instances from the kernel command line:
 *
 *     trace_event=sched:*,kmalloc           events of the top array
 *     trace_trigger=sched_switch.traceoff   EVENT.TRIGGER, several with commas
 *     trace_instance=mine,sched:*           an instance and its events; may be given several times
 *     kprobe_event=p,vfs_read,$arg1;r,vfs_read   lines of kprobe_events with commas for blanks; they begin on
 *     traceoff_after_boot                   recording stops when the boot is over
 *
 * Parameters are read long before the allocators work, so each is kept as text, and trace_boot_events() acts on it.
 * A word that is wrong is reported and left out; a boot never fails because of it.
 * Context: boot, one CPU.
 */
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <trace/trace_boot.h>

#include "dynevents/dynevent.h"
#include "events/text_file.h"
#include "instances/instances.h"
#include "tracefs/refused.h"
#include "command_line.h"

#define BOOT_TEXT_MAX	   512
#define BOOT_INSTANCES_MAX 8

/* What the command line asked for, kept until tracing is up, and then cut into pieces where it lies. [boot] */
static char boot_events[BOOT_TEXT_MAX], boot_triggers[BOOT_TEXT_MAX], boot_instances[BOOT_INSTANCES_MAX][BOOT_TEXT_MAX];
static unsigned nr_boot_instances;
static bool traceoff_after_boot;

__setup_text("trace_event=", boot_events);
__setup_text("trace_trigger=", boot_triggers);

/* Each trace_instance= names another instance. 0, -ENOSPC past BOOT_INSTANCES_MAX, or -errno of param_keep(). */
static int set_boot_instance(const char *value)
{
	int ret = nr_boot_instances < BOOT_INSTANCES_MAX
			  ? param_keep(boot_instances[nr_boot_instances], BOOT_TEXT_MAX, value)
			  : -ENOSPC;

	nr_boot_instances += !ret;
	return ret;
}
__setup("trace_instance=", set_boot_instance);

static int set_traceoff_after_boot(const char *value)
{
	traceoff_after_boot = true;
	return 0;
}
__setup("traceoff_after_boot", set_traceoff_after_boot);

/* For set_words: a pattern of events. Their sites are switched together at the end, in trace_events_complete(). */
static int set_event(struct trace_array *tr, char *text)
{
	return trace_event_set_by_text_later(tr->events, text);
}

/*
 * For set_words: "EVENT.TRIGGER". The name of an event is enough, because no two systems share one. -EINVAL: no
 * such event, or no dot. -ENOSYS: this kernel has no triggers.
 */
static int set_trigger(struct trace_array *tr, char *text)
{
	const struct text_file *trigger = trace_event_text_file(TRACE_EVENT_LEVEL_ONE, "trigger");
	const char *event = strsep(&text, ".");
	struct trace_event_file *file;

	if (!trigger)
		return -ENOSYS;
	for_each_event(tr->events, file)
		if (text && !strcmp(file->call->name, event))
			return trigger->store(text, file);
	return -EINVAL;
}

/*
 * Call `set` for each word of `list`, which is cut into its words; `what` is the parameter, for messages. The
 * message needs a copy, since `set` may cut the word further. All that the words asked for is in force on return.
 */
static void set_words(struct trace_array *tr, const char *what, char *list,
		      int (*set)(struct trace_array *tr, char *word))
{
	char *word, copy[80];
	int ret;

	while ((word = strsep(&list, ","))) {
		if (!*word)
			continue;
		strscpy(copy, word, sizeof(copy));
		mutex_lock(&event_mutex);
		ret = set(tr, word);
		mutex_unlock(&event_mutex);
		if (ret)
			pr_warn("%s: '%s' ignored: %s\n", what, copy,
				set == set_event ? trace_boot_why(&global_trace, "set_event", copy, ret)
				: ret == -EINVAL ? "not there, or not understood"
						 : errno_text(-ret));
	}
	mutex_lock(&event_mutex);
	trace_events_complete(tr->events);
	mutex_unlock(&event_mutex);
}

/*
 * NAME,EVENT,... makes an instance. Linux allows flags (^) and an address (@) behind the name, for a buffer in
 * reserved memory; we have none of that and refuse such a name, and do not make a directory that is called so.
 */
static void make_instance(char *text)
{
	const char *name = strsep(&text, ",");
	bool plain = *name && !strchr(name, '/') && !strchr(name, '^') && !strchr(name, '@');
	struct trace_array *tr = plain ? trace_array_create(name) : ERR_PTR(-EINVAL);

	if (IS_ERR(tr))
		pr_warn("trace_instance: '%s' ignored: %s\n", name, errno_text(-PTR_ERR(tr)));
	else
		set_words(tr, "trace_instance", text, set_event);
}

/* The group of the event that a line makes: "p:GROUP/EVENT ...". */
static void group_of(const char *line, char *group, size_t size)
{
	const char *name = line + strcspn(line, ": "), *end;

	end = *name == ':' ? name + strcspn(name, "/ ") : name;
	if (*end == '/')
		strscpy(group, name + 1, min(size, (size_t)(end - name)));
	else
		strscpy(group, "kprobes", size);
}

/* All events of the group begin on, as there is no other than those that stand here yet. */
static void define_kprobes(char *lines)
{
	char *line, group[DYN_NAME_MAX + 1];
	struct dyn_why why;
	int ret;

	while ((line = strsep(&lines, ";"))) {
		for (char *at = line; *at; at++)
			if (*at == ',')
				*at = ' ';
		ret = *line ? dyn_event_run(line, NULL, &why) : 0;
		if (ret)
			pr_warn("kprobe_event: '%s' ignored: %s\n", line, why.text);
		if (ret || !*line)
			continue;
		group_of(line, group, sizeof(group) - 1);
		group[strlen(group) + 1] = '\0';
		group[strlen(group)] = ':';
		set_words(&global_trace, "kprobe_event", group, set_event);
	}
}

void trace_boot_events(void)
{
	define_kprobes(dyn_event_boot_lines);
	for (unsigned i = 0; i < nr_boot_instances; i++)
		make_instance(boot_instances[i]);
	set_words(&global_trace, "trace_event", boot_events, set_event);
	set_words(&global_trace, "trace_trigger", boot_triggers, set_trigger);
}

/* The boot ends for tracing. A person who wants to see the boot alone has asked for the recording to stop here. */
static int late_trace_init(void)
{
	if (traceoff_after_boot)
		tracing_off();
	return 0;
}
late_initcall(late_trace_init);
