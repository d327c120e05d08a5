#!/bin/sh
# description: hw-branch-tracer goes on and off while every CPU works, with the function tracer going on and off as well
# requires: smp=4 timeout=300 soak
. /run/prelude
test "$1" = 0 && ROUNDS=6 || ROUNDS=200
tracing_reset
cpus=$(grep -c ^processor /proc/cpuinfo)
mkdir -p instances/load
cpu=0
while test $cpu -lt $cpus; do
	taskset $((1 << cpu)) sh -c "while test ! -e /tmp/stop; do ls /tmp > /dev/null; done" &
	cpu=$((cpu + 1))
done
echo 5000 > hw_branch_window
round=0
while test $round -lt $ROUNDS; do
	echo function > instances/load/current_tracer # its patching stops CPUs that are stepped
	echo hw-branch-tracer > current_tracer
	test $((round % 2)) = 0 && echo nop > instances/load/current_tracer
	test $((round % 4)) = 3 && cat trace > /dev/null
	echo nop > current_tracer
	echo nop > instances/load/current_tracer
	round=$((round + 1))
done
touch /tmp/stop
wait
rmdir instances/load
# No step is left: nothing is recorded any more, and a window of each CPU is whole again.
echo hw-branch-tracer > current_tracer
sleep 0.2
for n in 0 1 2 3; do
	taskset $((1 << n)) sh -c 'for n in 1 2 3 4 5; do ls /tmp; done' > /dev/null
	test $(cat per_cpu/cpu$n/trace | grep -c -e '<-') -gt 50 || fail "CPU $n has no branches"
done
echo nop > current_tracer
# An NMI is not stepped: a function that one calls begins no section there (x86_64: handle_ipi of a backtrace is one).
if test $(uname -m) = x86_64; then
	echo handle_ipi > set_graph_function
	echo hw-branch-tracer > current_tracer
	for n in 1 2 3; do
		echo l > /proc/sysrq-trigger
		for cpu in 1 2 4 8; do taskset $cpu true; done # each of them is there
	done
	echo nop > current_tracer
	echo > set_graph_function
	dmesg | grep 'does not answer' && fail 'a CPU is lost'
fi
dmesg | grep -q -E 'Oops|WARNING|BUG|Unexpected' && fail "$(dmesg | grep -E 'Oops|WARNING|BUG|Unexpected')"
finish
