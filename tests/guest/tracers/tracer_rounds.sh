#!/bin/sh
# description: every tracer of available_tracers goes on and off under load, while functions are traced in an instance
# requires: smp=4 timeout=1500 progs="storm" soak
# requires: rooms="procfs samples instances"
. /run/prelude
test "$1" = 0 && rounds=1 || rounds=200
tracing_reset
echo 64 > buffer_size_kb
# A step costs so much that a window of 1,000,000 instructions takes seconds a round; hw_branch_storm.sh has long ones.
echo 5000 > hw_branch_window
sites=$(wc -l < enabled_functions)
storm 4 > /tmp/storm &
storm=$!
mkdir instances/functions
echo 64 > instances/functions/buffer_size_kb
for round in $(seq $rounds); do
	echo function > instances/functions/current_tracer
	for tracer in $(cat available_tracers); do
		echo $tracer > current_tracer || fail "round $round: $tracer cannot be selected"
		test $((round % 4)) = 1 && echo 0 > tracing_on && echo 1 > tracing_on
		test $((round % 3)) = 1 && head -40 trace > /dev/null
	done
	echo nop > instances/functions/current_tracer
	test $failures = 0 || break
done
echo nop > current_tracer
kill -TERM $storm
wait $storm || fail "the storm: $(cat /tmp/storm)"
rmdir instances/functions
echo 1000000 > hw_branch_window
same 'sites are as before' $sites $(wc -l < enabled_functions)
returns_are_whole
echo "$round rounds"
finish
