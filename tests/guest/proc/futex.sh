#!/bin/sh
# description: futexes: which waiters wake and how many, time-outs, signals, private and shared memory, robust lists, the end of threads, priority inheritance
# requires: smp=4;1 timeout=120 progs="futextest futextimes robusttest pitest"
# requires: rooms="procfs"
. /run/prelude
for program in futextest futextimes robusttest pitest; do
	$program || fail $program
done
finish
