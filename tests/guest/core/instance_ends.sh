#!/bin/sh
# description: an instance goes while its commands, triggers, filters by pid and tracers are at work; nothing of it is left
# requires: smp=2;4 append="slab_debug" timeout=200 soak
# requires: rooms="commands hist instances procfs slab_debug triggers"
. /run/prelude
test "$1" = 0 && rounds=10 || rounds=$(($1 * 200))
cd $T

# What may call back into an instance: each function makes one kind of it, in instances/u.
event_commands() {
	echo 'vfs_*:enable_event:sched:sched_switch' > set_ftrace_filter
	echo 'sys_*:disable_event:sched:sched_switch' >> set_ftrace_filter
	echo 'schedule:enable_event:sched:sched_wakeup:100' >> set_ftrace_filter
}
commands() {
	echo 'vfs_*:traceoff' > set_ftrace_filter
	echo 'sys_*:traceon' >> set_ftrace_filter
	echo 'schedule:snapshot' >> set_ftrace_filter
	echo 'vfs_read:stacktrace' >> set_ftrace_filter
}
triggers() {
	echo enable_event:sched:sched_wakeup > events/sched/sched_switch/trigger
	echo disable_event:sched:sched_switch > events/sched/sched_wakeup/trigger
	echo snapshot > events/sched/sched_wakeup/trigger
	echo stacktrace > events/sched/sched_switch/trigger
	echo 1 > events/sched/enable
}
histograms() {
	echo 'hist:keys=pid:ts0=common_timestamp.usecs' > events/sched/sched_wakeup/trigger
	echo 'hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_wakeup).instance_ends($lat,next_pid):onmax($lat).snapshot()' > events/sched/sched_switch/trigger
	echo 'hist:keys=common_pid:name=both' > events/sched/sched_waking/trigger
	echo 'hist:keys=common_pid:name=both' > events/sched/sched_process_exit/trigger
	echo enable_hist:sched:sched_waking > events/sched/sched_process_fork/trigger
	echo 1 > events/synthetic/instance_ends/enable
}
probes() {
	echo 1 > events/kprobes/instance_ends_p/enable
	echo 1 > events/kprobes/instance_ends_r/enable
	echo 1 > events/eprobes/instance_ends_e/enable
	echo enable_event:kprobes:instance_ends_r > events/kprobes/instance_ends_p/trigger
}
pids() {
	echo 1 > options/event-fork
	echo 1 > options/function-fork
	echo 1 > options/record-tgid
	echo $$ > set_event_pid
	echo $$ > set_ftrace_pid
	echo 1 > options/trace_printk_dest
	echo 1 > events/enable
	echo function > current_tracer
}
functions() {
	echo 1 > options/func_stack_trace
	echo function > current_tracer
	echo 'vfs_*' > set_ftrace_filter
}
graph() {
	echo function_graph > current_tracer
	echo 'vfs_*:enable_event:sched:sched_switch' > set_ftrace_filter
	cat trace_pipe > /dev/null &
	reader=$!
	echo 1 > events/sched/enable
	kill $reader
	wait $reader
}

echo 'instance_ends u64 lat; pid_t pid' > synthetic_events
echo 'p:instance_ends_p vfs_read' > kprobe_events
echo 'r:instance_ends_r vfs_write' >> kprobe_events
echo 'e:instance_ends_e sched.sched_switch next=$next_pid' >> dynamic_events
while true; do cat /proc/meminfo > /dev/null; done & load1=$!
while true; do ls /proc/self > /dev/null; done & load2=$!
for kind in event_commands commands triggers histograms probes pids functions graph; do
	for round in $(seq $rounds); do
		mkdir instances/u
		cd instances/u
		$kind 2> /tmp/said
		same "$kind: round $round: refused" '' "$(cat /tmp/said)"
		usleep $((round * 331 % 3000))
		cd ../..
		rmdir instances/u || fail "$kind: round $round: rmdir"
	done
	same "$kind: left in the kernel" '' "$(dmesg | grep -e 'and still has' -e Oops -e 'BUG:' -e WARNING | head -3)"
done
kill $load1 $load2
wait
echo > synthetic_events
echo > dynamic_events
same 'sites that are called' '' "$(cat enabled_functions)"
holds "the top array" events/enable 0
finish
