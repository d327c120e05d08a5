#!/bin/sh
# description: hw-branch-tracer goes on and off while every CPU works, with the function tracer going on and off as well
# requires: smp=4 timeout=300 soak
# requires: rooms="commands fault_inject instances overload procfs refusals samples"
. /run/prelude
test "$1" = 0 && ROUNDS=3 || ROUNDS=200
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
# A CPU that is leaving gets no window, which would outlive it. Its way down waits until a real-time task lets ksoftirqd/3
# park, and the selection comes meanwhile.
C=/sys/devices/system/cpu
# parks: somebody waits until a kernel thread has parked
parks() {
	cat /proc/[0-9]*/stack 2> /dev/null | grep -q 'kthread_park+'
}
echo 0 > hw_branch_window
taskset 8 chrt -f 50 sh -c ': > /tmp/busy; while test ! -e /tmp/let; do :; done' &
await 'a real-time task on CPU 3' test -e /tmp/busy
echo 0 > $C/cpu3/online &
await 'somebody waits for ksoftirqd/3' parks
holds 'CPU 3 is on its way' $C/online 0-3
echo hw-branch-tracer > current_tracer
touch /tmp/let
wait
holds 'CPU 3 is gone' $C/online 0-2
echo nop > current_tracer
echo 1 > $C/cpu3/online
echo hw-branch-tracer > current_tracer || fail 'CPU 3 has come back with its window'
echo nop > current_tracer
echo 5000 > hw_branch_window
# A selection for which no memory is left is over: a CPU that comes later gets no window.
F=/sys/kernel/debug
for file in failslab fail_page_alloc; do
	echo N > $F/$file/ignore-gfp-wait
	echo 0 > $F/$file/verbose
done
echo 0 > $F/fail_page_alloc/min-order
# selects N: while the Nth allocation fails. How many there are depends on whether slabs have room: `left` is what the
# number has come down to, 0 if there were so many that one has failed.
selects() {
	sh -c "exec 3<> /proc/self/fail-nth; echo $1 >&3; echo hw-branch-tracer > current_tracer
		status=\$?; read -r left <&3; echo \$status \$left" > /tmp/selected 2> /dev/null
	status=1 left=0
	read -r status left < /tmp/selected
	return $status
}
echo panic_show > set_graph_function
nth=1
until selects $nth; do nth=$((nth + 1)); done
test $left -gt 0 || fail "selected without allocation $nth"
echo nop > current_tracer
# One of the allocations is the tracer's.
dmesg | grep -q 'not enough memory for tracer hw-branch-tracer' || fail "no allocation of the tracer's among $((nth - 1))"
while test $nth -gt 1; do
	nth=$((nth - 1))
	if selects $nth; then
		test $left = 0 && fail "selected without allocation $nth"
		echo nop > current_tracer
	fi
done
echo > set_graph_function
echo 0 > $C/cpu3/online
echo 1 > $C/cpu3/online
taskset 8 ls /tmp > /dev/null
same 'branches of a tracer that was refused' 0 $(grep -c -e '<-' trace)
# An NMI is not stepped: a function that one calls begins no section there (x86_64: handle_ipi of a backtrace is one).
if test $(uname -m) = x86_64; then
	echo handle_ipi > set_graph_function
	echo hw-branch-tracer > current_tracer
	# all_answer: a CPU has a tenth of a second for its backtrace, and a busy host may hold it up for longer
	all_answer() {
		silent=$(dmesg | grep -c 'does not answer')
		echo l > /proc/sysrq-trigger
		for cpu in 1 2 4 8; do taskset $cpu true; done # each of them is there
		test "$(dmesg | grep -c 'does not answer')" = $silent
	}
	for n in 1 2 3; do
		await 'no CPU is lost' all_answer
	done
	echo nop > current_tracer
	echo > set_graph_function
fi
# Two CPUs take snapshots, and are stepped through the lock that they wait for: a branch in there must not wait for it, too.
test "$1" = 0 && ROUNDS=20 || ROUNDS=1000
limit=$(cat /proc/sys/kernel/perf_cpu_time_max_percent)
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
echo 8 > buffer_size_kb
echo 1 > snapshot
for n in 1 2; do taskset $n bench getpid 100000000 > /dev/null & done
echo 'sys_getpid:snapshot' > set_ftrace_filter
echo 20000 > hw_branch_window
round=0
while test $round -lt $ROUNDS; do
	echo hw-branch-tracer > current_tracer
	echo nop > current_tracer
	round=$((round + 1))
done
echo '!sys_getpid:snapshot' > set_ftrace_filter
kill $(pidof bench)
echo $limit > /proc/sys/kernel/perf_cpu_time_max_percent
dmesg | grep -q -E 'Oops|WARNING|BUG|Unexpected' && fail "$(dmesg | grep -E 'Oops|WARNING|BUG|Unexpected')"
finish
