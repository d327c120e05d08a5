#!/bin/sh
# description: with four CPUs writing, a snapshot loses and doubles no record, and gives all its memory back
# requires: smp=4 timeout=300 progs="snaptest"
# requires: rooms="procfs"
. /run/prelude
tracing_reset
echo sys_getppid > set_ftrace_filter
echo function > current_tracer

once() {
	echo > trace
	snaptest $1 || fail "snaptest $1"
	echo 0 > snapshot
}
once 2
settled
before=$(meminfo MemFree)
once 24
is_back 'snapshots' 1000 $before # one object is 4 * 1408 KiB
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
