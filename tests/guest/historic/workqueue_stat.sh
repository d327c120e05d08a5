#!/bin/sh
# description: counting works goes on and off under load with the function tracer on; while it is on, what ran was inserted, and afterwards the numbers are those of the works
# requires: smp=4 timeout=240 progs="storm" soak
# requires: rooms="procfs samples trace_stat"
. /run/prelude
test "$1" = 0 && rounds=8 || rounds=200
check=/sys/kernel/debug/latency/hook_check # a work on each CPU
cd $T
echo 64 > buffer_size_kb

# column N: the sum of a column of /tmp/workqueues
column() {
	sum=0
	for n in $(tail -n +3 /tmp/workqueues | sed 's/^ *//; s/  */ /g' | cut -d' ' -f$1); do
		sum=$((sum + n))
	done
	echo $sum
}

storm 3 > /tmp/storm &
storm=$!
(while test -d /proc/$storm; do cat $check > /dev/null; done) &
echo function > current_tracer
for round in $(seq $rounds); do
	echo 0 > workqueue_profile_enabled || fail "round $round: off"
	echo 1 > workqueue_profile_enabled || fail "round $round: on"
	cat trace_stat/workqueues > /tmp/workqueues
	cat trace_stat/workfuncs > /tmp/workfuncs
	# A work that was in a queue at the switch was not seen to be inserted: one a CPU at most.
	inserted=$(column 2)
	executed=$(column 3)
	test $executed -le $((inserted + 4)) || fail "round $round: $executed executed of $inserted"
	grep -q 'not counted' /tmp/workfuncs && fail "round $round: no room"
done
kill $storm # the loop ends by itself then: a killed one would leave its last cat behind, with works to come
wait
echo nop > current_tracer

echo 0 > workqueue_profile_enabled
cat $check > /dev/null
echo 1 > workqueue_profile_enabled
for n in 1 2 3; do
	cat $check > /dev/null
done
for cpu in 0 1 2 3; do
	set -- $(grep "^ *$cpu .*-check_states" trace_stat/workfuncs)
	same "works of CPU $cpu in the end" '3 3' "$2 $3"
done
dmesg | grep -E 'Oops|BUG|WARNING|panic' && fail 'the kernel complained'
finish
