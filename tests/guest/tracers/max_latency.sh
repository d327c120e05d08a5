#!/bin/sh
# description: what a latency tracer's maximum is and stays: tracing_max_latency, tracing_thresh, readers, truncating, resizing
# requires: smp=1 icount mem=96M timeout=120
# requires: rooms="procfs samples"
. /run/prelude
tracing_reset

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

# ---- Its task keeps its name, however many came after it.
size=$(cat saved_cmdlines_size)
echo 4 > saved_cmdlines_size
echo 0 > tracing_max_latency
irqhog 6000
for i in 1 2 3 4 5 6; do /bin/true; done
grep -q '^ *irqhog-' trace || fail "the name is gone: $(grep -v '^#' trace | head -n 1)"
echo 1 > options/display-graph
irqhog 6000
for i in 1 2 3 4 5 6; do /bin/true; done
grep -q ') *irqhog-[0-9]* *|' trace || fail "the name is gone with display-graph: $(grep -v '^#' trace | head -n 1)"
echo 0 > options/display-graph
echo $size > saved_cmdlines_size

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
irqhog 3000
echo 128 > buffer_size_kb
same 'resized' 'trace_hardirqs_off tracer_hardirqs_on ' "$(ends trace)"
irqhog 8000
same 'resized, and another' 'trace_hardirqs_off tracer_hardirqs_on ' "$(ends trace)"
exec 3< trace
read line <&3
echo nop > current_tracer
same 'a reader keeps it when the tracer goes' 1 $(grep -c tracer_hardirqs_on <&3)
exec 3<&-
same 'freed with the tracer' '# * Snapshot is freed *' "$(state)"

# ---- A file that was opened under another tracer and not read then shows nothing of the next one's.
echo irqsoff > current_tracer
exec 3< trace
echo preemptoff > current_tracer
preemptoff_section() { echo 3000 > /sys/kernel/debug/latency/preempt_off; }
preemptoff_section
same 'opened under irqsoff' 0 $(grep -c tracer_preempt_on <&3)
exec 3<&-
same 'opened now' 1 $(grep -c tracer_preempt_on trace)

# ---- Records with another clock's stamps never come back.
exec 3< trace
read line <&3
preemptoff_section
echo mono > trace_clock
exec 3<&-
exec 3< trace
echo 0 > tracing_max_latency
for us in 3000 4000 5000; do
	echo $us > /sys/kernel/debug/latency/preempt_off
	same "after the clock changed, $us us" 'trace_preempt_off tracer_preempt_on ' "$(ends trace)"
	exec 3< trace
	read line <&3
done
exec 3<&-
echo local > trace_clock

# ---- A reader keeps an older one while the pages get another size. It is of no use any more after that, though both
# sizes make the same number of bytes here: 511 pages of 4080, or 255 of 8176. If it were used, the next maximum would
# have to stay in the live buffer, where later records overwrite it.
echo 2036 > buffer_size_kb
echo 0 > tracing_max_latency
preemptoff_section
exec 3< trace
read line <&3
echo 4000 > /sys/kernel/debug/latency/preempt_off
runs 'pages of another size' sh -c 'echo 8 > buffer_subbuf_size_kb'
exec 3<&-
seq 330000 > /tmp/numbers
echo 0 > tracing_max_latency
for us in 3000 4000; do
	echo $us > /sys/kernel/debug/latency/preempt_off
	cat /tmp/numbers > trace_marker
	same "with pages of another size, $us us" 'trace_preempt_off tracer_preempt_on ' "$(ends trace)"
	exec 3< trace
	read line <&3
done
exec 3<&-
rm /tmp/numbers
echo 4 > buffer_subbuf_size_kb
echo 128 > buffer_size_kb

# ---- The live buffer becomes the maximum: nobody may take records out of it.
cat trace_pipe 2> /tmp/pipe && fail 'trace_pipe opens under a latency tracer'
grep -q 'Device or resource busy' /tmp/pipe || fail "trace_pipe: $(cat /tmp/pipe)"

# ---- A section of more records than the buffer holds: the header says that some are missing.
echo 4 > buffer_size_kb
echo 1 > options/function-trace
echo 200000 > /sys/kernel/debug/latency/preempt_off
count=$(grep 'latency:' trace | cut -d '#' -f 3 | cut -d , -f 1)
test ${count%/*} -lt ${count#*/} || fail "cut, and the header says #$count"
echo nop > current_tracer
echo 0 > options/function-trace

# ---- The oldest record of a buffer that was set aside once.
echo 1 > snapshot
echo once > trace_marker
grep -q '^oldest event ts: *0.000000' per_cpu/cpu*/stats && grep -q '^entries: [1-9]' per_cpu/cpu*/stats &&
	test "$(grep -l '^entries: [1-9]' per_cpu/cpu*/stats | xargs grep -h '^oldest' | grep -c ' 0.000000')" != 0 && fail 'oldest event ts is 0'
echo 0 > snapshot
tracing_reset

# ---- The latency format marks what took long: by the time from this line to the next.
for text in second first tenth last; do
	echo $text > trace_marker
	case $text in second) sleep 1 ;; first) usleep 100000 ;; tenth) usleep 10000 ;; esac
done
marked=$(grep tracing_mark_write: latency_trace | sed -e 's/.*us//' -e 's/: tracing_mark_write: //')
same 'marks' '$second @first *tenth' "$(echo "$marked" | sed '$d' | tr '\n' ' ' | sed 's/ $//')"
tracing_reset
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
