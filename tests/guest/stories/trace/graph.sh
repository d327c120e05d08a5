# The guests of tests/guest/graph/test_graph.py run these parts.

#: tree: What the shell itself calls in `work`, as function entries and as a tree, recorded until no interrupt came into it.
echo '== known'; cat available_filter_functions; echo $$ > set_ftrace_pid
for tracer in function function_graph; do echo $tracer > current_tracer
for i in 1 2 3 4 5; do work; echo > trace; echo 1 > tracing_on; work; echo 0 > tracing_on
cat trace > /tmp/$tracer.$i; done; done
for file in /tmp/function*; do echo == ${file#/tmp/}; cat $file; done

#: recursion: Recursion deeper than the shadow stack, seen by two arrays and by one; then interrupts upon the hook.
echo plant_recurse > set_ftrace_filter; echo 1 > options/funcgraph-overrun; echo function_graph > current_tracer
mkdir instances/outer; echo recurse_store text_file_write > instances/outer/set_ftrace_filter
echo function_graph > instances/outer/current_tracer
echo 1 > tracing_on; echo 140 > /sys/kernel/debug/fgraph/recurse || exit 1; echo 0 > tracing_on
echo '== trace'; cat trace; echo '== stats'; cat /sys/kernel/debug/fgraph/stats
echo 0 > instances/outer/tracing_on; echo '== outer'; cat instances/outer/trace; rmdir instances/outer
echo > trace; echo 1 > tracing_on; echo 140 > /sys/kernel/debug/fgraph/recurse; echo 0 > tracing_on
echo '== alone'; cat trace; echo '== stats_alone'; cat /sys/kernel/debug/fgraph/stats
echo nop > current_tracer; echo > set_ftrace_filter; echo irq_exit > set_graph_function; echo function_graph > current_tracer
echo 0 > options/funcgraph-overrun; echo 1 > options/funcgraph-tail; echo 1 > tracing_on; bench getpid 700000 > /dev/null
echo 0 > tracing_on; echo '== interrupts'; cat trace

#: arrays: As many arrays as there are places, one more, and that one when another has gone.
for n in $(seq 15); do mkdir instances/$n; echo 16 > instances/$n/buffer_size_kb
echo plant_recurse > instances/$n/set_ftrace_filter; done
for n in $(seq 14); do echo function_graph > instances/$n/current_tracer || exit 1; done
echo '== refused'; (echo function_graph > instances/15/current_tracer) 2>&1; cat instances/15/current_tracer
echo plant_recurse > set_ftrace_filter; echo 1 > function_profile_enabled && echo function_graph > ./current_tracer || exit 1
echo 1 > tracing_on; echo 2 > /sys/kernel/debug/fgraph/recurse; rmdir instances/3
echo function_graph > instances/15/current_tracer || exit 1; echo 1 > /sys/kernel/debug/fgraph/recurse
echo '== users'; cat /sys/kernel/debug/fgraph/stats; for array in . $(ls -d instances/*); do echo "== $array"; cat $array/trace; done
echo nop > current_tracer; rmdir instances/*; echo 0 > function_profile_enabled
echo 1 > /sys/kernel/debug/fgraph/recurse; echo '== after'; cat /sys/kernel/debug/fgraph/stats
