/*
 * A gate at which the processes of a pipeline wait until all are there and the terminal is theirs.
 *
 *     shell: fork a   fork b   give the terminal   close the second end ---> gate opens
 *     a:     waits ......................................................... begins
 *     b:               waits ............................................... begins
 *
 * A pipeline is forked one process after the other. Were the first to have the terminal already, a
 * ^C would end it alone, and the others would begin without it. The gate is a pipe in which nobody
 * writes: it opens when the last process closes its second end, which is the shell in gate_open().
 */
#include "sh.h"

/* Without a descriptor for it there is no gate, and nobody waits. */
void gate_make(int gate[2])
{
	if (pipe2(gate, O_CLOEXEC) < 0)
		gate[0] = gate[1] = -1;
}

void gate_open(int gate[2])
{
	for (int i = 0; i < 2 && gate[i] >= 0; i++) {
		close(gate[i]);
		gate[i] = -1;
	}
}

/* In a child, with its signals unblocked: ^C ends it here as it would end the command. */
void gate_wait(int gate[2])
{
	char c;

	if (gate[0] < 0)
		return;
	close(gate[1]);
	gate[1] = -1;
	while (read(gate[0], &c, 1) < 0 && errno == EINTR)
		;
	gate_open(gate);
}
