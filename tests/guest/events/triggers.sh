#!/bin/sh
# description: triggers of events: what each does and when, counts and filters, what is listed, what is refused
# requires: smp=2 icount progs="errno" timeout=120
# requires: rooms="hist procfs samples triggers instances"
. /run/prelude
tracing_reset
step=events/lab/lab_step
enter=events/lab/lab_enter
switch=events/sched/sched_switch
empty='# Available triggers:
# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist'

# steps NUMBER...: an event lab_step of each, then a lab_enter
steps() {
	for n in "$@"; do
		echo $n half > /sys/kernel/debug/lab/step
	done
}

# clear EVENT...: no triggers
clear() {
	for event in "$@"; do
		grep -v '^#' $event/trigger > /tmp/set
		while read line; do
			echo "!${line%% *}" > $event/trigger || fail "not taken away: $line"
		done < /tmp/set
		holds 'all gone' $event/trigger "$empty"
	done
}

# recorded WHAT TEXT: of all records these are the steps and rooms, and where stacks are
recorded() {
	grep -E 'step=|room=|<stack trace>' trace | sed 's/.*step=//; s/.*room=/room_/; s/.*<stack.*/stack/; s/ .*//' > /tmp/recorded
	same "$1" "$2" "$(echo $(sed 's/_/ /' /tmp/recorded))"
	echo > trace
}

# -- listed, the newest first; opening for writing leaves those that are there
holds 'at first' $switch/trigger "$empty"
echo 'stacktrace:5 if prev_prio == 200' > $switch/trigger
echo 'traceoff:1 if next_pid == 99999' >> $switch/trigger
echo 'enable_event:lab:lab_step:0' > $switch/trigger
echo 'snapshot 0x10 if prev_prio == 200' > $switch/trigger
holds 'four' $switch/trigger 'snapshot:count=16 if prev_prio == 200
enable_event:lab:lab_step:count=0
traceoff:count=1 if next_pid == 99999
stacktrace:count=5 if prev_prio == 200'
holds 'its probe is there for the triggers' $switch/enable '0*'
holds 'and of the event that one switches' $step/enable '0*'
echo 1 > $step/enable
holds 'on' $step/enable '1*'
echo 0 > $step/enable
holds 'off' $step/enable '0*'
steps 1
recorded 'nothing' ''
clear $switch
holds 'without triggers' $switch/enable 0
holds 'without triggers' $step/enable 0
echo 0 > snapshot

# -- refused, and nothing changes
echo 'traceon:3' > $step/trigger
echo 'enable_event:sched:sched_switch' > $step/trigger
echo 'enable_event:sched:sched_wakeup' > $step/trigger || fail 'one of another event is in the way'
set='enable_event:sched:sched_wakeup:unlimited
enable_event:sched:sched_switch:unlimited
traceon:count=3'
refused() {
	errno $step/trigger "$1" > /tmp/said
	same "$1" "$2" "$(sed 's/.*errno=//; s/ .*//' /tmp/said)"
	holds "$1" $step/trigger "$set"
}
for bad in nosuch 'traceoff:badparam' 'traceoff+0' 'traceoff:1x' 'stacktrace when step > 1' 'stacktrace if' \
	enable_event enable_event:sched 'enable_event:sched:nosuch' 'enable_event:no:sched_switch' \
	'enable_event:sched:sched_waking:' 'disable_event:sched:sched_waking:x' 'disable_event+1' '!nosuch' '!enable_event' \
	'!enable_event:sched:nosuch' 'hist:keys=nosuch'; do
	refused "$bad" 22
done
refused 'stacktrace if (step == 1' 2
refused 'traceoff:18446744073709551616' 34
for bad in traceon traceoff 'traceon:3 if step > 1' enable_event:sched:sched_switch disable_event:sched:sched_switch:1; do
	refused "$bad" 17
done
refused 'stacktrace if nosuch == 1' 22
grep -A 1 'error: Field not found' error_log | grep -q 'Command: nosuch == 1$' || fail "error_log: $(cat error_log)"
refused '!stacktrace' 0 # what is not there can be taken away
clear $step
holds 'the other event' $switch/enable 0

# -- traceoff and traceon, on an event that is off and on: an unconditional one acts before the record
echo traceoff > $step/trigger
steps 1
holds 'traceoff' tracing_on 0
clear $step
echo 1 > $step/enable
echo traceon:2 > $step/trigger
steps 2 3
recorded 'from the record that switches on' '2 3'
holds 'used once' $step/trigger traceon:count=1
clear $step
echo traceoff > $step/trigger
steps 4 5
recorded 'not the record that switches off' ''
clear $step
# one with a filter looks at the record, which is there before
echo 1 > tracing_on
echo 'traceoff if step > 6' > $step/trigger
steps 6 7 8
recorded 'up to the record that switches off' '6 7'
clear $step
echo 'traceon:1 if step == 2 && what == "half"' > $step/trigger
steps 1 2 3
recorded 'what switches on is seen, and not kept' 3
echo 0 > tracing_on
steps 2
holds 'once only' tracing_on 0
echo 1 > tracing_on
clear $step

