#!/bin/sh
# description: function_graph in three arrays, the profiler and the stack tracer, each with its own filter, go on and off in any order under load; each has whole trees, of its own functions only
# requires: smp=4 timeout=240 progs="storm calls treecheck" soak
# requires: rooms="procfs samples instances trace_stat"
. /run/prelude
test "$1" = 0 && steps=15 || steps=300
debug=/sys/kernel/debug/fgraph
stack=/proc/sys/kernel/stack_tracer_enabled
seed=20117

# any N: a number below N, the same ones in each run
any() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	any=$((seed / 65536 % $1))
}

storm 2 > /tmp/storm &
storm=$!
cd $T
echo 64 > buffer_size_kb
echo 'ksys_*' > stack_trace_filter
mkdir instances/a
echo 64 > instances/a/buffer_size_kb
echo 'vfs_* *sched*' > instances/a/set_ftrace_filter
graph=0 inner=0 profile=0 stacks=0
for step in $(seq $steps); do
	any 8
	case $any in
	0)
		graph=$((1 - graph))
		test $graph = 1 && tracer=function_graph || tracer=nop
		echo $tracer > current_tracer || fail "step $step: $tracer"
		;;
	1)
		profile=$((1 - profile))
		echo $profile > function_profile_enabled || fail "step $step: profiler $profile"
		;;
	2)
		stacks=$((1 - stacks))
		echo $stacks > $stack || fail "step $step: stack tracer $stacks"
		;;
	3)
		any 3
		case $any in
		0) echo > set_graph_function ;;
		1) echo vfs_write > set_graph_function ;;
		2) echo vfs_read > set_graph_function ;;
		esac
		;;
	4)
		any 3
		case $any in
		0) echo > set_ftrace_filter ;;
		1) echo 'vfs_*' > set_ftrace_filter ;;
		2) echo 'vfs_* *sched*' > set_ftrace_filter ;;
		esac
		;;
	5)
		inner=$((1 - inner))
		test $inner = 1 && tracer=function_graph || tracer=nop
		echo $tracer > instances/a/current_tracer || fail "step $step: $tracer in an instance"
		;;
	6)
		any 2
		case $any in
		0) echo 'ksys_* *page*' > instances/a/set_ftrace_filter ;;
		1) echo 'vfs_* *sched*' > instances/a/set_ftrace_filter ;;
		esac
		;;
	7)
		# Made, and removed with calls open that it has hooked.
		if test -e instances/b; then
			rmdir instances/b || fail "step $step: rmdir"
		else
			mkdir instances/b
			echo 64 > instances/b/buffer_size_kb
			echo '*a*' > instances/b/set_ftrace_filter
			echo function_graph > instances/b/current_tracer || fail "step $step: function_graph in b"
		fi
		;;
	esac
done
kill $storm
wait $storm || fail "storm: $(cat /tmp/storm)"

