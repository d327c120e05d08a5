#!/bin/sh
# description: switching a tracer: one stop and no grace period besides; rings are emptied by two calls to all CPUs at once
# requires: smp=4 timeout=120
. /run/prelude
tracing_reset
taskset -p 1 $$ > /dev/null || fail 'not pinned'
cd $T/instances
mkdir stops || fail 'no instance'
cd stops
echo "comm ~ \"migration/*\" && common_pid == $$" > events/sched/sched_waking/filter
echo 1 > events/sched/sched_waking/enable
echo 1 > events/ipi/ipi_send_cpumask/enable

# switch TRACER: sets `stoppers` to how many we have woken, `calls` to the calls of several CPUs
switch() {
	echo > trace
	echo $1 > $T/current_tracer
	echo 0 > tracing_on
	cat trace > /tmp/switch
	echo 1 > tracing_on
	stoppers=$(grep -c sched_waking: /tmp/switch)
	calls=$(grep -c ipi_send_cpumask: /tmp/switch)
}

# The balancer and a timer's grace period wake stoppers, too, and may do so in an interrupt of ours: so the least of some
# tries counts. Three are woken for a stop, those of the other CPUs.
least_on=99
least_off=99
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	test $least_on -eq 3 && test $least_off -eq 3 && break
	switch function
	test $stoppers -lt $least_on && least_on=$stoppers
	same "$try: calls, on" 2 $calls
	switch nop
	test $stoppers -lt $least_off && least_off=$stoppers
	same "$try: calls, off" 2 $calls
done
same 'stoppers that were woken, on' 3 $least_on
same 'stoppers that were woken, off' 3 $least_off
cd ..
rmdir stops
finish
