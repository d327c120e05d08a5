#!/bin/sh
# description: a call to all CPUs runs once on each other one, before its caller goes on; what /proc/interrupts counts is what happens
# requires: smp=4 icount timeout=120
# requires: rooms="procfs instances"
. /run/prelude
tracing_reset
taskset -p 2 $$ > /dev/null || fail 'not pinned'
mkdir instances/other

# counts FILE: the function calls that came to each of the four CPUs
counts() {
	grep 'Function call interrupts' /proc/interrupts | tr -s ' ' | cut -d ' ' -f 2-6 | sed 's/^.*: //; s/ Func.*//' > $1
}

# Each time the rings of the other array are emptied, by two calls.
echo 1 > events/ipi/enable
counts /tmp/before
for i in 1 2 3 4 5 6 7 8 9 10; do
	echo > instances/other/trace
	echo done > trace_marker
done
counts /tmp/after
echo 0 > tracing_on
cat trace > /tmp/trace

# The caller's own CPU, 1, runs the function itself. A flush of the kernel's freed addresses may come in between: no call.
grep 'ipi_send_cpumask: .*callback=generic_smp_call_function' /tmp/trace > /tmp/sent
same 'calls' 20 $(wc -l < /tmp/sent)
same 'calls to one CPU' 0 $(grep -c 'ipi_send_cpu: .*generic_smp_call_function' /tmp/trace)
same 'to CPUs 0, 2 and 3' 20 $(grep -c ' cpumask=00000000,0000000d ' /tmp/sent)
sed -n 's/.* ipi_send_cpumask: .*callback=generic_smp_call.*/call/p; s/.* ipi_entry: (Function call.*/came/p; s/.* tracing_mark_write: done/done/p' /tmp/trace > /tmp/order
for i in 1 2 3 4 5 6 7 8 9 10; do
	printf '%s\n' call came came came call came came came done
done > /tmp/wanted
same order "$(tr '\n' ' ' < /tmp/wanted)" "$(tr '\n' ' ' < /tmp/order)"

read b0 b1 b2 b3 < /tmp/before
read a0 a1 a2 a3 < /tmp/after
same 'counted in /proc/interrupts' '20 0 20 20' "$((a0 - b0)) $((a1 - b1)) $((a2 - b2)) $((a3 - b3))"
for cpu in 0 2 3; do
	same "came to CPU $cpu" 20 $(grep -c "\[00$cpu\].* ipi_entry: (Function call" /tmp/trace)
done
rmdir instances/other

# A snapshot of one CPU is taken by that CPU: a call to another one, and none to the caller's own.
echo 1 > snapshot
for cpu in 2 1 0; do
	echo > trace
	echo 1 > tracing_on
	echo 1 > per_cpu/cpu$cpu/snapshot
	echo 0 > tracing_on
	cat trace | grep 'ipi_send_cpu: .*generic_smp_call' | sed 's/.* ipi_send_cpu: //; s/ .*//' > /tmp/sent
	wanted=cpu=$cpu
	test $cpu = 1 && wanted=
	same "calls for a snapshot of CPU $cpu" "$wanted" "$(sort -u /tmp/sent)"
done
finish
