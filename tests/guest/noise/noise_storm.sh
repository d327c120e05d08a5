#!/bin/sh
# description: hwlat, osnoise and timerlat go on and off in two arrays, their CPUs and options change, under load and with the function tracer on
# requires: smp=4 timeout=300 progs="storm" soak
# requires: rooms="procfs samples instances"
. /run/prelude
test "$1" = 0 && ROUNDS=2 || ROUNDS=200
tracing_reset
threads() {
	ps | grep -cE ' \[(hwlatd|osnoise/|timerlat/)'
}
sites=$(wc -l < enabled_functions)
echo 20000 > osnoise/runtime_us
echo 25000 > osnoise/period_us
echo 20000 > hwlat_detector/width
echo 25000 > hwlat_detector/window
mkdir instances/load instances/second
for array in . instances/load instances/second; do
	echo 256 > $array/buffer_size_kb
done
echo function > instances/load/current_tracer
echo 1 > events/osnoise/enable
storm 3 > /tmp/storm &
storm=$!
round=0
lines=0
while test $round -lt $ROUNDS; do
	for tracer in $(grep -oE '\<(hwlat|osnoise|timerlat)\>' available_tracers); do
		echo $tracer > current_tracer || fail "round $round: $tracer"
		test $tracer = hwlat || echo $tracer > instances/second/current_tracer || fail "round $round: $tracer in a second array"
		echo $((round % 4)) > osnoise/cpus
		test $((round % 3)) = 0 && echo NO_OSNOISE_WORKLOAD > osnoise/options
		test $((round % 5)) = 0 && echo 0 > tracing_on && echo 1 > tracing_on
		test $((round % 4)) = 1 && echo per-cpu > hwlat_detector/mode
		echo 0-3 > osnoise/cpus
		sleep 0.02
		echo DEFAULTS > osnoise/options
		echo round-robin > hwlat_detector/mode
		test $((round % 2)) = 0 && head -n 30 trace > /dev/null
		echo nop > current_tracer
		lines=$((lines + $(grep -c "$tracer\|noise: " trace)))
		echo nop > instances/second/current_tracer
		becomes "round $round, threads after $tracer" 0 threads
	done
	round=$((round + 1))
	test $failures = 0 || break
done
kill -TERM $storm
wait $storm || fail "the storm: $(cat /tmp/storm)"
echo nop > instances/load/current_tracer
rmdir instances/load instances/second
echo 0 > events/osnoise/enable
same 'sites are as before' $sites $(wc -l < enabled_functions)
returns_are_whole
echo "$round rounds, $lines lines"
finish
