/*
 * Tracing as the keys ftrace.* of a bootconfig ask for it (docs/bootconfig.md lists them):
 *
 *	ftrace { tracer = function; event.sched.sched_switch.filter = "prev_pid == 1" }
 *	ftrace.instance.mine.events = "task:*"
 *
 * What a control file takes is given to the function that serves a write to that file, so a value means here what it
 * means there, and a wrong one is explained in the same words: one line of the log, and the boot goes on.
 * Context: boot, one CPU; trace_boot_start() says why all of this may be called.
 */
#include <kernel/bootconfig.h>
#include <kernel/printk.h>
#include <lib/close_names.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/ftrace.h>

#include "core/aside.h"
#include "core/options.h"
#include "dynevents/dynevent.h"
#include "events/text_file.h"
#include "instances/instances.h"
#include "tracefs/refused.h"
#include "command_line.h"

/* ---- Values */

/* The line for a key, or one of its values, that is left out. `why` NULL: it is not. */
static void report(unsigned key, const char *value, const char *why)
{
	char name[BOOTCONFIG_KEY_MAX];

	if (!why)
		return;
	bootconfig_name(&boot_config, 0, key, name);
	if (*value)
		pr_warn("bootconfig: %s: '%s' ignored: %s\n", name, value, why);
	else
		pr_warn("bootconfig: %s ignored: %s\n", name, why);
}

/* Write a value to a text file. `data`: what its functions get. NULL, or what a user who wrote it would be told. */
static const char *write_text(struct trace_array *tr, const struct text_file *file, void *data, const char *value)
{
	char *copy = strlen(value) < file->kind->max ? kstrdup(value, GFP_KERNEL) : NULL;
	const char *why;
	int ret;

	if (!copy)
		return "it is too long";
	ret = text_file_store(file, copy, data, &why);
	kfree(copy);
	if (ret >= 0 || why)
		return why;
	return trace_boot_why_of(tr, file->hint ?: file->path, data, value, ret);
}

/* The same for a control file of the array's own directory. */
static const char *write_control(struct trace_array *tr, const char *name, const char *value)
{
	struct trace_cpu_file which = {tr, RING_BUFFER_ALL_CPUS_FILE};
	const struct tracefs_file *f;

	for_each_in_table(tracefs, f)
		if (f->where & TRACEFS_ARRAY && !strcmp(f->file.path, name))
			return write_text(tr, &f->file, &which, value);
	return "this kernel has no such file";
}

static const char *apply_option(struct trace_array *tr, const char *value)
{
	return trace_option_of(value, NULL) ? write_control(tr, "trace_options", value) : NULL;
}

/* The selected tracer's own options, and what is no option at all. */
static const char *apply_own_option(struct trace_array *tr, const char *value)
{
	return trace_option_of(value, NULL) ? NULL : write_control(tr, "trace_options", value);
}

static const char *apply_tracing_on(struct trace_array *tr, const char *value)
{
	return write_control(tr, "tracing_on", value);
}

static const char *apply_clock(struct trace_array *tr, const char *value)
{
	return write_control(tr, "trace_clock", value);
}

/* Bytes for each CPU, as for trace_buf_size=, with a B behind them if one likes: 1M and 1MB are the same. */
static const char *apply_buffer_size(struct trace_array *tr, const char *value)
{
	char *end, kib[24];
	u64 size = memparse(value, &end);

	if (*end == 'B' && end != value)
		end++;
	if (*end || size < 1024)
		return "it is not a number of bytes, 1K or more, such as 512K or 4MB";
	scnprintf(kib, sizeof(kib), "%llu", (unsigned long long)size >> 10);
	return write_control(tr, "buffer_size_kb", kib);
}

static const char *apply_cpumask(struct trace_array *tr, const char *value)
{
	return write_control(tr, "tracing_cpumask", value);
}

static const char *apply_snapshot(struct trace_array *tr, const char *value)
{
	int ret;

	mutex_lock(&trace_types_lock);
	ret = tracing_expand(tr) ?: trace_max_alloc(tr);
	mutex_unlock(&trace_types_lock);
	return ret ? errno_text(-ret) : NULL;
}

static const char *apply_filter(struct trace_array *tr, const char *value)
{
	int ret = ftrace_set_filter(tr->ops, (unsigned char *)value, strlen(value), false);

	return ret ? trace_boot_why(tr, "set_ftrace_filter", value, ret) : NULL;
}

static const char *apply_notrace(struct trace_array *tr, const char *value)
{
	int ret = ftrace_set_notrace(tr->ops, (unsigned char *)value, strlen(value), false);

	return ret ? trace_boot_why(tr, "set_ftrace_notrace", value, ret) : NULL;
}

