#!/bin/sh
# description: trace-record ends tidily by whatever signal, harms no file before it has another, and puts all back at once
# requires: smp=2 timeout=200
# requires: rooms="procfs commands instances"
. /run/prelude
tracing_reset
echo 1000 > buffer_size_kb
cd /tmp
state() {
	head -n 20 $T/set_event $T/tracing_on $T/current_tracer $T/set_ftrace_filter $T/trace_clock $T/buffer_size_kb
	ls $T/instances /run /tmp
}
# tidy WHAT: all is as it was
tidy() {
	rm -f out.dat said
	same "after $1" "$before" "$(state)"
}
# until_recording: it is under way
until_recording() {
	until grep -q sched_switch $T/set_event && grep -q 1 $T/tracing_on; do
		usleep 5000
	done
}
before=$(state)
echo sys_mount:traceoff:5 > $T/set_ftrace_filter
trace-stat > said
grep -q '^Functions: sys_mount:traceoff' said || fail "trace-stat hides commands: $(cat said)"
echo vfs_write >> $T/set_ftrace_filter
filters=$(cat $T/set_ftrace_filter)
trace-record -qp function -l schedule -o out.dat -- true 2> said || fail 'with commands in the filter'
same 'said of commands' '' "$(cat said)"
same 'filter with commands' "$filters" "$(cat $T/set_ftrace_filter)"
echo '!sys_mount:traceoff:5' > $T/set_ftrace_filter
echo > $T/set_ftrace_filter
tidy 'commands in the filter'

# What was there stays when nothing can be recorded; links stay links, and modes modes.
echo old > out.dat
for wrong in '-e sched -- /nosuch' '-e no:such -- true' '-e sched -B ../x -- true' '-x -B typo' '-x -B typo -p function'; do
	trace-record -o out.dat $wrong 2> said && fail "$wrong: status 0"
	same "$wrong: lines" 1 "$(wc -l < said)"
	same "out.dat after $wrong" old "$(head -c 100 out.dat)"
done
chmod 600 out.dat
ln -s out.dat link
trace-record -qe sched -o link -- true
same 'a link' 'l out.dat' "$(ls -l link | cut -c 1) $(ls -l link | sed 's/.*-> //')"
same 'its mode' -rw------- "$(ls -l out.dat | cut -c 1-10)"
test "$(wc -c < out.dat)" -gt 100000 || fail 'no trace behind the link'
rm link
tidy 'files that were there'

# A new file is as the umask has it, and the text of a CPU is whole whatever the name of its instance.
long=$(printf %0150d 0)
(
	umask 077
	trace-record -qe sched -B $long -e sched -o out.dat -- true
)
same 'mode of a new file' -rw------- "$(ls -l out.dat | cut -c 1-10)"
same 'texts of the first CPU' 2 "$(grep -c '^CPU: 0$' out.dat)"
same 'words of the command' '--max-graph-depth=3' "$(trace-cmd record -q -o out.dat -e sched echo --max-graph-depth=3)"
tidy 'a new file'

# ended STATUS SIGNAL ARGUMENTS...: by a signal to trace-record alone
ended() {
	status=$1 signal=$2
	shift 2
	trace-record -q -e sched "$@" &
	pid=$!
	until_recording
	usleep 100000
	kill -$signal $pid
	wait $pid
	same "SIG$signal, $*: status" $status $?
	test "$(wc -c < out.dat)" -gt 100000 || fail "SIG$signal, $*: no file"
	tidy "SIG$signal, $*"
}
ended 138 USR1 -o out.dat -- sleep 1000
ended 130 INT -o out.dat -- sleep 1000
ended 139 SEGV -o out.dat -- sleep 1000
ended 0 40 -o out.dat -B i -e irq

# It sleeps while there are no pages to take: what wakes it is the signal at the end.
turns() {
	grep '^voluntary_ctxt_switches' /proc/$pid/status | tr -dc 0-9
}
trace-record -q -e sched:sched_process_fork -o out.dat -- sleep 1000 &
pid=$!
until grep -q sched_process_fork $T/set_event && test -n "$(pidof sleep)"; do
	usleep 5000
