#!/bin/sh
# description: ksym_tracer goes on and off while every CPU accesses what it watches, with the function tracer on
# requires: smp=4 timeout=300 soak
. /run/prelude
H=/sys/kernel/debug/hw_breakpoint
test "$1" = 0 && ROUNDS=6 || ROUNDS=200
tracing_reset
cpus=$(grep -c ^processor /proc/cpuinfo)

# on_each_cpu COMMAND: by a shell that is pinned to it; does not wait
on_each_cpu() {
	cpu=0
	while test $cpu -lt $cpus; do
		taskset $((1 << cpu)) sh -c "$1" &
		cpu=$((cpu + 1))
	done
}

# exactly ACCESS: 2000 on each CPU, at the same time. QEMU 7.2 runs the CPUs in parallel here, and then it does not
# look at watchpoints in atomic instructions, so these are left out (docs/tracer-ksym_tracer.md).
exactly() {
	echo 0 > ksym_trace_filter
	echo > trace
	echo ksym_target:rw- > ksym_trace_filter
	on_each_cpu "echo 2000 > $H/$1"
	wait
	same "$cpus CPUs, 2000 times $1 each" $((2000 * cpus)) "$(grep ' ksym_target ' ksym_profile | tr -s ' ' | cut -d ' ' -f 4)"
	cpu=0
	while test $cpu -lt $cpus; do
		same "$1 on CPU $cpu" 2000 $(grep -c "\[00$cpu\] ksym_target" trace)
		cpu=$((cpu + 1))
	done
}

echo ksym_tracer > current_tracer
for access in write read irqs_off; do
	exactly $access
done

mkdir -p instances/load
echo function > instances/load/current_tracer
on_each_cpu "while test ! -e /tmp/stop; do echo 50 > $H/atomic; echo 50 > $H/irqs_off; done"
round=0
while test $round -lt $ROUNDS; do
	echo ksym_tracer > current_tracer
	echo ksym_target:rw- > ksym_trace_filter
	test $((round % 4)) = 0 && grep -q ' ksym_target .* 0$' ksym_profile && sleep 0.01
	echo nop > current_tracer
	same "symbols after the tracer has gone" 0 $(wc -l < ksym_trace_filter)
	round=$((round + 1))
done
touch /tmp/stop
wait
echo nop > instances/load/current_tracer
rmdir instances/load
echo ksym_tracer > current_tracer
exactly write
echo nop > current_tracer
echo 1000 > $H/write
same "lines after the end" 0 $(grep -c ksym_target trace)
dmesg | grep -q -E 'Oops|WARNING|BUG' && fail "$(dmesg | grep -E 'Oops|WARNING|BUG')"
finish
