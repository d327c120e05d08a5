/*
 * faulttrace [-v] [STEP]...: operations of tracefs, and modules, in which each allocation fails once
 * (lib/faults.h). A write that fails must leave the file as it was, and so the parts that the file stands for.
 */
#include <faults.h>
#include <fcntl.h>
#include <sys/stat.h>

static char before[65536], after[65536], room[65536];
static int fd = -1;

static void read_into(char *to, const char *name)
{
	long n = 0, used = 0;
	int in = (int)DO(openat, HERE, name, O_RDONLY | O_NONBLOCK);

	while (in >= 0 && (n = DO(read, in, to + used, sizeof(before) - 1 - used)) > 0)
		used += n;
	to[used] = 0;
	if (in >= 0)
		close(in);
}

/* The log of refused writes keeps the last ones, which are not always of the same size. */
static void clear_log(void)
{
	CHECK_CALL(faults_write("error_log", "", O_TRUNC) < 0 ? -1 : 0);
}

/* ---- A file a, into which b is written, and c to undo it. */

static void remember(const struct fault_step *s)
{
	read_into(before, s->a);
}

static void check_same(const struct fault_step *s)
{
	read_into(after, s->a);
	if (strcmp(before, after)) {
		check_failures++;
		printf("  %s was\n%s  and is\n%s", s->a, before, after);
	}
}

/* The event that a trigger of file a would switch is off, and "*" would mean that a trigger or a command holds it. */
#define TARGET "irq/irq_handler_entry"

static void same_and_not_held(const struct fault_step *s)
{
	check_same(s);
	read_into(after, "events/" TARGET "/enable");
	if (strcmp(after, "0\n")) {
		check_failures++;
		printf("  " TARGET " is still held: %s", after);
	}
}

static long write_b(const struct fault_step *s)
{
	return faults_write(s->a, s->b, 0);
}

/* Without O_TRUNC, which empties a list before anything is read: nothing could be as it was. */
static long append_b(const struct fault_step *s)
{
	return faults_write(s->a, s->b, O_APPEND);
}

/* A command that has succeeded is to be seen in the file, also when there was no memory for a part of it. */
static void write_c(const struct fault_step *s)
{
	if (s->call == append_b) {
		read_into(after, s->a);
		if (!strcmp(before, after)) {
			check_failures++;
			printf("  %s: '%s' succeeds and changes nothing\n", s->a, s->b);
		}
	}
	CHECK_CALL(faults_write(s->a, s->c, 0) < 0 ? -1 : 0);
	if (s->same)
		s->same(s);
}

/* From a state that does not depend on what was done before. */
static void undo_and_remember(const struct fault_step *s)
{
	CHECK_CALL(faults_write(s->a, s->c, 0) < 0 ? -1 : 0);
	remember(s);
}

static void empty_list(const struct fault_step *s)
{
	int out = open(s->a, O_WRONLY | O_TRUNC);

	CHECK_CALL(out);
	close(out);
	if (s->c)
		CHECK_CALL(faults_write(s->a, s->c, O_APPEND) < 0 ? -1 : 0);
	check_same(s);
}

/* A system's filter is its events'. */
static void read_filters(char *to)
{
	static const char *const events[] = {"irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit",
					     "softirq_raise"};
	char name[64];

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		sniprintf(name, sizeof(name), "events/irq/%s/filter", events[i]);
		read_into(to, name);
		to += strlen(to);
		CHECK(to[-1] == '\n');
	}
}

static void remember_filters(const struct fault_step *s)
{
	read_filters(before);
}

static void same_filters(const struct fault_step *s)
{
	read_filters(after);
	CHECK(!strcmp(before, after));
}

/* ---- Reading */

static void fill_trace(const struct fault_step *s)
{
	for (int i = 0; i < 3; i++)
		CHECK_CALL(faults_write("trace_marker", "a line to be read", 0) < 0 ? -1 : 0);
}

static long read_a(const struct fault_step *s)
{
	long n, got = DO(openat, HERE, s->a, O_RDONLY | O_NONBLOCK);
	int in = (int)got;

	if (got < 0)
		return got;
	do
		n = DO(read, in, room, sizeof(room));
	while (n > 0);
	close(in);
	return n == -EAGAIN ? 0 : n;
}

/* ---- Instances */

static bool exists(const char *name)
{
	return CALL(faccessat, HERE, name, 0) == 0;
}

static long make_instance(const struct fault_step *s)
{
	return DO(mkdirat, HERE, "instances/x", 0755);
}

static void remove_instance(const struct fault_step *s)
{
	CHECK_CALL(CALL(unlinkat, HERE, "instances/x", 0x200));
}

static void no_instance(const struct fault_step *s)
{
	CHECK(!exists("instances/x"));
}

/* An instance with a tracer, an event, a snapshot: a is a file of it, b what is written. */
static void make_and_remember(const struct fault_step *s)
{
	if (!exists("instances/x"))
		CHECK_CALL(make_instance(s) < 0 ? -1 : 0);
	remember(s);
}

static void check_and_remove(const struct fault_step *s)
{
	check_same(s);
	remove_instance(s);
}

