#!/bin/sh
# description: snapshot: what it takes, shows and gives back, of all CPUs and of one; a latency tracer honours tracing_cpumask
# requires: smp=2 icount mem=96M timeout=120
# requires: rooms="procfs"
. /run/prelude
tracing_reset

# text FILE: the messages of the markers in it, in order
text() {
	grep -v '^#' $1 | sed 's/.*tracing_mark_write: //' | tr '\n' ' '
}
mark() {
	taskset -c ${2:-0} echo $1 > trace_marker
}
state() {
	grep '^# \*' snapshot
}
# ---- The files by themselves
same 'at boot' '# * Snapshot is freed *' "$(state)"
same 'help' 12 $(grep -c . snapshot)
same 'help of one CPU' '# echo 0 > snapshot : Invalid for per_cpu snapshot file.' "$(grep 'echo 0' per_cpu/cpu1/snapshot)"
echo 2 > snapshot
same 'clearing allocates nothing' '# * Snapshot is freed *' "$(state)"
mark one
echo 1 > snapshot
mark two 1
same 'taken' 'one ' "$(text snapshot)"
same 'goes on' 'two ' "$(text trace)"
same 'header' '# entries-in-buffer/entries-written: 1/1   #P:2' "$(grep entries snapshot)"
mark three
echo 1 > snapshot
same 'the next one' 'two three ' "$(text snapshot)"
same 'begins with nothing' '' "$(text trace)"
same 'of CPU 0' 'three ' "$(text per_cpu/cpu0/snapshot)"
same 'of CPU 1' 'two ' "$(text per_cpu/cpu1/snapshot)"
mark four
mark five 1
echo 1 > per_cpu/cpu1/snapshot
same 'CPU 1 taken' 'three five ' "$(text snapshot)"
same 'CPU 0 not' 'four ' "$(text trace)"
echo 2 > per_cpu/cpu0/snapshot
same 'CPU 0 cleared' 'five ' "$(text snapshot)"
echo 7 > snapshot
same 'cleared' '# * Snapshot is allocated *' "$(state)"
echo 0 > snapshot
same 'freed' '# * Snapshot is freed *' "$(state)"
same 'trace is as it was' 'four ' "$(text trace)"
echo > trace

# ---- Sizes, memory, readers
mark six
echo 1 > snapshot
echo 64 > buffer_size_kb
echo 100 > per_cpu/cpu1/buffer_size_kb
same 'resized with it' 'six ' "$(text snapshot)"
mark seven
mark eight 1
echo 1 > snapshot
same 'sizes differ' 'seven eight ' "$(text snapshot)"
exec 3< snapshot
read line <&3
echo 0 > snapshot
same 'a reader keeps it' 'seven eight ' "$(grep -v '^#' <&3 | sed 's/.*write: //' | tr '\n' ' ')"
exec 3<&-
same 'nobody else does' '# * Snapshot is freed *' "$(state)"
mark over 1
echo 1 > snapshot || fail 'no new second buffer while sizes differ'
same 'made with sizes that differ' 'over ' "$(text snapshot)"
echo 0 > snapshot
free=$(grep MemFree /proc/meminfo | tr -dc 0-9)
echo $((free / 3)) > buffer_size_kb
mark nine
echo 1 > snapshot 2> /dev/null && fail 'there was memory for a snapshot'
same 'no memory, nothing changed' '# * Snapshot is freed *' "$(state)"
same 'no memory, the trace is there' 'nine ' "$(text trace)"
echo 64 > buffer_size_kb
same 'the trace is still there' 'nine ' "$(text trace)"
echo > trace

# ---- A latency tracer beside it. (Under icount the CPUs take turns of a tick: so long a section may come by itself.)
echo irqsoff > current_tracer
echo 2 > tracing_cpumask
taskset -c 0 irqhog 40000
test $(cat tracing_max_latency) -lt 40000 || fail 'a CPU outside of the mask is measured'
taskset -c 1 irqhog 20000
test $(cat tracing_max_latency) -ge 20000 || fail 'a CPU in the mask is not measured'
echo 3 > tracing_cpumask
same 'of one CPU' '' "$(grep -v '^#' per_cpu/cpu$((1 - $(grep 'CPU#' trace | sed 's/.*CPU#//' | cut -c 1)))/trace)"
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
