#!/bin/sh
# description: function_graph, also in an instance, display-graph and the profiler go on and off and their filters change while four CPUs fork, exec, kill and use pipes: no return goes astray
# requires: smp=4 timeout=500 progs="storm killstorm" soak
# requires: rooms="procfs samples instances"
. /run/prelude
rounds=8
test "$1" = 0 || rounds=1000

storm 4 > /tmp/storm &
storm=$!
killstorm 4 20 > /tmp/killstorm &
killstorm=$!
cd $T
echo 64 > buffer_size_kb
echo 1 > options/display-graph
mkdir instances/x
echo 64 > instances/x/buffer_size_kb
round=0
while [ $round -lt $rounds ]; do
	echo function_graph > current_tracer || fail "round $round: function_graph"
	case $((round % 8)) in
	0) echo 0 > tracing_thresh ;;
	1) echo schedule > set_graph_function ;;
	2) echo > set_graph_function; echo 3 > max_graph_depth ;;
	3) echo 0 > max_graph_depth; echo 'vfs_*' > set_ftrace_filter ;;
	4) echo > set_ftrace_filter; echo do_page_fault > set_graph_notrace ;;
	5) echo > set_graph_notrace; echo $storm > set_ftrace_pid ;;
	6) echo > set_ftrace_pid; echo 0 > options/sleep-time ;;
	7) echo 1 > options/sleep-time; echo 100 > tracing_thresh ;;
	esac
	test $((round % 10)) = 0 && head -c 100000 trace > /dev/null
	# What comes next hooks entries only, or returns too, in sections; or nothing.
	case $((round % 6)) in
	0) echo function > current_tracer ;;
	1) echo irqsoff > current_tracer ;;
	2) echo wakeup > current_tracer ;;
	3) echo 0 > options/display-graph; echo preemptirqsoff > current_tracer; echo 1 > options/display-graph ;;
	*) echo nop > current_tracer ;;
	esac
	# The profiler beside any of them, and alone.
	test $((round % 3)) = 2 || echo $((1 - round % 3)) > function_profile_enabled || fail "round $round: profiler"
	# An instance traces as well; every tenth time it is removed while it traces.
	case $((round % 10)) in
	2) echo 'vfs_* *sched*' > instances/x/set_ftrace_filter; echo function_graph > instances/x/current_tracer ;;
	4) echo > instances/x/set_ftrace_filter ;;
	6) echo nop > instances/x/current_tracer ;;
	7) echo function_graph > instances/x/current_tracer || fail "round $round: an instance" ;;
	9) rmdir instances/x && mkdir instances/x || fail "round $round: rmdir" ;;
	esac
	round=$((round + 1))
done
rmdir instances/x
echo 0 > function_profile_enabled
echo 0 > tracing_thresh
echo > set_graph_function
echo > set_graph_notrace
echo 0 > max_graph_depth
echo 1 > options/sleep-time
tracing_reset
echo 0 > options/display-graph
wait $killstorm || fail "killstorm: $(cat /tmp/killstorm)"
# x86_64: requests for backtraces are NMIs. They come in the middle of a record, and their handler is traced, too.
dmesg -n 1
test $(uname -m) = x86_64 && requests=10 || requests=0
echo function_graph > current_tracer
asked=0
while [ $asked -lt $requests ]; do
	echo l > /proc/sysrq-trigger
	asked=$((asked + 1))
done
echo nop > current_tracer
kill $storm
wait $storm || fail "storm: $(cat /tmp/storm)"
returns_are_whole
finish
