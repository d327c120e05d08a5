#!/bin/sh
# description: with four CPUs writing, a snapshot loses and doubles no record, and gives all its memory back
# requires: smp=4 timeout=300 progs="snaptest"
. /run/prelude
tracing_reset
echo sys_getppid > set_ftrace_filter
echo function > current_tracer

free_memory() {
	sleep 1 # what has ended gives its memory back
	grep MemFree /proc/meminfo | tr -dc 0-9
}

once() {
	echo > trace
	snaptest $1 || fail "snaptest $1"
	echo 0 > snapshot
}
once 2
before=$(free_memory)
once 24
after=$(free_memory)
# One object is 4 * 1408 KiB.
test $((before - after)) -lt 1000 || fail "memory: $before KiB were free, $after are"
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