/* What a fork has to do under a tracer: a is the tracer. */
static void choose_a(const struct fault_step *s)
{
	CHECK_CALL(faults_write("current_tracer", s->a, 0) < 0 ? -1 : 0);
}

static pid_t child;

static long fork_it(const struct fault_step *s)
{
	long pid = DO(clone, 17, 0);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static void no_tracer(const struct fault_step *s)
{
	CHECK_CALL(faults_write("current_tracer", "nop", 0) < 0 ? -1 : 0);
}

static void reap_it(const struct fault_step *s)
{
	CHECK_EQ(check_wait(child), 0);
	no_tracer(s);
}

/* ---- Modules: a is the file, b the name */

static long load(const struct fault_step *s)
{
	return DO(finit_module, fd, "", 0);
}

static void open_module(const struct fault_step *s)
{
	fd = open(s->a, O_RDONLY);
	CHECK_CALL(fd);
}

static void unload(const struct fault_step *s)
{
	CHECK_CALL(CALL(delete_module, s->b, O_NONBLOCK));
	faults_close(&fd);
}

static void not_loaded(const struct fault_step *s)
{
	read_into(after, "/proc/modules");
	CHECK(!strstr(after, s->b));
	faults_close(&fd);
}

static void have_loaded(const struct fault_step *s)
{
	open_module(s);
	CHECK_CALL(load(s) < 0 ? -1 : 0);
	faults_close(&fd);
}

static long remove_module(const struct fault_step *s)
{
	return DO(delete_module, s->b, O_NONBLOCK);
}

static void after_refusal(const struct fault_step *s)
{
	read_into(after, "/proc/modules");
	CHECK(strstr(after, s->b));
	CHECK_CALL(remove_module(s) < 0 ? -1 : 0);
}

#define WRITE(name_, file, text, back, ...) \
	STEP(name_, write_b, remember, write_c, check_same, .a = (file), .b = (text), .c = (back), __VA_ARGS__)
#define LIST(name_, file, text, ...) \
	STEP(name_, append_b, remember, empty_list, check_same, .a = (file), .b = (text), __VA_ARGS__)
#define COMMAND(file, text, back) \
	STEP(file " " text, append_b, remember, write_c, check_same, .a = (file), .b = (text), .c = (back))
/* Without the end of its line, a word is looked at when the file is closed, which tells nothing of what failed. */
#define FUNCTION_COMMAND(text, back)                                                                       \
	STEP("set_ftrace_filter " text, append_b, remember, write_c, check_same, .a = "set_ftrace_filter", \
	     .b = text "\n", .c = back "\n")
#define INSTANCE(file, text)                                                                            \
	STEP("instance, " file " " text, write_b, make_and_remember, remove_instance, check_and_remove, \
	     .a = "instances/x/" file, .b = (text))
#define READ(file, ...) STEP("reading " file, read_a, fill_trace, NULL, NULL, .a = (file), __VA_ARGS__)
#define SWITCH		"events/sched/sched_switch/"
static const struct fault_step fixed[] = {
	WRITE("an event", SWITCH "enable", "1", "0"),
	WRITE("a system of events", "events/sched/enable", "1", "0"),
	WRITE("all events", "events/enable", "1", "0", .quick = true),
	WRITE("set_event", "set_event", "sched:sched_wakeup", "!sched:sched_wakeup"),
	WRITE("an event of a system call", "events/syscalls/sys_enter_openat/enable", "1", "0"),
	WRITE("a filter", SWITCH "filter", "prev_prio < 100 && next_comm ~ \"a*\" || prev_pid == 1", "0"),
	STEP("a filter of a system", write_b, remember_filters, write_c, same_filters, .a = "events/irq/filter",
	     .b = "common_pid != 0", .c = "0"),
	COMMAND(SWITCH "trigger", "traceoff:5 if prev_pid == 12345", "!traceoff:5 if prev_pid == 12345"),
	COMMAND(SWITCH "trigger", "stacktrace:3", "!stacktrace:3"),
	COMMAND(SWITCH "trigger", "snapshot:1 if prev_pid == 12345", "!snapshot:1 if prev_pid == 12345"),
	STEP("a trigger that switches an event", append_b, remember, write_c, same_and_not_held, .a = SWITCH "trigger",
	     .b = "enable_event:irq:irq_handler_entry", .c = "!enable_event:irq:irq_handler_entry"),
	LIST("set_ftrace_filter", "set_ftrace_filter", "schedule*\n"),
	LIST("set_ftrace_notrace", "set_ftrace_notrace", "vfs_*\n"),
	LIST("set_graph_function", "set_graph_function", "vfs_read\n"),
	LIST("set_ftrace_pid", "set_ftrace_pid", "1 2 3\n"),
	LIST("set_event_pid", "set_event_pid", "1 2 3\n"),
	FUNCTION_COMMAND("do_exit:traceoff:3", "!do_exit:traceoff:0"),
	FUNCTION_COMMAND("do_exit:stacktrace", "!do_exit:stacktrace"),
	FUNCTION_COMMAND("do_exit:enable_event:sched:sched_switch", "!do_exit:enable_event:sched:sched_switch"),
	WRITE("buffer_size_kb, larger", "buffer_size_kb", "60", "20"),
	WRITE("buffer_size_kb, smaller", "buffer_size_kb", "8", "20"),
	WRITE("buffer_size_kb, of one CPU", "per_cpu/cpu0/buffer_size_kb", "60", "20"),
	WRITE("buffer_subbuf_size_kb", "buffer_subbuf_size_kb", "8", "4"),
	WRITE("saved_cmdlines_size", "saved_cmdlines_size", "300", "128"),
	WRITE("tracing_cpumask", "tracing_cpumask", "0", "1"),
	WRITE("trace_clock", "trace_clock", "global", "local"),
	WRITE("trace_options", "trace_options", "stacktrace", "nostacktrace"),
	WRITE("an option", "options/userstacktrace", "1", "0"),
	WRITE("function_profile_enabled", "function_profile_enabled", "1", "0"),
	WRITE("stack_tracer_enabled", "/proc/sys/kernel/stack_tracer_enabled", "1", "0"),
	WRITE("ksym_trace_filter", "ksym_trace_filter", "panic_timeout:rw-", "panic_timeout:---"),
	STEP("snapshot", write_b, undo_and_remember, write_c, check_same, .a = "snapshot", .b = "1", .c = "0"),
	STEP("trace_marker", write_b, NULL, NULL, NULL, .a = "trace_marker", .b = "a message"),
	STEP("mkdir instances/x", make_instance, NULL, remove_instance, no_instance, .quick = true),
	INSTANCE("current_tracer", "function"),
	INSTANCE("current_tracer", "function_graph"),
	INSTANCE("events/sched/enable", "1"),
	INSTANCE("events/sched/sched_switch/filter", "prev_pid > 3"),
	INSTANCE("set_ftrace_filter", "vfs_read"),
	INSTANCE("buffer_size_kb", "60"),
	INSTANCE("trace_marker", "a message"),
	STEP("fork under function_graph", fork_it, choose_a, reap_it, no_tracer, .a = "function_graph"),
	STEP("fork under function", fork_it, choose_a, reap_it, no_tracer, .a = "function"),
	READ("trace"),
	READ("trace_pipe"),
	READ("per_cpu/cpu0/trace_pipe_raw"),
	READ("snapshot"),
	READ("README"),
	READ("available_filter_functions"),
	READ("available_events"),
	READ("set_event"),
	READ("set_ftrace_filter"),
	READ("trace_options"),
	READ("saved_cmdlines"),
	READ("printk_formats"),
	READ("error_log"),
	READ("per_cpu/cpu0/stats"),
	READ("events/header_page"),
	READ(SWITCH "format"),
	READ(SWITCH "trigger"),
	READ("trace_stat/function0"),
};

#define MAX_TRACERS 40
#define MAX_MODULES 8
static struct fault_step steps[sizeof(fixed) / sizeof(*fixed) + MAX_TRACERS + MAX_MODULES * 2];

/* A step for each tracer: that a tracer is not chosen is seen in the file, and in what it sets. */
static size_t add_tracers(size_t n)
{
	static char names[1024];
	char *at = names, *name;

	read_into(names, "available_tracers");
	while (*(at += strspn(at, " \n"))) {
		name = at;
		at += strcspn(at, " \n");
		if (*at)
			*at++ = 0;
		if (strcmp(name, "nop"))
			steps[n++] = (struct fault_step)WRITE(name, "current_tracer", name, "nop");
	}
	return n;
}

/* A step for each module in / to load it, and one to unload it. */
static size_t add_modules(size_t n)
{
	static const struct {
		const char *file, *name;
	} modules[] = {
		{"/hello_5.ko", "hello_5"},
		{"/kprobe_sample.ko", "kprobe_sample"},
		{"/trace_events_sample.ko", "trace_events_sample"},
		{"/percpu_counts.ko", "percpu_counts"},
		{"/procfs_2.ko", "procfs_2"},
		{"/chardev.ko", "chardev"},
		{"/ftrace_calls.ko", "ftrace_calls"},
	};

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		if (!exists(modules[i].file))
			continue;
		steps[n++] = (struct fault_step)STEP(modules[i].file, load, open_module, unload, not_loaded,
						     .a = modules[i].file, .b = modules[i].name);
		steps[n++] = (struct fault_step)STEP(modules[i].name, remove_module, have_loaded, NULL, after_refusal,
						     .a = modules[i].file, .b = modules[i].name);
	}
	return n;
}

int main(int argc, char **argv)
{
	size_t n = sizeof(fixed) / sizeof(*fixed);

	CHECK_CALL(CALL(chdir, "/sys/kernel/tracing"));
	faults_write("buffer_size_kb", "20", 0);
	memcpy(steps, fixed, sizeof(fixed));
	n = add_tracers(n);
	n = add_modules(n);
	faults_before_look = clear_log;
	memset(room, 1, sizeof(room));
	memset(after, 1, sizeof(after));
	memset(before, 1, sizeof(before));
	return faults_main(argc, argv, steps, n);
}
