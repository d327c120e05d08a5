#!/bin/sh
# description: under load, with maxima coming and going, every trace that a latency tracer shows is whole
# requires: smp=4 timeout=300 progs="latsoak" soak
# requires: rooms="procfs"
. /run/prelude
minutes=$1
set -- $(tr ' ' '\n' < $T/available_tracers | grep -E 'off$|^wakeup')
milliseconds=$((minutes ? minutes * 60000 / $# : 250))

# A task a CPU, of each kind of load, and tasks of both real-time classes that sleep and wake.
load() {
	stress --cpu 1 --yield 1 --pipe 1 --fork 1 > /dev/null &
	stress=$!
	latency -q -p 5 -t 2 > /dev/null &
	sleepers=$!
	latency -q -P deadline -i 5000 > /dev/null &
	sleepers="$sleepers $!"
}

tracing_reset
load
for tracer; do
	echo $tracer > current_tracer || fail "$tracer cannot be selected"
	latsoak $tracer $milliseconds || fail "$tracer"
	echo nop > current_tracer
	test $failures = 0 || break
done
kill $stress $sleepers
wait
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
