#!/bin/sh
# description: trace-fn shows what a command and its children call, and leaves tracing as it found it
# requires: smp=2
. /run/prelude
tracing_reset
echo 'vfs_read' > set_ftrace_filter
state() {
	head -n 3 set_ftrace_filter set_ftrace_pid current_tracer max_graph_depth options/function-fork tracing_on tracing_thresh
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
wrong 'no function matches' -l no_such_function true
wrong '-d DEPTH wants -g' -d 2 true
wrong '-t USEC wants -g' -t 2 true
wrong 'no process 99999' -p 99999
wrong 'Usage: trace-fn' -g
wrong 'Usage: trace-fn' -p $$ true
trace-fn -- /no/such > /dev/null 2>&1
same 'no such command' 127 $?
echo function > current_tracer
state > /tmp/before
wrong 'the tracer function is in use' true
echo > set_ftrace_filter
tracing_reset
finish