done
# rests: it has begun to sleep. One that does not is found out by what follows.
rests() {
	turns=$(turns)
	usleep 100000
	test $(turns) = $turns
}
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	rests && break
done
turns=$(turns)
usleep 500000
test $(($(turns) - turns)) -le 2 || fail "trace-record ran $(($(turns) - turns)) times in half a second without a page to take"
kill -TERM $pid
wait $pid
tidy 'asleep'

# Before it begins: the command does not run, or ends.
for delay in 10 120; do
	trace-record -qp function -e sched -o out.dat -- sleep 1000 &
	pid=$!
	usleep ${delay}000
	kill -TERM $pid
	wait $pid
	same "TERM after $delay ms" 143 $?
	tidy "TERM after $delay ms"
done

# Who inherits SIGCHLD as ignored can wait nevertheless.
(trap '' CHLD; exec trace-record -qe sched -o out.dat -- true) || fail "SIGCHLD ignored: status $?"
tidy 'SIGCHLD ignored'

# Nobody reads the pipe: settings are back while it waits, a signal ends that, and the trace is elsewhere.
(
	trace-record -qe sched -o /dev/stdout -- sh -c 'until test -e go; do usleep 5000; done' 2> said &
	pid=$!
	until test -e /tmp/trace-record.$pid && grep -q sched_switch $T/set_event; do
		usleep 5000
	done
	touch go
	while grep -q sched_switch $T/set_event; do
		usleep 5000
	done
	usleep 100000
	kill -TERM $pid
	wait $pid
	echo "$pid $?" > ended
) | { until test -e ended; do usleep 10000; done; }
read pid status < ended
same 'nobody reads: status' 1 $status
same 'nobody reads' "trace-record: /dev/stdout: Interrupted system call: the trace is in /tmp/trace-record.$pid.dat" "$(cat said)"
test "$(wc -c < /tmp/trace-record.$pid.dat)" -gt 100000 || fail 'no trace elsewhere'
rm ended go /tmp/trace-record.$pid.dat
tidy 'nobody reads'

# One at a time; a killed one does not stand in the way of the next; the first buffer is left alone when nothing is asked of it.
trace-record -qe sched -o out.dat -- sleep 1000 &
pid=$!
until_recording
trace-record -e irq -o two.dat -- true 2> said && fail 'two at once'
same 'the second' "trace-record: process $pid records already" "$(cat said)"
kill -TERM $pid
wait $pid
tidy 'two at once'
trace-record -qe sched:sched_process_exit -o out.dat -- sleep 1000 &
pid=$!
until grep -q sched_process_exit $T/set_event && test -n "$(pidof sleep)"; do
	usleep 5000
done
kill -KILL $pid
wait $pid
kill $(pidof sleep)
echo > $T/set_event
rm -f out.dat*
echo kept > $T/trace_marker
trace-record -qB i -e sched -o out.dat -- true || fail 'after a killed one'
grep -q kept $T/trace || fail 'an instance alone has emptied the first buffer'
tidy 'a killed one'

# An event that only a command has on is so afterwards.
echo 'sys_sync:enable_event:sched:sched_waking' > $T/set_ftrace_filter
trace-record -qe sched_switch -o out.dat -- true
holds 'on for a command' $T/events/sched/sched_waking/enable '0*'
holds 'on for itself' $T/events/sched/sched_switch/enable 0
echo '!sys_sync:enable_event:sched:sched_waking' > $T/set_ftrace_filter

# Instances come and go beside trace-stat.
(while :; do mkdir $T/instances/z; rmdir $T/instances/z; done) 2> /dev/null &
pid=$!
i=0
while test $i -lt 15; do
	trace-stat > /dev/null 2> said || fail "trace-stat: $(cat said)"
	i=$((i + 1))
done
kill $pid
wait $pid
finish
