#!/bin/sh
# description: triggers and function commands come and go while 4 CPUs hit them; counts are exact, snapshots lose nothing
# requires: smp=4 timeout=240 soak
# requires: rooms="samples triggers commands instances"
. /run/prelude
test "$1" = 0 && rounds=3 || rounds=60
tracing_reset
step=events/lab/lab_step
switch=events/sched/sched_switch
none='#### all functions enabled ####'
stop=/tmp/stop
echo 8000 > buffer_size_kb

# -- exactly as many as the count says, from 4 CPUs at once
for cpu in 1 2 4 8; do
	taskset $cpu sh -c "while [ ! -e $stop ]; do echo 1 half > /sys/kernel/debug/lab/step; done" &
done
used_up() {
	grep -q count=0 $step/trigger && grep -q count=0 set_ftrace_filter
}
for round in 1 2 3; do
	echo > trace
	echo 'stacktrace:300 if step == 1' > $step/trigger
	echo step_store:stacktrace:100 >> set_ftrace_filter
	await "round $round: used up" used_up
	echo '!stacktrace' > $step/trigger
	echo '!step_store:stacktrace:0' >> set_ftrace_filter
	same "round $round: stacks" '300 100' "$(grep -A 1 '<stack trace>' trace | grep -c ' lab_step$') $(grep -A 1 '<stack trace>' trace | grep -c ' step_store$')"
done

# -- a filter holds from the first moment, also beside a trigger that has none
echo enable_event:lab:lab_leave > $step/trigger
for round in $(seq $((rounds * 4))); do
	echo 'traceoff if step == 99999' > $step/trigger
	echo '!traceoff' > $step/trigger
	read on < tracing_on
	test $on = 1 || { fail "round $round: traceoff if step == 99999, of step 1"; break; }
done
echo '!enable_event:lab:lab_leave' > $step/trigger
echo 1 > tracing_on

# -- set and taken away while they are hit, from the scheduler, too, and in an instance; recording goes on and off meanwhile
mkdir instances/i
while [ ! -e $stop ]; do echo 0 > tracing_on; echo 1 > tracing_on; done &
for round in $(seq $rounds); do
	for event in $step $switch; do
		echo 'traceoff:1 if common_pid == -1' > $event/trigger
		echo 'enable_event:lab:lab_enter' > $event/trigger
		echo 'stacktrace:5' > $event/trigger
		echo 'snapshot:1 if common_pid > 0' > $event/trigger
		echo 'disable_event:lab:lab_enter:3' > instances/i/$event/trigger
	done
	echo schedule:enable_event:lab:lab_leave >> set_ftrace_filter
	echo 'step_*:stacktrace:3' >> set_ftrace_filter
	echo 'vfs_w*:snapshot:1' >> set_ftrace_filter
	echo 'schedule:disable_event:lab:lab_leave:2' >> instances/i/set_ftrace_filter
	for event in $step $switch; do
		for kind in snapshot traceoff enable_event:lab:lab_enter stacktrace; do
			echo "!$kind" > $event/trigger
		done
		echo '!disable_event:lab:lab_enter' > instances/i/$event/trigger
	done
	echo '!schedule:enable_event:lab:lab_leave' >> set_ftrace_filter
	echo '!step_*:stacktrace:0' >> set_ftrace_filter
	echo '!vfs_w*:snapshot:0' >> set_ftrace_filter
	echo '!*:disable_event:lab:lab_leave:0' >> instances/i/set_ftrace_filter
done
echo schedule:traceoff > instances/i/set_ftrace_filter
echo snapshot > instances/i/$switch/trigger
runs 'with all that is in force' rmdir instances/i
touch $stop
wait
rm $stop
echo 1 > tracing_on
holds 'no commands' set_ftrace_filter "$none"
holds 'nobody is called' enabled_functions ''
for event in $step $switch; do
	holds 'no triggers' $event/trigger '# Available triggers:
# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist'
done
for event in $step $switch events/lab/lab_enter events/lab/lab_leave; do
	echo 0 > $event/enable
	holds 'nobody holds it' $event/enable 0
done

# -- a snapshot in the midst of writing: each record is in it or behind it, none in both
echo 0 > snapshot
echo > trace
echo snapshot:1 > $step/trigger
cat > /tmp/writer << 'END'
exec 3> /sys/kernel/tracing/trace_marker
for n in $(seq 400); do
	echo writer$1 $n >&3
	test $1 = 4 && test $n = 200 && echo 1 half > /sys/kernel/debug/lab/step
done
END
for writer in 1 2 4 8; do
	taskset $writer sh /tmp/writer $writer &
done
wait
seq 400 > /tmp/wanted
for writer in 1 2 4 8; do
	for part in snapshot trace; do
		grep "writer$writer " $part | sed 's/.* //' > /tmp/$part.$writer
	done
	both="$(cat /tmp/snapshot.$writer /tmp/trace.$writer)"
	test "$both" = "$(cat /tmp/wanted)" || fail "of writer $writer: $(grep -c . /tmp/snapshot.$writer) and $(grep -c . /tmp/trace.$writer)"
done
same 'who takes it has one half in it' '200 200' "$(grep -c . /tmp/snapshot.4) $(grep -c . /tmp/trace.4)"
echo '!snapshot' > $step/trigger
echo 0 > snapshot
tracing_reset
finish
