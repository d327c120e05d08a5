#!/bin/sh
# description: the story of the events holds: what scheduler, interrupts and softirqs tell of four busy CPUs is lived through again without a contradiction, also where events were lost
# requires: smp=4 mem=512M timeout=300 progs="replay" soak
# requires: rooms="procfs"
. /run/prelude
cd $T
wanted=10000
test "$1" = 0 || wanted=1000000

# story FILE: the checker's sums are in it; the first complaints are said
story() {
	same 'contradictions' 0 "$(field contradictions $1)"
	test $failures = 0 || cat $1
}

# told COMPLAINT RECORD...: the checker, given a softirq that is raised and served, and these records, says COMPLAINT; of none,
# that nothing is wrong
told() {
	expected=$1
	shift
	at=100000
	for record in 'softirq_raise: vec=4' 'softirq_entry: vec=4' 'softirq_exit: vec=4' "$@"; do
		at=$((at + 5000))
		echo "  a-7  [001] d.h1.  0.$at: $record"
	done | replay > /tmp/told
	same "complaint about: $*" "$expected" "$(sed -n 's/: *a-7.*//p' /tmp/told | sort -u)"
}
raise='softirq_raise: vec=4' enter='softirq_entry: vec=4' leave='softirq_exit: vec=4'
told '' "$raise" "$enter" "$leave"
told '' "$raise" "$raise" "$enter" "$leave" "$enter" "$leave"
told 'nobody has raised it' "$raise" "$enter" "$leave" "$enter" "$leave" "$enter" "$leave"
told 'nobody has raised it' "$raise" "$raise" "$raise" "$enter" "$leave" "$enter" "$leave" "$enter" "$leave" "$enter" "$leave"
switch='sched_switch: prev_comm=a prev_pid=7 prev_state=S ==> next_comm=b next_pid=8'
told 'it had not begun' "$switch" "$raise" "$enter" "$leave" "$leave"
told 'another task ran' "$switch" 'sched_switch: prev_comm=c prev_pid=9 prev_state=S ==> next_comm=d next_pid=6'
told 'nobody has woken it' "$switch" \
	'sched_switch: prev_comm=b prev_pid=8 prev_state=S ==> next_comm=a next_pid=7'

work='stress --cpu 2 --yield 2 --sleep 2 --pipe 2 --fork 2 --vm 1'
echo 0 > tracing_on
echo 20000 > buffer_size_kb
echo sched_switch sched_waking sched_wakeup sched_wakeup_new sched_migrate_task sched_stat_runtime 'irq:*' > set_event
events=0
while [ $events -lt $wanted ]; do
	# The work ends before the story is read: the two together take three times as long.
	echo > trace
	echo 1 > tracing_on
	$work --timeout 0.3 > /tmp/stress || fail "stress: $(cat /tmp/stress)"
	echo 0 > tracing_on
	same 'overrun' 0 "$(sum overrun)"
	recorded=$(sum entries)
	replay < trace > /tmp/story || fail 'the whole story does not hold'
	story /tmp/story
	same 'every record has a line' $recorded "$(field events /tmp/story)"
	test "$(field lost /tmp/story)" = 0 || fail 'events are lost'
	events=$((events + recorded))
	test $failures = 0 || break
done
echo "$events events"

# -- with a reader that cannot keep up
echo > trace
echo 16 > buffer_size_kb
$work > /tmp/stress &
stress=$!
exec 5< trace_pipe
lost=0
echo 1 > tracing_on
for burst in 1 2 3 4 5; do
	dd bs=8192 count=8 <&5 2> /dev/null
	until [ $(sum overrun) -gt $lost ]; do sleep 0.01; done
	lost=$(sum overrun)
done | replay > /tmp/story || fail 'the story with gaps does not hold'
echo 0 > tracing_on
exec 5<&-
story /tmp/story
test "$(field lost /tmp/story)" -gt 0 || fail 'nothing was lost'
kill $stress
wait $stress
ended=$?
same "stress until it was ended: $(cat /tmp/stress)" 143 $ended
echo > set_event
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
