# The function profiler from its first use on; $CALLS is how many calls of plant_recurse a round makes.
on() {
	echo 1 > function_profile_enabled
}
off() {
	echo 0 > function_profile_enabled
}
recurse() {
	echo $1 > /sys/kernel/debug/fgraph/recurse
}
alone() {
	on
	recurse $((CALLS - 1))
	off
}
# show HEADING: the table of CPU 0, below that heading
show() {
	echo "== $1"
	cat trace_stat/function0
}
bad() {
	echo "== $1"
	echo $1 > function_profile_enabled
	cat function_profile_enabled
}

show never
echo plant_recurse > set_ftrace_filter
echo function_graph > current_tracer
echo > trace
echo 1 > tracing_on
alone
echo 0 > tracing_on
show 'with graph'
echo '== graph'
cat trace
echo nop > current_tracer
alone
show alone
recurse 3
show off
for n in 1 2 3; do
	alone
	show "total $n"
done
echo 0 > options/graph-time
for n in 1 2 3; do
	alone
	show "own time $n"
done
echo plant_recurse > set_ftrace_notrace
alone
show notrace
echo > set_ftrace_notrace

# Filters that change while it counts.
echo 'sys_nanosleep plant_recurse' > set_ftrace_filter
on
echo > set_ftrace_filter
echo '!plant*' > set_ftrace_filter
echo 'plant*' >> set_ftrace_filter
recurse 4
echo sys_nanosleep > set_ftrace_filter
recurse 4
sleep 0.2
off
show changed
echo 0 > options/sleep-time
on
sleep 0.2
off
show sleep
echo 1 > options/sleep-time
echo 1 > options/graph-time
echo > set_ftrace_filter
on
cat /proc/version > /dev/null
off
show all
echo 100 > tracing_thresh
show slow
echo 0 > tracing_thresh
on
for value in x -1 99999999999999999999 0x 7; do
	bad $value
done
off
echo '== stats'
cat /sys/kernel/debug/fgraph/stats /sys/kernel/debug/fgraph/profile
