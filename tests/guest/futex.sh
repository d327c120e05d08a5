#!/bin/sh
# description: futexes: who is woken and how many, time-outs, signals, whose memory, robust lists, the end of threads
# requires: smp=1,4 timeout=60 progs="futextest futextimes robusttest"
. /run/prelude
for program in futextest futextimes robusttest; do
	$program || fail $program
done
finish
