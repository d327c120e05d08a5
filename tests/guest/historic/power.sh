#!/bin/sh
# description: the power tracer goes on and off in turn with the function tracer under load and at rest; each line of it is whole, no sleep is longer than the trace
# requires: smp=4 timeout=240 progs="storm" soak
# requires: rooms="procfs instances"
. /run/prelude
test "$1" = 0 && rounds=8 || rounds=200
cd $T
echo 256 > buffer_size_kb
# The tracepoint is on all the time, so no stop wakes the CPUs when the tracer comes: some sleep already.
mkdir instances/idle
echo 1 > instances/idle/events/power/cpu_idle/enable
storm 3 > /tmp/storm &
storm=$!
for round in $(seq $rounds); do
	if test $round = $((rounds / 2)); then # the rest without load, as busy CPUs do not sleep
		kill $storm
		wait $storm
	fi
	echo power > current_tracer || fail "round $round: power"
	sleep 0.03
	echo 0 > tracing_on
	sed '/^#/d; /^$/d; /LOST/d; /buffer started/d' trace > /tmp/trace
	grep -vE '^\[ *[0-9]+\.[0-9]{9}\] CSTATE: Going to C1 on cpu [0-3] for [01]\.[0-9]{9}$' /tmp/trace &&
		fail "round $round: another line, or a sleep that began before the tracer"
	grep -E '^\[ *0\.0' /tmp/trace && fail "round $round: a sleep that began when the kernel did"
	test $round -gt $((rounds / 2)) && ! test -s /tmp/trace && fail "round $round: nobody slept"
	echo 1 > tracing_on
	echo function > current_tracer || fail "round $round: function"
done
wait
echo nop > current_tracer
rmdir instances/idle
dmesg | grep -E 'Oops|BUG|WARNING|panic' && fail 'the kernel complained'
finish
