#!/bin/sh
# description: a CPU leaves and comes back: tasks, timers, registers, files, threads, its trace, the events, memory
# requires: smp=4 timeout=300 progs="cpuhp"
# requires: rooms="historic noise posix_timers procfs triggers"
. /run/prelude
C=/sys/devices/system/cpu
L=$C/cpu3/online

# The sum of all columns of the first line of /proc/stat.
stat_sum() {
	set -- $(head -1 /proc/stat)
	echo $(($2 + $4 + $5))
}

runs 'tasks' cpuhp
same 'tasks that were told of' 8 "$(dmesg | grep -c 'process [0-9]* (cpuhp) no longer affine to cpu3$')"

# Files. The sum of all CPUs' times does not go back.
before=$(stat_sum)
intr=$(grep ^intr /proc/stat | tr -dc 0-9)
echo 0 > $L
holds 'online' $C/online 0-2
holds 'offline' $C/offline 3
holds 'possible' $C/possible 0-3
holds 'present' $C/present 0-3
holds 'its own' $L 0
same 'lines of /proc/stat' 3 "$(grep -c '^cpu[0-9]' /proc/stat)"
same 'CPUs of /proc/cpuinfo' 3 "$(grep -c ^processor /proc/cpuinfo)"
same 'columns of /proc/interrupts' 3 "$(head -1 /proc/interrupts | wc -w)"
test "$(stat_sum)" -ge "$before" || fail 'time was unspent'
test "$(grep ^intr /proc/stat | tr -dc 0-9)" -ge "$intr" || fail 'interrupts were uncounted'
ps | grep -q ' P .*[k]softirqd/3' || fail 'ksoftirqd/3 is not parked'
echo 1 > $L
holds 'online again' $C/online 0-3
for i in 1 2 3; do taskset 8 true; done
ps | grep -q ' P .*[k]softirqd/3' && fail 'ksoftirqd/3 is still parked'
holds 'offline again' $C/offline ''
same 'lines of /proc/stat again' 4 "$(grep -c '^cpu[0-9]' /proc/stat)"

# Its trace stays, also in a snapshot, and the buffers may be changed while it is not there.
tracing_reset
echo 8 > $T/tracing_cpumask
echo 1 > $T/events/cpuhp/enable
taskset 8 sh -c "echo here > $T/trace_marker"
echo 0 > $L
grep -q here $T/per_cpu/cpu3/trace || fail 'what the CPU has recorded is gone'
grep -q 'cpu: 0003 target:   0 step: .* (sched_cpu_dying)' $T/per_cpu/cpu3/trace || fail 'no event of a step on the way down'
grep -q ' cpu: 0003  state: .* step: .* ret: 0' $T/per_cpu/cpu3/trace || fail 'no event of the end of a step'
echo 1 > $T/snapshot
grep -q here $T/snapshot || fail 'the snapshot lacks what the CPU has recorded'
grep -q here $T/trace && fail 'the live buffer still has it'
echo 300 > $T/buffer_size_kb || fail 'resizing'
echo > $T/trace
echo 1 > $L
grep -q 'target: .* step: .* (hrtimers_cpu_starting)' $T/per_cpu/cpu3/trace || fail 'no event of a step on the way up'
echo 0 > $T/events/cpuhp/enable
echo f > $T/tracing_cpumask
echo 0 > $T/snapshot

# threads TRACER [CPU]: how many there are
threads() {
	ps | grep -c "^.*\[$1d*/${2:-[0-9]}\]"
}

# Tracers with a thread for each CPU.
for tracer in osnoise timerlat hwlat; do
	echo per-cpu > $T/hwlat_detector/mode
	echo $tracer > $T/current_tracer
	becomes "$tracer" 4 threads $tracer
	echo 0 > $L
	becomes "$tracer, down" 3 threads $tracer
	echo 1 > $L
	becomes "$tracer, up" 4 threads $tracer
	echo 0 > $L
	echo nop > $T/current_tracer
	echo $tracer > $T/current_tracer
	becomes "$tracer, begun without it" 3 threads $tracer
	echo 1 > $L
	becomes "$tracer, up later" 4 threads $tracer
	echo nop > $T/current_tracer
done

# hwlat whose recording a trigger has switched off: its threads run still, and none stays when its CPU goes.
echo hwlat > $T/current_tracer
echo traceoff > $T/events/sched/sched_switch/trigger
echo 0 > $L
holds 'recording after the trigger' $T/tracing_on 0
becomes 'hwlat, stopped by a trigger' 0 threads hwlat 3
echo 1 > $L
echo nop > $T/current_tracer
echo '!traceoff' > $T/events/sched/sched_switch/trigger
echo 1 > $T/tracing_on
echo round-robin > $T/hwlat_detector/mode

# parks: somebody waits until a kernel thread has parked
parks() {
	cat /proc/[0-9]*/stack 2> /dev/null | grep -q 'kthread_park+'
}

# A program cannot begin to be measured by timerlat on a CPU that is leaving. The way down waits for ksoftirqd/3, which a
# real-time task keeps from parking.
echo NO_OSNOISE_WORKLOAD > $T/osnoise/options
echo timerlat > $T/current_tracer
taskset 8 chrt -f 50 sh -c ': > /tmp/busy; while test ! -e /tmp/let; do :; done' &
await 'a real-time task on CPU 3' test -e /tmp/busy
echo 0 > $L &
await 'somebody waits for ksoftirqd/3' parks
holds 'CPU 3 is on its way' $C/online 0-3
said=$(chrt -f 60 taskset 8 sh -c "exec 3< $T/osnoise/per_cpu/cpu3/timerlat_fd" 2>&1)
echo "$said" | grep -q 'Invalid argument' || fail "timerlat_fd of a CPU that is leaving: '$said'"
touch /tmp/let
wait
echo 1 > $L
echo nop > $T/current_tracer
echo OSNOISE_WORKLOAD > $T/osnoise/options

# Samples of a CPU that comes when sampling runs already.
echo 0 > $L
echo sysprof > $T/current_tracer
echo 1 > $L
taskset 8 sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
echo 0 > $T/tracing_on
grep -q '\[003\]\|^ *3 ' $T/trace || fail 'no sample of the CPU that came'
echo 0 > $L
echo nop > $T/current_tracer
echo 1 > $L
tracing_reset

# Nothing is lost: the memory is back after the first few times have filled all caches.
for round in 1 2; do
	n=0
	while [ $n -lt 12 ]; do
		echo 0 > $L
		echo 1 > $L
		n=$((n + 1))
	done
	test $round = 1 && settled && free=$(meminfo MemFree)
done
is_back 'twelve times off and on' 128 $free

# All others gone: the last one stays.
echo 0 > $L
echo 0 > $C/cpu2/online
echo 0 > $C/cpu1/online
if [ -e $C/cpu0/online ]; then
	echo 0 > $C/cpu0/online && fail 'the last CPU has left'
fi 2>&1 | grep -q 'busy' || [ ! -e $C/cpu0/online ] || fail 'no EBUSY for the last CPU'
holds 'alone' $C/online 0
sleep 0.1
for cpu in 1 2 3; do
	echo 1 > $C/cpu$cpu/online
done
holds 'all' $C/online 0-3
finish
