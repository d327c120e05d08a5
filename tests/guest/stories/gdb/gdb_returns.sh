# The guests of tests/guest/gdb/test_gdb_returns.py run these parts.

#: setup: Entries and returns are both traced: sites call ftrace_caller, which goes on by ftrace_graph_caller.
cd /sys/kernel/tracing; mkdir instances/graph
for where in . instances/graph; do echo vfs_write ksys_write > $where/set_ftrace_filter; done
echo function_graph > instances/graph/current_tracer; echo function > current_tracer
while :; do echo 1 > /tmp/x; sleep 0.1; done &
