# The guests of tools/branch-report run these parts.

#: work: All kinds of work, on more tasks than CPUs; then tracing, which patches text and asks hints of its own.
cd /sys/kernel/tracing
stress --cpu 2 --yield 2 --sleep 4 --pipe 2 --fork 2 --vm 1 --fs 2 --timeout @SECONDS@ || exit 1
bench wakeup 200 > /dev/null
ls -lR / > /dev/null 2>&1
for tracer in function function_graph irqsoff wakeup; do
	echo $tracer > current_tracer || exit 1
	stress --pipe 1 --fork 1 --timeout 1 || exit 1
	head -1000 trace > /dev/null
done
echo nop > current_tracer
echo 1 > events/sched/enable
stress --pipe 1 --yield 1 --timeout 1 || exit 1
echo 0 > events/sched/enable
cat trace_stat/branch_annotated
