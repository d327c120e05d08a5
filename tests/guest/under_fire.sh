#!/bin/sh
# description: tracers and filters change while four CPUs make system calls as fast as they can
# requires: smp=4 timeout=240 progs="storm flip" soak
. /run/prelude
minutes=$1
times=200
test $minutes = 0 || times=2000
tracing_reset
echo 64 > buffer_size_kb
end=$(($(date +%s) + minutes * 60))
while :; do
	storm 4 > /tmp/storm &
	storm=$!
	until grep -q started /tmp/storm; do sleep 0.05; done
	flip $times || fail "flip ended with status $?"
	kill -TERM $storm
	wait $storm || fail "storm: $(cat /tmp/storm)"
	tail -1 /tmp/storm
	holds 'afterwards' current_tracer nop
	holds 'afterwards' enabled_functions ''
	dmesg | grep -E 'Oops|BUG|WARNING|ftrace bug' && fail 'the kernel complained'
	test $(date +%s) -lt $end && test $failures = 0 || break
done
tracing_reset
finish
