# The stack tracer, from the command line's filter on.
enabled=/proc/sys/kernel/stack_tracer_enabled

plant() {
	echo 1 > /sys/kernel/debug/stack_tracer/plant
}
# bad FILE VALUE: what is written and refused
bad() {
	echo "== $1 $2"
	echo $2 > $1
	cat $1
}

echo '== boot'
cat stack_trace_filter
cat $enabled stack_max_size
echo 0 > $enabled
echo > stack_trace_filter
echo 0 > stack_max_size
echo '== off'
cat stack_trace
echo 1 > $enabled
plant
echo 0 > $enabled
echo '== plant'
cat stack_trace
echo '== size'
cat stack_max_size

# Returns that function_graph has hooked.
echo 0 > stack_max_size
echo 1 > tracing_on
echo function_graph > current_tracer
echo 'plant_stack_*' > stack_trace_filter
echo 1 > $enabled
plant
echo nop > current_tracer
echo '== hooked'
cat stack_trace
echo 100000 > stack_max_size
plant
echo '== threshold'
cat stack_max_size
cat stack_trace
echo 0 > stack_max_size
echo > stack_trace_filter
sleep 0.1
echo '== irq'
cat /sys/kernel/debug/stack_tracer/irq_stack_trace

# Three users of the same entries, with three filters.
echo plant_recurse > set_ftrace_filter
echo 'plant_stack_[12]' > stack_trace_filter
echo 0 > stack_max_size
echo > trace
echo function > current_tracer
echo 1 > function_profile_enabled
echo '== users'
cat enabled_functions
echo 20 > /sys/kernel/debug/fgraph/recurse
plant
echo 0 > function_profile_enabled
echo '== function'
grep -v '^#' trace
echo nop > current_tracer
echo '== profile'
tail -n +3 trace_stat/function0
echo '== stack'
cat stack_trace
echo > set_ftrace_filter
echo > stack_trace_filter
echo 0 > stack_max_size

bad $enabled x
bad stack_max_size -1
bad stack_max_size 99999999999999999999
echo 0 > $enabled