static const char *apply_event(struct trace_array *tr, const char *value)
{
	char *copy = kstrdup(value, GFP_KERNEL);
	int ret = -ENOMEM;

	mutex_lock(&event_mutex);
	if (copy)
		ret = trace_event_set_by_text_later(tr->events, copy);
	trace_events_complete(tr->events);
	mutex_unlock(&event_mutex);
	kfree(copy);
	return ret ? trace_boot_why(tr, "set_event", value, ret) : NULL;
}

static const char *apply_tracer(struct trace_array *tr, const char *value)
{
	return write_control(tr, "current_tracer", value);
}

/* ---- Keys of an array */

/*
 * In the order in which they are applied: recording may be off before anything is recorded, a change of clock or size
 * empties the buffer, and the tracer begins at once, so it comes last. Events come between the two parts.
 */
struct boot_key {
	const char *words;
	const char *(*apply)(struct trace_array *tr, const char *value); /* NULL: taken; else why it is not */
	bool bare;							 /* it has no value */
	const char *instead; /* the value in place of one that is refused; NULL: the key is then ignored */
};
static const struct boot_key keys_before_events[] = {
	{.words = "options", .apply = apply_option},
	{.words = "tracing_on", .apply = apply_tracing_on, .instead = "0"}, /* as Linux, whose examples say "false" */
	{.words = "trace_clock", .apply = apply_clock},
	{.words = "buffer_size", .apply = apply_buffer_size},
	{.words = "cpumask", .apply = apply_cpumask},
	{.words = "alloc_snapshot", .apply = apply_snapshot, .bare = true},
	{.words = "ftrace.filters", .apply = apply_filter},
	{.words = "ftrace.notraces", .apply = apply_notrace},
};
static const struct boot_key keys_behind_events[] = {
	{.words = "events", .apply = apply_event},
	{.words = "tracer", .apply = apply_tracer},
	{.words = "options", .apply = apply_own_option},
};

/* Give one value of a key to its function, and say what comes of a value that is refused. */
static void apply_value(struct trace_array *tr, const struct boot_key *k, unsigned key, const char *value)
{
	const char *why = k->apply(tr, value);
	char name[BOOTCONFIG_KEY_MAX];

	if (!why || !k->instead)
		return report(key, value, why);
	bootconfig_name(&boot_config, 0, key, name);
	pr_warn("bootconfig: %s: '%s' taken as %s: %s\n", name, value, k->instead, why);
	report(key, k->instead, k->apply(tr, k->instead));
}

/* Give the values of these keys below `root` to their functions. What a key has too much or too little is reported. */
static void apply_keys(struct trace_array *tr, unsigned root, const struct boot_key *keys, unsigned n)
{
	for (const struct boot_key *k = keys; k < keys + n; k++) {
		unsigned key = bootconfig_find(&boot_config, root, k->words), value;

		if (!key)
			continue;
		if (k->bare)
			report(key, "", k->apply(tr, ""));
		else if (!bootconfig_first_value(&boot_config, key))
			report(key, "", "it needs a value");
		bootconfig_for_each_value(&boot_config, key, value) {
			if (!k->bare)
				apply_value(tr, k, key, bootconfig_text(&boot_config, value));
		}
	}
}

/* The names of keys of an event, a system and all events, in order, and the file that takes their values. */
static const struct event_key {
	const char *word, *file;
} event_keys[] = {{"filter", "filter"}, {"actions", "trigger"}, {"enable", "enable"}};

/* A line of the file dynamic_events, made of the format and the values of `key`. */
static void define(unsigned key, const char *format, const char *event, const char *values)
{
	char *line = kasprintf(GFP_KERNEL, format, event, values);
	struct dyn_why why = {"not enough memory for it"};
	int ret = line ? dyn_event_run(line, NULL, &why) : -ENOMEM;

	report(key, values, ret ? why.text : NULL);
	kfree(line);
}

/* event.kprobes.EVENT.probes: each value is a line without its beginning, "vfs_read $arg1". */
static void define_kprobe(const char *event, unsigned key)
{
	unsigned value;

	bootconfig_for_each_value(&boot_config, key, value)
		define(key, "p:kprobes/%s %s", event, bootconfig_text(&boot_config, value));
}

