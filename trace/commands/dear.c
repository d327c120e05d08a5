/*
 * Function commands that take up a CPU's time: snapshot, stacktrace and the dumps cost thousands of instructions at
 * each call of a function. On all functions they may make a tick's handler longer than a tick. Then the dearest one
 * that has acted is ended, in all arrays (<time/irq_share.h>): it does nothing from that moment on, and a worker takes
 * it out of set_ftrace_filter. Commands that only switch are cheap and stay.
 */
#include <irq/workqueue.h>
#include <lib/printf.h>
#include <time/irq_share.h>

#include "core/array.h"
#include "commands.h"
#include "dear.h"

static const char *const dear_names[NR_DEAR_COMMANDS] = {
	[DEAR_CPUDUMP] = "cpudump",
	[DEAR_DUMP] = "dump",
	[DEAR_SNAPSHOT] = "snapshot",
	[DEAR_STACKTRACE] = "stacktrace",
};
struct dear_state dear_states[NR_DEAR_COMMANDS];

/* Later than the interrupts, which cannot wait for locks. A command that is written meanwhile is taken out, too. */
static void take_out_ended_commands(struct work_struct *work)
{
	for (unsigned i = 0; i < NR_DEAR_COMMANDS; i++) {
		if (!READ_ONCE(dear_states[i].ended))
			continue;
		ftrace_remove_command(dear_names[i]);
		WRITE_ONCE(dear_states[i].ended, false);
	}
}
static DECLARE_WORK(take_out_work, take_out_ended_commands);

/*
 * Hard interrupt. A command that has acted between the last two times in which interrupts took too long, and again
 * since then, is at work now; one that has acted at some time before is not to blame.
 */
static bool end_dearest_command(char *what, size_t size)
{
	unsigned dearest = NR_DEAR_COMMANDS;

	for (unsigned i = NR_DEAR_COMMANDS; i--;) {
		struct dear_state *state = &dear_states[i];
		bool fires = READ_ONCE(state->fired);

		if (fires && READ_ONCE(state->suspect))
			dearest = i;
		WRITE_ONCE(state->suspect, fires);
		WRITE_ONCE(state->fired, false);
	}
	if (dearest == NR_DEAR_COMMANDS)
		return false;
	WRITE_ONCE(dear_states[dearest].ended, true);
	schedule_work(&take_out_work);
	snprintf(what, size, "the function command %s (set_ftrace_filter)", dear_names[dearest]);
	return true;
}
static const struct irq_burden commands_burden = {.cost = 2000, .end = end_dearest_command};
REGISTER_IRQ_BURDEN(commands_burden);
