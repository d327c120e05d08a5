#!/bin/sh
# description: a CPU's ring that programs map: what they see, what is refused meanwhile, and how it ends
# requires: smp=2 timeout=120 append="slab_debug" progs="rawmap"
# requires: rooms="hist instances procfs ranges refusals slab_debug triggers"
. /run/prelude
tracing_reset
dmesg -c > /dev/null
rawmap || fail rawmap

# -- an instance has rings of its own, and stays while one is mapped
mkdir instances/i
cd instances/i
rawmap records refused excludes life || fail 'rawmap in an instance'
cd $T
(
	exec 3> /tmp/mapped
	cd instances/i
	exec rawmap hold 1>&3
) &
holder=$!
is_mapped() {
	grep -q instances/i/per_cpu/cpu0/trace_pipe_raw /proc/$holder/maps
}
await 'it is mapped' is_mapped
same 'flags' 'VmFlags: rd sh mr ms dc de dd ' "$(grep -A 30 trace_pipe_raw /proc/$holder/smaps | grep -m 1 VmFlags)"
same 'nothing is open' '' "$(ls -l /proc/$holder/fd | grep -o trace_pipe_raw)"
rmdir instances/i 2> /dev/null && fail 'the instance goes under a mapping'
kill $holder
wait $holder 2> /dev/null
rmdir instances/i || fail 'the instance stays'

# -- a CPU that goes offline leaves its ring
echo > trace
taskset 2 sh -c 'echo seq 000000 > trace_marker'
echo 0 > /sys/devices/system/cpu/cpu1/online
rawmap of_cpu1 || fail 'the ring of a CPU that is offline'
echo 1 > /sys/devices/system/cpu/cpu1/online

# -- the reasons, and what the kernel has to say
rawmap excludes > /dev/null
for file in buffer_size_kb snapshot events/sched/sched_switch/trigger set_ftrace_filter; do
	dmesg | grep -q "$file: .*has mapped .*trace_pipe_raw" || fail "no reason for $file"
done
same 'no complaint' '' "$(dmesg | grep -e BUG -e WARN -e Oops)"
finish