/* event.synthetic.EVENT.fields: all values make one line, each is a field, "u64 lat". */
static void define_synthetic(const char *event, unsigned key)
{
	char *fields = kzalloc(DYN_LINE_MAX, GFP_KERNEL);
	unsigned value;
	size_t len = 0;

	if (!fields)
		return report(key, "", errno_text(ENOMEM));
	bootconfig_for_each_value(&boot_config, key, value)
		len += scnprintf(fields + len, DYN_LINE_MAX - len, "%s%s", len ? "; " : "",
				 bootconfig_text(&boot_config, value));
	if (len == DYN_LINE_MAX - 1)
		report(key, "", "it is too long");
	else
		define(key, "s:synthetic/%s %s", event, fields);
	kfree(fields);
}

/* Groups whose events are made by a key of their own. */
static const struct definition {
	const char *group, *word;
	void (*define)(const char *event, unsigned key);
} definitions[] = {{"kprobes", "probes", define_kprobe}, {"synthetic", "fields", define_synthetic}};

static const struct definition *definition_of(const char *group)
{
	for (unsigned i = 0; i < ARRAY_SIZE(definitions); i++)
		if (!strcmp(definitions[i].group, group))
			return &definitions[i];
	return NULL;
}

/* Make the events that the keys of an array define. All arrays have them. */
static void define_events(unsigned root)
{
	for (const struct definition *d = definitions; d < definitions + ARRAY_SIZE(definitions); d++) {
		unsigned all = bootconfig_find(&boot_config, root, "event"), event;
		unsigned group = all ? bootconfig_find(&boot_config, all, d->group) : 0;

		if (!group)
			continue;
		bootconfig_for_each_key(&boot_config, group, event) {
			unsigned key = bootconfig_find(&boot_config, event, d->word);

			if (key)
				d->define(bootconfig_text(&boot_config, event), key);
		}
	}
}

/* event.GROUP.EVENT.hist, which may stand for several histograms. */
static void apply_hists(struct trace_array *tr, unsigned root, struct trace_event_file *file)
{
	const struct text_file *trigger = trace_event_text_file(TRACE_EVENT_LEVEL_ONE, "trigger");
	unsigned all = bootconfig_find(&boot_config, root, "hist"), hist = 0;

	while (all && (hist = trace_boot_next_part(all, hist)) != 0) {
		char *line = kmalloc(trigger->kind->max, GFP_KERNEL);
		const char *why = line ? trace_boot_hist_line(hist, line, trigger->kind->max) : errno_text(ENOMEM);

		if (why)
			report(hist, "", why);
		else
			report(hist, line, write_text(tr, trigger, file, line));
		kfree(line);
	}
}

/* Keys below `root`, which stands for `owner`: an event, a system or the set of all. */
static void apply_event_keys(struct trace_array *tr, unsigned root, enum trace_event_level level, void *owner)
{
	for (const struct event_key *k = event_keys; k < event_keys + ARRAY_SIZE(event_keys); k++) {
		unsigned key = bootconfig_find(&boot_config, root, k->word), value;
		const struct text_file *file = trace_event_text_file(level, k->file);

		if (!key)
			continue;
		if (!file)
			report(key, "", "only a single event has it");
		else if (!bootconfig_first_value(&boot_config, key))
			report(key, "",
			       strcmp(k->word, "enable") ? "it needs a value" : write_text(tr, file, owner, "1"));
		bootconfig_for_each_value(&boot_config, key, value) {
			const char *text = bootconfig_text(&boot_config, value);

			if (file)
				report(key, text, write_text(tr, file, owner, text));
		}
	}
}

static bool is_event_key(const char *word)
{
	for (unsigned i = 0; i < ARRAY_SIZE(event_keys); i++)
		if (!strcmp(word, event_keys[i].word))
			return true;
	return false;
}

/* event.GROUP and event.GROUP.EVENT. A name that is not there is reported once, with names that are close. */
static void apply_group(struct trace_array *tr, unsigned group)
{
	const char *system = bootconfig_text(&boot_config, group);
	const struct definition *own = definition_of(system);
	unsigned key;

	bootconfig_for_each_key(&boot_config, group, key) {
		const char *name = bootconfig_text(&boot_config, key);
		struct trace_event_file *file;
		char both[128];

		if (is_event_key(name))
			continue;
		mutex_lock(&event_mutex);
		file = trace_event_find(tr->events, system, name);
		mutex_unlock(&event_mutex);
		scnprintf(both, sizeof(both), "%s:%s", system, name);
		if (file) {
			apply_hists(tr, key, file);
			apply_event_keys(tr, key, TRACE_EVENT_LEVEL_ONE, file);
		} else if (!own || !bootconfig_find(&boot_config, key, own->word))
			report(key, "", trace_boot_why(tr, "set_event", both, -EINVAL));
	}
}

