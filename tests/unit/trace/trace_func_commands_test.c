/*
 * Function commands: which functions have one, what they hold of events, and that all of it is given back. The text has
 * f0, f1 and so on, and a module's m0, m1 (trace_ftrace_host.h).
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include "trace_ftrace_host.h"

struct ftrace_regs;
unsigned long ftrace_regs_frame(const struct ftrace_regs *fregs);
#include "../../../trace/commands/probe.c"
#include "../../../trace/commands/command.c"
#include "../../../trace/commands/dear.c"

/* ---- What it stands on: an array with one event, sched:e. */
struct trace_array global_trace;
struct mutex event_mutex;
static struct trace_event_file event = {.tr = &global_trace};
static int held; /* how many users the event's probe has */

struct trace_event_file *trace_event_find(struct trace_event_set *set, const char *system, const char *name)
{
	return !strcmp(system, "sched") && !strcmp(name, "e") ? &event : NULL;
}
int trace_event_hold_other_later(struct trace_event_file *file)
{
	held++;
	return 0;
}
void trace_event_release_other_later(struct trace_event_file *file)
{
	held--;
}
void trace_events_complete(struct trace_event_set *set)
{
}
const char trace_rings_are_mapped[] = "mapped";
static int armed, arm_error;
int tracing_arm_snapshot(struct trace_array *tr)
{
	armed += !arm_error;
	return arm_error;
}
void tracing_disarm_snapshot(struct trace_array *tr)
{
	armed--;
}
/* Nothing is called here, so no command acts. */
unsigned long ftrace_regs_frame(const struct ftrace_regs *fregs)
{
	return 0;
}
void trace_switch_counted(struct trace_array *tr, bool on, unsigned long *count)
{
}
void trace_event_switch_counted(struct trace_event_file *file, bool on, unsigned long *count)
{
}
bool trace_count_take(unsigned long *count)
{
	return false;
}
bool tracer_tracing_is_on(struct trace_array *tr)
{
	return true;
}
void tracing_snapshot_instance(struct trace_array *tr)
{
}
void trace_stack_from(struct trace_array *tr, u32 pc, unsigned long flags, unsigned skip, unsigned long fp)
{
}
void ftrace_dump(enum ftrace_dump_mode mode)
{
}
unsigned stop_asked;
bool schedule_work(struct work_struct *work)
{
	work->state = WORK_QUEUED;
	return true;
}
void kvfree(const void *p)
{
	kfree(p);
}

static int begin(void **state)
{
	INIT_LIST_HEAD(&global_trace.list);
	held = 0;
	return fresh(state);
}

static int collect(const char *text)
{
	const char *why;
	char word[64];

	strcpy(word, text);
	return process_command(&global_trace, word, &why);
}

static int command(const char *text)
{
	int err = collect(text);

	return func_probes_commit() ?: err;
}

/* One hold for each write that named the event, until the last function of that write has lost the command. */
static void test_an_event_is_held_for_each_write(void **state)
{
	assert_int_equal(command("f1*:enable_event:sched:e"), 0);
	assert_int_equal(held, 1);
	assert_int_equal(command("f1:enable_event:sched:e"), -EINVAL); /* nothing new */
	assert_int_equal(command("f:enable_event:sched:e"), -EINVAL);
	assert_int_equal(command("f2:enable_event:sched:other"), -EINVAL);
	assert_int_equal(held, 1);
	assert_int_equal(command("f2:enable_event:sched:e"), 0);
	assert_int_equal(held, 2);
	assert_int_equal(command("!f1?:enable_event:sched:e"), 0);
	assert_int_equal(called[10], 0);
	assert_int_equal(called[1], FTRACE_SINGLE_CALLER_ADDR(0));
	assert_int_equal(command("!f1?:enable_event:sched:e"), -EINVAL);
	assert_int_equal(held, 2);
	assert_int_equal(command("!f1*:enable_event:sched:e"), 0);
	assert_int_equal(held, 1);
	assert_int_equal(command("!:enable_event:sched:e"), 0);
	assert_int_equal(held, 0);
	assert_null(global_trace.func_probes);
	assert_null(ftrace_ops_list);
}

