#!/bin/sh
# description: futexes: which waiters wake and how many, time-outs, signals, private and shared memory, robust lists, the end of threads
# requires: smp=4;1 timeout=60 progs="futextest futextimes robusttest"
. /run/prelude
for program in futextest futextimes robusttest; do
	$program || fail $program
done
finish
