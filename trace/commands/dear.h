/* Function commands that are so dear that a CPU may need to do without them. Private to trace/commands. */
#pragma once

#include <sched/stop.h>

/* In the order of their cost, the dearest first. */
enum dear_command { DEAR_CPUDUMP, DEAR_DUMP, DEAR_SNAPSHOT, DEAR_STACKTRACE, NR_DEAR_COMMANDS };

/* Locks: a atomic. */
struct dear_state {
	bool fired;   /* [a] since interrupts were last found to take too long */
	bool suspect; /* [a] it had fired before that */
	bool ended;   /* [a] it does nothing any more, and is about to be taken out of set_ftrace_filter */
};
extern struct dear_state dear_states[NR_DEAR_COMMANDS];

/*
 * May this command act now? Not on CPUs that are asked to stop, and not when it has taken up the time of a CPU. In the
 * callback of a function: any context.
 */
static __always_inline bool dear_command_may_fire(enum dear_command command)
{
	struct dear_state *state = &dear_states[command];

	if (stop_machine_asked() || unlikely(READ_ONCE(state->ended)))
		return false;
	if (unlikely(!READ_ONCE(state->fired)))
		WRITE_ONCE(state->fired, true);
	return true;
}