/* The command counts once, however many writes and functions it has; a write that is refused leaves it as it was. */
static void test_snapshots_are_armed_while_a_function_has_them(void **state)
{
	assert_int_equal(command("f1:snapshot"), 0);
	assert_int_equal(command("f2:snapshot"), 0);
	assert_int_equal(armed, 1);
	assert_int_equal(command("f2:snapshot:3"), 0); /* another one, with counts */
	assert_int_equal(armed, 2);
	arm_error = -EBUSY;
	assert_int_equal(command("f3:snapshot"), -EBUSY);
	assert_int_equal(command("!f2:snapshot:3"), 0);
	assert_int_equal(armed, 1);
	assert_int_equal(command("f2:snapshot:3"), -EBUSY);
	arm_error = 0;
	assert_int_equal(command("!f1:snapshot"), 0);
	assert_int_equal(armed, 1);
	assert_int_equal(command("!f2:snapshot"), 0);
	assert_int_equal(armed, 0);
	assert_null(global_trace.func_probes);
}

/* Functions of a module that goes lose their commands, and others keep them. */
static void test_a_module_goes(void **state)
{
	place(&demo, 10, 5, 0);
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(command("m*:enable_event:sched:e"), 0);
	assert_int_equal(command("m1*:traceoff:2"), 0);
	assert_int_equal(command("f3:traceoff:2"), 0);
	demo.state = MODULE_STATE_GOING;
	command_notifier.going(&demo);
	assert_int_equal(held, 0);
	assert_int_equal(global_trace.func_probes->ops.filter.count, 1);
	leave(&demo);
	demo.state = MODULE_STATE_LIVE;
	assert_int_equal(command("!f3:traceoff:2"), 0);
	assert_null(global_trace.func_probes);
}

/* A command would stay, and what it holds, if no notifier is told any more that the function goes, or not yet. */
static void test_what_is_going_gets_no_command(void **state)
{
	place(&demo, 10, 5, 2);
	demo.state = MODULE_STATE_UNFORMED;
	assert_int_equal(site_notifier.coming(&demo), 0);
	assert_int_equal(command("m1*:enable_event:sched:e"), -EINVAL);
	demo.state = MODULE_STATE_COMING;
	assert_int_equal(command("m*:enable_event:sched:e"), 0);
	assert_int_equal(global_trace.func_probes->ops.filter.count, 7);
	demo.state = MODULE_STATE_LIVE;
	command_notifier.live(&demo);
	assert_int_equal(command("m15:enable_event:sched:e"), -EINVAL); /* of its init: the text is freed next */
	assert_int_equal(command("*:enable_event:sched:e"), 0);
	assert_int_equal(global_trace.func_probes->ops.filter.count, SITES + 5);
	assert_int_equal(command("!f*:enable_event:sched:e"), 0);
	demo.state = MODULE_STATE_GOING;
	command_notifier.going(&demo);
	assert_int_equal(held, 0);
	assert_int_equal(command("m12:enable_event:sched:e"), -EINVAL);
	assert_int_equal(command("m12:traceoff"), -EINVAL);
	assert_int_equal(held, 0);
	assert_null(global_trace.func_probes);
	leave(&demo);
	demo.state = MODULE_STATE_LIVE;
}

/* Words that give a command or take it away, one after the other, cost one stop, however many they are. */
static void test_words_in_a_row_are_one_change(void **state)
{
	u64 before = grace_periods;
	struct func_probe *probe;

	assert_int_equal(collect("f1:traceoff:3"), 0);
	assert_int_equal(collect("f2:traceoff:5"), 0);
	assert_int_equal(collect("f2:traceoff:7"), -EINVAL); /* it has the command already */
	assert_int_equal(collect("f1?:traceoff:9"), 0);
	assert_int_equal(collect("no:traceoff:9"), -EINVAL);
	assert_int_equal(grace_periods, before);
	assert_null(global_trace.func_probes);
	assert_int_equal(func_probes_commit(), 0);
	assert_int_equal(grace_periods, before + 1);
	probe = global_trace.func_probes;
	assert_int_equal(probe->ops.filter.count, 12);
	assert_int_equal(probe->slots[1].count, 3);
	assert_int_equal(probe->slots[2].count, 5);
	assert_int_equal(probe->slots[10].count, 9);
	assert_int_equal(collect("!f1:traceoff:0"), 0);
	assert_int_equal(collect("!f1:traceoff:0"), -EINVAL);
	assert_int_equal(collect("!f2:traceoff:0"), 0);
	assert_int_equal(collect("f2:traceoff:8"),
			 0); /* the other direction: what was collected comes in force first */
	assert_int_equal(grace_periods, before + 2);
	assert_int_equal(collect("!:traceoff:0"), 0);
	assert_int_equal(func_probes_commit(), 0);
	assert_null(global_trace.func_probes);
	assert_int_equal(func_probes_commit(), 0);
	assert_int_equal(grace_periods, before + 4);
	assert_int_equal(collect("nothing*:traceoff"), -EINVAL); /* begins a change, and changes nothing */
	assert_int_equal(func_probes_commit(), 0);
	assert_int_equal(grace_periods, before + 4);
	assert_null(global_trace.func_probes);
}

