#!/bin/sh
# description: snapshot, tracing_max_latency and tracing_thresh: what they take, show, refuse and give back
# requires: smp=2 icount mem=96M timeout=120
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
# ends FILE: names in the first and last record of a latency trace
ends() {
	grep -v '^#' $1 | grep -v '^ =>' | grep -v 'stack trace' | sed -n -e '1s/.* : //p' -e '$s/.* : //p' | sed 's/ <-.*//' | tr '\n' ' '
}
# shown: the latency that a trace's header tells
shown() {
	grep '^# latency:' | cut -d ' ' -f 3
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
free=$(grep MemFree /proc/meminfo | tr -dc 0-9)
echo $((free / 3)) > buffer_size_kb
mark nine
echo 1 > snapshot 2> /dev/null && fail 'there was memory for a snapshot'
same 'no memory, nothing changed' '# * Snapshot is freed *' "$(state)"
same 'no memory, the trace is there' 'nine ' "$(text trace)"
echo 64 > buffer_size_kb
same 'the trace is still there' 'nine ' "$(text trace)"
echo > trace

# ---- Latencies
echo irqsoff > current_tracer
echo 1 > snapshot 2> /dev/null && fail 'snapshot can be written while irqsoff uses the buffer'
cat snapshot > /dev/null 2>&1 && fail 'snapshot can be read while irqsoff uses the buffer'
irqhog 3000
latency=$(cat tracing_max_latency)
test $latency -ge 3000 -a $latency -lt 3065 || fail "a section of 3000 us: $latency"
same 'header' "$latency" "$(shown < trace)"
same 'ends' 'trace_hardirqs_off tracer_hardirqs_on ' "$(ends trace)"
exec 3< trace
read line <&3
irqhog 4000
same 'a newer one' 1 $(($(cat tracing_max_latency) >= 4000))
same 'a reader keeps the older' "$latency" "$(shown <&3)"
exec 3<&-
same 'others see the newer' "$(cat tracing_max_latency)" "$(shown < trace)"
irqhog 200
same 'a shorter one changes nothing' "$(cat tracing_max_latency)" "$(shown < trace)"
latency=$(cat tracing_max_latency)
echo > trace
same 'truncated' '# tracer: irqsoff #' "$(head -2 trace | tr '\n' ' ' | sed 's/ $//')"
same 'truncating leaves the maximum' $latency $(cat tracing_max_latency)
echo 100000 > tracing_max_latency
holds 'set' tracing_max_latency 100000
irqhog 5000
same 'less than was set' '' "$(ends trace)"
echo 4000 > tracing_thresh
irqhog 5000
latency=$(cat tracing_max_latency)
test $latency -ge 5000 -a $latency -lt 5105 || fail "above the threshold: $latency"
irqhog 4500
test $(cat tracing_max_latency) -lt $latency || fail 'a shorter one above the threshold is not taken'
irqhog 3000
test $(cat tracing_max_latency) -ge 4500 || fail 'one below the threshold is taken'
echo 0 > tracing_thresh

# Recording that was off for a part of a section: it is not shown.
echo 0 > tracing_max_latency
echo 0 > tracing_on
irqhog 9000
echo 1 > tracing_on
test $(cat tracing_max_latency) -lt 9000 || fail 'a section is taken with recording off'
echo 2 > tracing_cpumask
taskset -c 0 irqhog 9000
test $(cat tracing_max_latency) -lt 9000 || fail 'a CPU outside of the mask is measured'
taskset -c 1 irqhog 7000
test $(cat tracing_max_latency) -ge 7000 || fail 'a CPU in the mask is not measured'
echo 3 > tracing_cpumask
echo 128 > buffer_size_kb
same 'resized' 'trace_hardirqs_off tracer_hardirqs_on ' "$(ends trace)"
irqhog 8000
same 'resized, and another' 'trace_hardirqs_off tracer_hardirqs_on ' "$(ends trace)"
same 'of one CPU' '' "$(grep -v '^#' per_cpu/cpu$((1 - $(grep 'CPU#' trace | sed 's/.*CPU#//' | cut -c 1)))/trace)"
exec 3< trace
read line <&3
echo nop > current_tracer
same 'a reader keeps it when the tracer goes' 1 $(grep -c tracer_hardirqs_on <&3)
exec 3<&-
same 'freed with the tracer' '# * Snapshot is freed *' "$(state)"
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
