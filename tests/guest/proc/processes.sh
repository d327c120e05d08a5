#!/bin/sh
# description: processes, memory, signals, pipes and files as Linux has them
# requires: smp=4;1 timeout=120 progs="proctest memtest sigtest pipetest splicetest fstest"
# requires: rooms="pipe_size procfs ranges"
. /run/prelude
for program in proctest memtest sigtest pipetest splicetest fstest; do
	$program || fail $program
done
settled
before=$(meminfo MemFree)
for i in $(seq 20); do
	pipetest sizes > /dev/null || fail 'sizes of pipes'
done
is_back 'sizes of pipes' 1000 $before
test -f /proc/1/task/1/stat || fail 'a thread has no files in /proc'
test -e /proc/1/task/1/task && fail '/proc has no end'
test $(find /proc 2> /dev/null | wc -l) -lt 5000 || fail 'find does not come to an end in /proc'
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