/* The single events of a group come before what the group has for all of them. */
static void apply_events(struct trace_array *tr, unsigned root)
{
	unsigned all = bootconfig_find(&boot_config, root, "event"), group;
	struct trace_event_system *system;

	if (!all)
		return;
	bootconfig_for_each_key(&boot_config, all, group) {
		const char *name = bootconfig_text(&boot_config, group);

		if (is_event_key(name))
			continue;
		mutex_lock(&event_mutex);
		system = trace_event_find_system(tr->events, name);
		mutex_unlock(&event_mutex);
		apply_group(tr, group);
		if (system)
			apply_event_keys(tr, group, TRACE_EVENT_LEVEL_SYSTEM, system);
	}
	apply_event_keys(tr, all, TRACE_EVENT_LEVEL_ALL, tr->events);
}

/* ---- What is not known */

/* Offers a name of a key to `close`; true: it is the one that stands there. */
static bool is_known(const char *name, const struct boot_key *keys, unsigned n, struct close_names *close)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(name, keys[i].words))
			return true;
		close_names_offer(close, keys[i].words);
	}
	return false;
}

/* What follows the first `n` words of a key. NULL: it has no more than these. */
static const char *behind_words(const char *name, unsigned n)
{
	while (name && n--) {
		name = strchr(name, '.');
		name = name ? name + 1 : NULL;
	}
	return name;
}

/* "event.GROUP.EVENT.filter" with none to two words between, and what single events have besides. */
static bool is_known_of_event(const char *name)
{
	const char *rest = behind_words(name, 3), *group = behind_words(name, 1);

	if (strncmp(name, "event.", strlen("event.")))
		return false;
	if (rest && !strncmp(rest, "hist.", strlen("hist.")))
		return trace_boot_hist_knows(rest + strlen("hist."));
	for (const struct definition *d = definitions; rest && d < definitions + ARRAY_SIZE(definitions); d++)
		if (!strncmp(group, d->group, strlen(d->group)) && group[strlen(d->group)] == '.' &&
		    !strcmp(rest, d->word))
			return true;
	return !behind_words(name, 4) && is_event_key(strrchr(name, '.') + 1);
}

/* Report the keys of an array that nothing has looked at. */
static void report_unknown(unsigned root, bool top)
{
	char name[BOOTCONFIG_KEY_MAX], said[160];

	for (unsigned key = root; (key = bootconfig_next_leaf(&boot_config, root, key));) {
		struct close_names close;

		bootconfig_name(&boot_config, root, key, name);
		close_names_init(&close, name);
		if (is_known(name, keys_before_events, ARRAY_SIZE(keys_before_events), &close) ||
		    is_known(name, keys_behind_events, ARRAY_SIZE(keys_behind_events), &close) ||
		    is_known_of_event(name) || (top && !strncmp(name, "instance.", strlen("instance."))))
			continue;
		scnprintf(said, sizeof(said), "there is no such key%s%s", close.nr ? "; close: " : "",
			  close.nr ? close.best[0].name : "; docs/bootconfig.md has the list");
		report(key, "", said);
	}
}

/* ---- Arrays */

static void apply_array(struct trace_array *tr, unsigned root)
{
	apply_keys(tr, root, keys_before_events, ARRAY_SIZE(keys_before_events));
	apply_events(tr, root);
	apply_keys(tr, root, keys_behind_events, ARRAY_SIZE(keys_behind_events));
	report_unknown(root, trace_array_is_top(tr));
}

/* The instance of this name, which trace_instance= may have made; else a new one. ERR_PTR: it cannot be made. */
static struct trace_array *find_or_make_instance(const char *name)
{
	struct trace_array *tr, *found = NULL;

	mutex_lock(&trace_types_lock);
	for_each_trace_array(tr)
		if (tr->name && !strcmp(tr->name, name))
			found = tr;
	mutex_unlock(&trace_types_lock);
	return found ?: trace_array_create(name);
}

/*
 * Events are defined first, so that each array can use those of the others. Instances come before the top array, so
 * that what they are to see is not over when the top array's tracer has begun.
 */
void trace_boot_config(void)
{
	unsigned root = bootconfig_find(&boot_config, 0, "ftrace"), instances, key;

	if (!root)
		return;
	define_events(root);
	instances = bootconfig_find(&boot_config, root, "instance");
	if (instances)
		bootconfig_for_each_key(&boot_config, instances, key)
			define_events(key);
	if (instances)
		bootconfig_for_each_key(&boot_config, instances, key) {
			struct trace_array *tr = find_or_make_instance(bootconfig_text(&boot_config, key));

			if (IS_ERR(tr))
				report(key, "", errno_text(-PTR_ERR(tr)));
			else
				apply_array(tr, key);
		}
	apply_array(&global_trace, root);
}
