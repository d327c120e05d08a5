# The function tracer sees the scheduler.
cd /sys/kernel/tracing
echo function > current_tracer
ls / > /dev/null
grep -q 'schedule <-' trace && echo functions