# -- stacktrace: behind the record, from the place on; the filters of event and trigger count each for itself
echo 'step == 1' > $step/filter
echo 'stacktrace:2 if step > 1' > $step/trigger
steps 1 2 1 3 4
recorded 'stacks of records that are filtered out' '1 stack 1 stack'
clear $step
echo 0 > $step/filter
echo stacktrace:1 > $step/trigger
steps 1 2
same 'it begins with the place' ' => step_store' "$(grep ' => ' trace | grep -v lab_step | head -n 1)"
grep -A 1 '<stack trace>' trace | grep -q '^ => lab_step$' || fail "the stack: $(grep -A 2 '<stack trace>' trace)"
recorded 'the stack comes behind' '1 stack 2'
clear $step

# -- events by hits of others, and by their own
echo 'enable_event:lab:lab_enter:1 if step == 2' > $step/trigger
echo 'disable_event:lab:lab_enter' > $enter/trigger
steps 1 2 3
# lab_enter's own trigger acts before its record, so there is none
recorded 'switched off by itself' '1 2 3'
holds 'used' $step/trigger 'enable_event:lab:lab_enter:count=0 if step == 2'
clear $step $enter
echo 'enable_event:lab:lab_enter:1 if step == 2' > $step/trigger
holds 'off' $enter/enable '0*'
steps 1 2 3
recorded 'switched on' '1 2 room 2 3 room 3'
holds 'on' $enter/enable '1*'
clear $step
holds 'it stays on' $enter/enable 1
echo disable_event:lab:lab_enter > $step/trigger
steps 4
recorded 'switched off' 4
echo 1 > $enter/enable
steps 5
clear $step
recorded 'again' 5
holds 'it stays off' $enter/enable 0

# -- snapshot: what all CPUs recorded is in it; the rest goes on; nothing is in both
echo snapshot:2 > $step/trigger
grep -q 'Snapshot is allocated' snapshot || fail 'setting it allocates'
taskset 2 sh -c 'echo 1 one > /sys/kernel/debug/lab/step' # a snapshot, of nothing but what was
holds 'used' $step/trigger snapshot:count=1
echo three > trace_marker
taskset 1 sh -c 'echo two > /sys/kernel/tracing/trace_marker'
taskset 2 sh -c 'echo 2 two > /sys/kernel/debug/lab/step'
taskset 1 sh -c 'echo four > /sys/kernel/tracing/trace_marker'
taskset 2 sh -c 'echo five > /sys/kernel/tracing/trace_marker'
texts() {
	echo $(grep -E 'tracing_mark_write: |step=' $1 | sed 's/.*tracing_mark_write: //; s/.*step=//; s/ .*//')
}
same 'set aside' '1 three two' "$(texts snapshot)"
same 'went on' '2 four five' "$(texts trace)"
clear $step
echo 0 > $step/enable
# With a filter its own record is in the snapshot. From the scheduler: with its locks held, interrupts off.
echo > trace
echo 1 > $switch/enable
echo 'snapshot:1 if prev_comm == "sleep" && prev_state == 1' > $switch/trigger
sleep 0.01
sleep 0.01
echo 0 > $switch/enable
grep 'prev_comm=sleep' snapshot | sed 's/.*prev_state=//; s/ .*//' > /tmp/aside
same 'one sleep is in the snapshot, the other is not' S "$(tail -n 1 /tmp/aside)"
grep -q 'next_comm=sleep' trace || fail 'it wakes up after the snapshot'
grep -q 'prev_comm=sleep.*prev_state=S' trace || fail 'and the next sleeps'
clear $switch
echo > trace
echo snapshot > $step/trigger
echo 0 > snapshot
steps 1
grep -q 'SNAPSHOT NOT ALLOCATED' trace || fail 'freed while it is armed'
holds 'and stops' tracing_on 0
echo 1 > tracing_on
echo irqsoff > current_tracer
steps 2
echo nop > current_tracer
clear $step

# -- a trigger gives back what it had, its filter too
churn() {
	i=0
	while [ $i -lt $1 ]; do
		echo 'stacktrace if step == 1 && what == "half"' > $step/trigger || fail 'no trigger'
		echo '!stacktrace' > $step/trigger
		i=$((i + 1))
	done
}
churn 2
settled
before=$(objects)
churn 40
few_more '40 triggers' 20 $before

# -- each array has its own
mkdir instances/i
echo 'traceoff:1 if step == 1' > instances/i/$step/trigger
holds 'the top has none' $step/trigger "$empty"
steps 1
holds 'its own switch' instances/i/tracing_on 0
holds "not the top's" tracing_on 1
echo enable_event:lab:lab_enter > instances/i/$step/trigger
echo snapshot > instances/i/$step/trigger
holds 'its own events' instances/i/$enter/enable '0*'
holds "not the top's" $enter/enable 0
steps 1
holds 'its own events' instances/i/$enter/enable '1*'
runs 'it goes with its triggers' rmdir instances/i
steps 1
tracing_reset
echo 0 > snapshot
finish
