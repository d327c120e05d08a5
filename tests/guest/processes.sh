#!/bin/sh
# description: processes, memory, signals, pipes and files as Linux has them
# requires: smp=1,4 timeout=120 progs="proctest memtest sigtest pipetest fstest"
. /run/prelude
for program in proctest memtest sigtest pipetest fstest; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