# All of them, from nothing, and one pipe.
rmdir $(echo instances/*)
echo nop > current_tracer
echo 0 > function_profile_enabled
echo 0 > $stack
echo 'vfs_*' > set_ftrace_filter
echo vfs_read > set_graph_function
echo 0 > stack_max_size
echo > trace
for order in graph profile stack; do
	case $order in
	graph) echo function_graph > current_tracer ;;
	profile) echo 1 > function_profile_enabled ;;
	stack) echo 1 > $stack ;;
	esac
done
cat /proc/version | cat > /tmp/version
same 'users of returns' 2 "$(field users $debug/stats)"
echo 0 > tracing_on
echo 0 > function_profile_enabled
echo 0 > $stack

# The graph: what vfs_read calls and is in the filter; it stands outermost.
grep '()' trace | sed 's/^.*|  //' | sed 's/().*//' > /tmp/graph
grep -q '^vfs_read$' /tmp/graph || fail "no vfs_read: $(head -20 trace)"
grep -v '^ *vfs_' /tmp/graph && fail 'the graph has what set_ftrace_filter leaves out'
grep '^[a-z]' /tmp/graph | grep -v '^vfs_read$' && fail 'the graph has what is outside of vfs_read'
# The profiler: all of the filter, whatever the graph begins at.
cat trace_stat/function* | grep '^  [a-z]' | grep -v '^  vfs_' && fail 'the profiler has what is not in its filter'
cat trace_stat/function* | grep -q '^  vfs_write ' || fail 'the profiler goes by set_graph_function'
# The stack tracer: the innermost function is one of its own.
grep -q '^ *0).* ksys_[a-z]*+' stack_trace || fail "the deepest stack is not one of the filter's: $(cat stack_trace)"
test "$(cat stack_max_size)" -gt 0 || fail 'no maximum'

# An interrupt's last function returns to where the tracer itself may have been interrupted: it closes all the same
echo '*read* *write* fget* fput* irq_exit' > set_ftrace_filter
echo 2048 > buffer_size_kb
echo 1 > options/funcgraph-tail
echo do_page_fault > set_graph_notrace
echo 1 > function_profile_enabled
echo function_graph > current_tracer
echo 0 > tracing_on; echo > trace
for n in 1 2 3 4; do
	dd if=/dev/zero of=/dev/null bs=1 count=100000000 2> /dev/null &
	busy="$busy $!"
done
echo 1 > tracing_on
sleep 0.3
echo 0 > tracing_on
kill $busy
opened=$(grep -c 'irq_exit() {' trace)
closed=$(grep -c '} /\* irq_exit' trace)
test "$(grep -c 'irq_exit()' trace)" -gt 3 || fail "only $(grep -c 'irq_exit()' trace) interrupts"
test $((opened - closed)) -le 4 || fail "$opened calls of irq_exit, $closed returns"
echo 0 > function_profile_enabled
echo nop > current_tracer
echo 0 > options/funcgraph-tail
echo > set_graph_notrace

# Each array's trees are whole, though their functions are neither the same nor apart.
mkdir instances/a instances/b
echo '*a* sys_getppid' > instances/a/set_ftrace_filter
echo '*e* sys_getppid' > instances/b/set_ftrace_filter
echo '*s*' > set_ftrace_filter
echo > set_graph_function
echo 1 > function_profile_enabled
echo 1 > $stack
arrays='. instances/a instances/b'
for array in $arrays; do
	echo 6000 > $array/buffer_size_kb # a busy host lets many ticks come meanwhile
	echo 1 > $array/tracing_on
done
for array in $arrays; do
	echo function_graph > $array/current_tracer
done
same 'users of returns' 4 "$(field users $debug/stats)"
calls 400 4
for n in 1 2 3; do
	cat /proc/version | cat > /dev/null &
	works="$works $!"
done
wait $works
sleep 1000 & # inside of calls that are hooked for all
sleeper=$!
for array in $arrays; do
	echo 0 > $array/tracing_on
	echo vfs_rmdir > $array/set_ftrace_filter # what follows runs faster
done
echo 0 > function_profile_enabled
echo 0 > $stack
for array in $arrays; do
	cat $array/per_cpu/cpu*/stats | grep -E '^(overrun|commit overrun|dropped events): [1-9]' && fail "$array: records are lost"
	cat $array/trace > /tmp/trace
	same "$array: calls of sys_getppid" 400 "$(grep -c ' sys_getppid()' /tmp/trace)"
	case $array in
	.) letter=s ;;
	*/a) letter=a ;;
	*/b) letter=e ;;
	esac
	# One look at each line: what is left are closing braces and what should not be there.
	grep -v "|.*$letter.*()" /tmp/trace | grep '()' | grep -v '| *sys_getppid()' && fail "$array: of another's filter"
	echo 1 > $array/options/raw
	treecheck < $array/trace > /tmp/trees || fail "$array: $(cat /tmp/trees)"
	test "$(field calls /tmp/trees)" -gt 2000 || fail "$array: $(cat /tmp/trees)"
	echo 0 > $array/options/raw
done
echo nop > current_tracer
rmdir instances/a instances/b
kill $sleeper
wait $sleeper
returns_are_whole
finish
