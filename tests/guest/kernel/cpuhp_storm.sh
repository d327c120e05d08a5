#!/bin/sh
# description: CPUs go down and up under load, while functions, calls, events and interrupts off are traced; no task is lost
# requires: smp=4 timeout=400 progs="storm tracecheck" soak
# requires: rooms="historic procfs samples"
. /run/prelude
C=/sys/devices/system/cpu
rounds=3 # of each tracer; in the long form 200 times in all, and then as long as there is time
test "$1" -gt 0 && rounds=34
round=0

# Every CPU that may leave does, one after the other; two of them are away at the same time for a while.
cycle() {
	echo 0 > $C/cpu1/online || fail "CPU 1 does not go"
	echo 0 > $C/cpu2/online || fail "CPU 2 does not go"
	echo 1 > $C/cpu1/online || fail "CPU 1 does not come"
	echo 0 > $C/cpu3/online || fail "CPU 3 does not go"
	echo 1 > $C/cpu3/online || fail "CPU 3 does not come"
	echo 1 > $C/cpu2/online || fail "CPU 2 does not come"
	round=$((round + 1))
}

# in_turn TRACER
in_turn() {
	echo $1 > $T/current_tracer || fail "$1 is refused"
	n=0
	while [ $n -lt $rounds ]; do
		cycle
		n=$((n + 1))
	done
	echo nop > $T/current_tracer
}

dmesg -n 1
tracing_reset
storm &
load=$!
echo 1 > $T/events/sched/enable
echo 1 > $T/events/irq/enable
echo 1 > $T/events/timer/enable
for tracer in function function_graph preemptirqsoff wakeup sysprof nop; do
	in_turn $tracer
	kill -0 $load || fail "the load has died with $tracer"
done
echo 0 > $T/events/enable
end=$((${1:-0} * 60))
while [ $(cut -d. -f1 /proc/uptime) -lt $end ]; do
	in_turn function
done

echo > $T/trace
echo function > $T/current_tracer
cycle
sleep 0.1
echo 0 > $T/tracing_on
tracecheck < $T/trace > /tmp/checked || fail "the trace of functions: $(tail -3 /tmp/checked)"
for cpu in 1 2 3; do
	test "$(field entries $T/per_cpu/cpu$cpu/stats)" -gt 0 || fail "CPU $cpu has recorded nothing"
done
tracing_reset
kill $load
wait $load || fail "storm ended with status $?"
holds 'all are there' $C/online 0-3
echo "$round times"
dmesg | grep -E 'Oops|BUG|WARN|does not|panic' && fail 'the kernel complained'
returns_are_whole
finish
