#!/bin/sh
# description: switching a tracer: one stop and no grace period besides; rings are emptied by two calls to all CPUs at once
# requires: smp=4 timeout=120
. /run/prelude
tracing_reset
taskset -p 1 $$ > /dev/null || fail 'not pinned'
cd $T/instances
mkdir stops || fail 'no instance'
cd stops
echo 'next_comm ~ "migration/*"' > events/sched/sched_switch/filter
echo 1 > events/sched/sched_switch/enable
echo 1 > events/ipi/ipi_send_cpumask/enable

# switch TRACER: sets `stoppers` to the times that one has run, `calls` to the calls of several CPUs
switch() {
	echo > trace
	echo $1 > $T/current_tracer
	echo 0 > tracing_on
	cat trace > /tmp/switch
	echo 1 > tracing_on
	stoppers=$(grep -c sched_switch: /tmp/switch)
	calls=$(grep -c ipi_send_cpumask: /tmp/switch)
}

# The balancer and a timer's grace period use stoppers, too: so the least of some tries counts.
least_on=99
least_off=99
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	test $least_on -le 3 && test $least_off -le 3 && break
	switch function
	test $stoppers -lt $least_on && least_on=$stoppers
	same "$try: calls, on" 2 $calls
	switch nop
	test $stoppers -lt $least_off && least_off=$stoppers
	same "$try: calls, off" 2 $calls
done
# One that the balancer has just woken runs on without a switch.
test $least_on -le 3 || fail "stoppers have run $least_on times, on"
test $least_off -le 3 || fail "stoppers have run $least_off times, off"
cd ..
rmdir stops
finish
