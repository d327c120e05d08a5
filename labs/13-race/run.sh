# The run that is recorded: the load of lab race with the seed $1, and, below the trace, what it says.
cd /sys/kernel/tracing
echo rtc_read rtc_interrupt > set_ftrace_filter
echo function_graph > current_tracer
said=$(lab_race one $1)
echo 0 > tracing_on
cat trace
echo "$said"
