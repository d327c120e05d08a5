#!/bin/sh
# description: a running program's file and writers of it; what exec makes of headers; pipes opened again; no attributes
# requires: smp=4;1 timeout=120 progs="exectest"
# requires: rooms="procfs"
. /run/prelude
exectest || fail exectest

# The pipe of a pipeline, opened by its other name: the writer has gone already, nobody waits.
same 'a pipe opened again' hi "$({ echo hi; } | { sleep 0.2; cat /proc/self/fd/0; })"
same '/dev/stdin' via "$(echo via | cat /dev/stdin)"

# Programs that have ended leave nothing behind.
eighty() {
	for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sh -c : an argument
		sh -c : an argument
		sh -c : an argument
		sh -c : an argument
	done
}
eighty
settled
remember_memory
eighty
left_over
same 'what 80 programs have left' '' "$left"

finish
