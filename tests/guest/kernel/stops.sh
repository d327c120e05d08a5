#!/bin/sh
# description: switching a tracer: one stop and no grace period besides; rings are emptied by two calls to all CPUs at once; a grace period asks all CPUs but one
# requires: smp=4 timeout=120 rooms="instances"
. /run/prelude
tracing_reset
taskset -p 1 $$ > /dev/null || fail 'not pinned'
cd $T/instances
mkdir stops || fail 'no instance'
cd stops
# By us, and not by an interrupt that comes meanwhile (8 and 16 of the flags), where the balancer and timers wake stoppers.
echo "comm ~ \"migration/*\" && common_pid == $$ && !(common_flags & 24)" > events/sched/sched_waking/filter ||
	fail 'the filter of sched_waking'
echo "common_pid == $$" > events/ipi/ipi_send_cpumask/filter || fail 'the filter of ipi_send_cpumask'
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

# A stop wakes three stoppers, those of the other CPUs, or fewer when one is still awake from the stop before: so ten times
# together.
on=0
off=0
for try in 1 2 3 4 5 6 7 8 9 10; do
	switch function
	on=$((on + stoppers))
	same "$try: calls, on" 2 $calls
	switch nop
	off=$((off + stoppers))
	same "$try: calls, off" 2 $calls
done
test $on -ge 10 && test $on -le 30 || fail "ten times on have woken $on stoppers"
test $off -ge 10 && test $off -le 30 || fail "ten times off have woken $off stoppers"

# After a stop interrupts are on again when a stopper tells the initiator that it is through.
mkdir ../flags
cd ../flags
echo complete > set_ftrace_filter
echo function > current_tracer
echo 1 > events/irq/irq_handler_entry/enable # its site is switched in a stop
echo 0 > tracing_on
grep -E '^ *migration/[0-3]-[0-9]+ .* complete <-cpu_stopper_thread' trace > /tmp/flags || fail "no stopper: $(cat trace)"
grep -vE '^ *migration/[0-3]-[0-9]+ +\[00[0-3]\] \.' /tmp/flags && fail 'a stopper goes on with interrupts off'
echo nop > current_tracer
cd ../stops
rmdir ../flags

# A grace period asks every CPU but ours: a filter that goes is freed after one. Twenty filters go here.
echo > trace
for try in 1 2 3 4 5 6 7 8 9 10; do
	echo 'irq == 1' > events/irq/irq_handler_entry/filter
	echo 0 > events/irq/irq_handler_entry/filter
done
echo 0 > tracing_on
for cpu in 1 2 3; do
	woken=$(grep -c "sched_waking: comm=migration/$cpu " trace)
	test $woken -ge 5 || fail "twenty grace periods have asked CPU $cpu $woken times"
done
echo 1 > tracing_on
cd ..
rmdir stops
finish
