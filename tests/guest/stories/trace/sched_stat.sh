# Tasks that sleep, wait for a CPU and are preempted, on two CPUs.
echo 0 > tracing_on
for event in switch wakeup wakeup_new stat_wait stat_sleep stat_blocked; do
	echo 1 > events/sched/sched_$event/enable
done
echo > trace
echo 1 > tracing_on
taskset 1 sleep 0.013
taskset 1 seq 9000 > /dev/null & taskset 1 seq 9000 > /dev/null
wait
taskset 2 chrt -f 5 seq 9000 > /dev/null & taskset 2 sleep 0.001
wait
echo 1 > /sys/kernel/tracing/tracing_cpumask
echo 3 > /sys/kernel/tracing/tracing_cpumask
echo 1 > options/event-fork
echo 0 > options/event-fork
echo 0 > tracing_on
echo == events
cat trace
echo > set_event
echo > trace
echo 1 > tracing_on
sleep 0.05
echo sched_stat_sleep sched_stat_wait > set_event
sleep 0.02
echo > set_event
echo == again
cat trace
