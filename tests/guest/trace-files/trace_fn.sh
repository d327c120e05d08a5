#!/bin/sh
# description: trace-fn shows what a command and its children call, and leaves tracing as it found it
# requires: smp=2
# requires: rooms="procfs trace_stat"
. /run/prelude
tracing_reset
echo 'vfs_read' > set_ftrace_filter
state() {
	head -n 3 set_ftrace_filter set_ftrace_notrace set_ftrace_pid current_tracer max_graph_depth options/function-fork tracing_on \
		tracing_thresh function_profile_enabled
}
state > /tmp/before
trace-fn -l 'vfs_open kernel_clone' -- sh -c 'cat /proc/uptime > /dev/null; exit 3' > /tmp/calls
same 'the status of the command' 3 $?
same 'its tasks' 'cat sh ' "$(sed -n '/^[^#]/s/^ *//p' /tmp/calls | sed 's/-.*//' | sort -u | tr '\n' ' ')"
same 'its functions' 'kernel_clone vfs_open ' "$(sed -n '/^[^#]/s/.*: //p' /tmp/calls | sed 's/ <-.*//' | sort -u | tr '\n' ' ')"
trace-fn -g -d 1 -l 'sys_*' ls / > /tmp/graph || fail "ls has status $?"
grep -q '|  sys_exit_group() {$' /tmp/graph || fail 'no exit in the graph'
grep -v '^#' /tmp/graph | grep '|    ' && fail 'that is deeper than -d 1'
sleep 1000 &
victim=$!
(
	until test "$(cat current_tracer tracing_on | tr '\n' ' ')" = 'function_graph 1 '; do
		usleep 10000
	done
	kill $victim
) &
trace-fn --graph -l do_exit -p $victim > /tmp/graph
wait
grep -q 'do_exit() {$' /tmp/graph || fail 'no end of the process in its graph'
same 'put back' "$(cat /tmp/before)" "$(state)"

# The trace begins with the execve, and all is put back when the first line is shown, whoever reads it and goes away.
trace-fn -l '*' sh -c 'kill -USR1 $PPID' > /tmp/calls
same 'the first call' sys_execve "$(grep -v '^#' /tmp/calls | sed 's/.*: //; s/ <-.*//' | head -n 1)"
trace-fn -g --depth=3 -l '*execve*,*open*' -l '*read' -N 'vfs_open execve_user' cat /proc/version > /tmp/graph
same 'the first block' ' sys_execve() {' "$(grep '^[^#].*|  ' /tmp/graph | sed 's/.*| //' | head -n 1)"
grep -q 'sys_read\|vfs_read' /tmp/graph || fail 'no second -l'
grep -q 'vfs_open\|execve_user' /tmp/graph && fail 'what -N leaves out'
trace-fn -g -l '*' sh -c 'ls /bin > /dev/null' | {
	read line
	state > /tmp/early
}
same 'put back at the first line' "$(cat /tmp/before)" "$(cat /tmp/early)"
trace-fn --profile true | head -n 1 > /tmp/first
grep -q '^Function .* Hit ' /tmp/first || fail "the head of the profile: $(cat /tmp/first)"
same 'put back with nobody to read' "$(cat /tmp/before)" "$(state)"

# signalled SIGNAL STATUS ARGS...: what there is so far is shown
signalled() {
	signal=$1 status=$2
	shift 2
	trace-fn "$@" > /tmp/calls &
	traced=$!
	until grep -q do_nanosleep trace; do
		usleep 10000
	done
	kill -$signal $traced
	wait $traced
	same "trace-fn $*, SIG$signal: status" $status $?
	grep -q 'do_nanosleep <-' /tmp/calls || fail "SIG$signal: no trace"
	same "put back after SIG$signal" "$(cat /tmp/before)" "$(state)"
}
signalled TERM 143 -l do_nanosleep sleep 999
signalled HUP 129 -l do_nanosleep sleep 999
while :; do usleep 10000; done &
victim=$!
signalled QUIT 0 -l do_nanosleep -p $victim
signalled TERM 0 -l do_nanosleep -p $victim
kill $victim
wait $victim

# The profile: each line has a name, calls, their time and a mean that times the calls is the time, but for rounding.
trace-fn --profile -l 'vfs_open do_exit' -- sh -c 'cat /proc/uptime > /dev/null; ls / > /dev/null' > /tmp/profile || fail "--profile has status $?"
same 'the profile functions' 'do_exit vfs_open ' "$(sed '1d; s/ .*//' /tmp/profile | sort | tr '\n' ' ')"
while read name hits time unit mean rest; do
	test $name = Function && continue
	test $hits -gt 0 || fail "$name: $hits calls"
	test $name = do_exit && continue # it does not return
	whole=${time%.*}${time#*.} part=${mean%.*}${mean#*.}
	whole=${whole#${whole%%[1-9]*}} part=$((${part#${part%%[1-9]*}} * hits))
	test $part -le $whole -a $((part + hits)) -gt $whole || fail "$name: $hits calls of $mean are not $time us"
done < /tmp/profile
trace-fn --profile -l sys_nanosleep sleep 0.3 > /tmp/profile
set -- $(grep -h sys_nanosleep trace_stat/function*) # hits, time: six digits and one behind the point
same 'the time asleep' "$2 ${3%.*}.${3#*.}00" "$(sed '1d; s/sys_nanosleep *//; s/ us .*//; s/  */ /' /tmp/profile)"
same 'put back after the profile' "$(cat /tmp/before)" "$(state)"

# wrong TEXT ARGS...: it says so, with status 125, and changes nothing
wrong() {
	text=$1
	shift
	trace-fn "$@" > /dev/null 2> /tmp/said
	same "trace-fn $*: status" 125 $?
	grep -q -- "$text" /tmp/said || fail "trace-fn $*: $(cat /tmp/said)"
	same "trace-fn $*" "$(cat /tmp/before)" "$(state)"
}
wrong "no function matches 'no_such_function'" -l 'vfs_open,no_such_function' -l vfs_read true
wrong "no function matches 'no_such_function'" -N no_such_function true
wrong '-d DEPTH wants -g' -d 2 true
wrong '-t USEC wants -g' -t 2 true
wrong 'no process 99999' -p 99999
wrong 'Usage: trace-fn' -g
wrong 'a PID or a command, not both' -p $$ true
wrong "unknown option '--depth='" --depth= 2 true
for command in /no/such no_such; do
	trace-fn -- $command > /tmp/said 2>&1
	same 'no such command' 127 $?
	same 'what is said of it' "trace-fn: $command: No such file or directory" "$(cat /tmp/said)"
done
trace-fn /proc/version > /dev/null 2> /tmp/said
same 'no program' 126 $?
same 'after no command' "$(cat /tmp/before)" "$(state)"
trace-fn -h > /tmp/help
grep -q '^Usage: trace-fn .*--help' /tmp/help || fail 'no help by -h'
echo 1 > function_profile_enabled
state > /tmp/before
wrong 'the profiler is in use' --profile true
echo 0 > function_profile_enabled
echo function > current_tracer
state > /tmp/before
wrong 'the tracer function is in use' true
echo > set_ftrace_filter
tracing_reset
finish