/* A change that cannot come in force leaves nothing: the events that its words held are given back. */
static void test_words_that_fail_together(void **state)
{
	assert_int_equal(command("f30:enable_event:sched:e"), 0);
	assert_int_equal(collect("f3:enable_event:sched:e"), 0);
	assert_int_equal(collect("f4*:enable_event:sched:e"), 0);
	assert_int_equal(held, 3);
	called[3] = 0xbad;
	assert_true(func_probes_commit() < 0);
	assert_int_equal(held, 1);
	assert_int_equal(global_trace.func_probes->ops.filter.count, 1);
	ftrace_clear_commands(&global_trace);
	assert_int_equal(held, 0);
}

/*
 * A command that fires before and after interrupts were too long ends, the dearest first, and is taken out by a
 * worker.
 */
static void test_the_dearest_command_ends(void **state)
{
	char what[96];

	assert_int_equal(command("f1*:snapshot"), 0);
	assert_int_equal(command("f1*:snapshot:3"), 0);
	assert_int_equal(command("f2:stacktrace"), 0);
	assert_int_equal(command("f3:traceoff"), 0);
	assert_true(dear_command_may_fire(DEAR_SNAPSHOT));
	assert_true(dear_command_may_fire(DEAR_STACKTRACE));
	assert_false(end_dearest_command(what, sizeof(what))); /* they may have fired long ago */
	assert_true(dear_command_may_fire(DEAR_SNAPSHOT));
	stop_asked = 1;
	assert_false(dear_command_may_fire(DEAR_STACKTRACE));
	stop_asked = 0;
	assert_true(end_dearest_command(what, sizeof(what)));
	assert_string_equal(what, "the function command snapshot (set_ftrace_filter)");
	assert_false(dear_command_may_fire(DEAR_SNAPSHOT));
	assert_true(dear_command_may_fire(DEAR_STACKTRACE));
	assert_int_equal(take_out_work.state, WORK_QUEUED);
	take_out_ended_commands(&take_out_work);
	assert_int_equal(command("!f1*:snapshot"), -ENODEV);
	assert_int_equal(command("!f1*:snapshot:3"), -ENODEV);
	assert_true(dear_command_may_fire(DEAR_SNAPSHOT)); /* one that is written from now on */
	assert_int_equal(command("!f2:stacktrace"), 0);
	assert_int_equal(command("!f3:traceoff"), 0);
	assert_null(global_trace.func_probes);
}

/* An array goes when ftrace has given up: its users are gone as always, so the events must be given back, too. */
static void test_an_array_goes_when_ftrace_has_given_up(void **state)
{
	assert_int_equal(command("f35:enable_event:sched:e"), 0);
	assert_int_equal(command("f36:traceoff"), 0);
	called[35] = 0xbad;
	ftrace_clear_commands(&global_trace);
	assert_true(ftrace_is_dead());
	assert_int_equal(warnings, 1); /* of the damage */
	assert_int_equal(held, 0);
	assert_null(global_trace.func_probes);
	assert_null(ftrace_ops_list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_event_is_held_for_each_write, begin, gone),
		cmocka_unit_test_setup_teardown(test_snapshots_are_armed_while_a_function_has_them, begin, gone),
		cmocka_unit_test_setup_teardown(test_a_module_goes, begin, gone),
		cmocka_unit_test_setup_teardown(test_what_is_going_gets_no_command, begin, gone),
		cmocka_unit_test_setup_teardown(test_words_in_a_row_are_one_change, begin, gone),
		cmocka_unit_test_setup_teardown(test_words_that_fail_together, begin, gone),
		cmocka_unit_test_setup_teardown(test_the_dearest_command_ends, begin, gone),
		cmocka_unit_test_setup_teardown(test_an_array_goes_when_ftrace_has_given_up, begin, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
