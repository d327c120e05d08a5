#!/bin/sh
# description: a task that follows the idle task has a tick, also when the tick ended after the idle task came back from a switch
# requires: icount timeout=240
# requires: rooms="hist procfs triggers"
. /run/prelude
tracing_reset
usec=600000
echo 4000 > buffer_size_kb
# Many histograms make two places long: each switch, where interrupts are off, so that the tick and a sleeper are often due
# at its end; and the way of the idle loop from its look at the tick to the switch.
switch=events/sched/sched_switch
leave=events/kprobes/leave
echo p:leave schedule_idle > kprobe_events
for n in $(seq 25); do
	echo hist:name=h$n:keys=stacktrace >> $switch/trigger
	echo hist:name=l$n:keys=stacktrace >> $leave/trigger
done
echo 1 > events/timer/tick_stop/enable
echo 'function.function == tick_sched_timer' > events/timer/hrtimer_start/filter
echo 1 > events/timer/hrtimer_start/enable
echo 'prev_pid == 0' > $switch/filter
echo 1 > $switch/enable
for interval in 157 211 263 283 307 331 353 379; do
	latency -q -i $interval -l $((usec / interval)) > /dev/null &
done
wait
echo 0 > tracing_on
# Of all events behind one tick_stop the first is told: the tick starts again before any other task runs.
grep -v '^#' trace | grep -A 1 ' tick_stop: ' > /tmp/pairs
ends=$(grep -c ' tick_stop: ' /tmp/pairs)
test $ends -gt 30 || fail "the tick ended $ends times only"
test $(grep -c ' hrtimer_start: ' /tmp/pairs) -ge $((ends - 1)) || fail "it began again $(grep -c ' hrtimer_start: ' /tmp/pairs) times of $ends"
without=$(grep -c ' sched_switch: ' /tmp/pairs)
same 'tasks that ran without a tick' 0 $without
for n in $(seq 25); do
	echo "!hist:name=h$n:keys=stacktrace" >> $switch/trigger
	echo "!hist:name=l$n:keys=stacktrace" >> $leave/trigger
done
echo > kprobe_events
tracing_reset
finish
