#!/bin/sh
# description: records as pages: trace_pipe_raw by read, poll and splice; the buffer's own control files
# requires: smp=2 timeout=120 progs="rawtest rawpipes"
# requires: rooms="pipe_size procfs raw samples triggers"
. /run/prelude
tracing_reset
holds 'half full' buffer_percent 50
rawtest || fail rawtest
rawpipes || fail rawpipes

for good in 0 1 100 50; do
	runs "buffer_percent $good" echo $good > buffer_percent
	holds 'set' buffer_percent $good
done
for bad in 101 -1 x '' 1.5; do
	echo "$bad" 2> /dev/null > buffer_percent && fail "buffer_percent takes '$bad'"
done
holds 'unchanged' buffer_percent 50
holds 'stamps' timestamp_mode '[delta] absolute'

# -- trace_marker_raw: a number, and bytes
echo > trace
echo 64 > buffer_size_kb
echo -n abc 2> /dev/null > trace_marker_raw && fail 'less than a number'
dd if=/dev/zero of=trace_marker_raw bs=4096 count=1 2> /dev/null && fail 'more than a record holds'
same 'nothing is recorded' 0 "$(grep -c buf: trace)"
echo -n abcdefg > trace_marker_raw
echo -n abcd > trace_marker_raw
same 'number and bytes' '# 64636261 buf: 65 66 67 00' "$(grep buf: trace | head -n 1 | sed 's/.*: #/#/')"
same 'a number alone' '# 64636261 buf:' "$(grep buf: trace | tail -n 1 | sed 's/.*: #/#/')"
echo 0 > options/markers
echo -n abcd 2> /dev/null > trace_marker_raw && fail 'without the option markers'
echo 1 > options/markers
cat trace_marker_raw 2> /dev/null && fail 'trace_marker_raw can be read'

# -- printk_formats: all messages of the kernel that are recorded by address
mkdir -p /sys/kernel/debug
test -e /sys/kernel/debug/trace_printk || mount -t debugfs debugfs /sys/kernel/debug
grep -q '^0xffffff[0-9a-f]* : "hello without a format\\n"$' printk_formats || fail 'a text in printk_formats'
grep -q '^0xffffff[0-9a-f]* : "hello from a task on CPU %u, preempt_count %x\\n"$' printk_formats || fail 'a format'
same 'each once' '' "$(cut -d' ' -f1 printk_formats | sort | uniq -d)"

# What a reader takes would be missing in a maximum, and the tracer stays while one reads.
echo irqsoff > current_tracer
cat per_cpu/cpu0/trace_pipe_raw 2> /dev/null && fail 'trace_pipe_raw under irqsoff'
echo nop > current_tracer
cat per_cpu/cpu0/trace_pipe_raw > /dev/null &
reader=$!
has_opened() {
	ls -l /proc/$reader/fd 2> /dev/null | grep -q trace_pipe_raw
}
await 'the reader has opened it' has_opened
echo function 2> /dev/null > current_tracer && fail 'another tracer while trace_pipe_raw is open'
kill $reader
wait $reader 2> /dev/null
runs 'then again' echo nop > current_tracer

# -- snapshot_raw: the same of the snapshot
# records FILE: the texts of markers in it
records() {
	tr -c 'a-z0-9' '\n' < $1 | grep '^mark[0-9]*$' | tr '\n' ' '
}
take() {
	dd if=per_cpu/cpu$1/snapshot_raw of=/tmp/raw bs=4096 iflag=nonblock 2> /dev/null
	records /tmp/raw
}
echo 0 > snapshot
same 'no snapshot' '' "$(take 0)"
for n in 1 2 3; do
	taskset 1 sh -c "echo mark$n > trace_marker"
	taskset 2 sh -c "echo mark1$n > trace_marker"
done
echo 1 > snapshot
taskset 1 sh -c 'echo mark4 > trace_marker'
same 'what was set aside, of CPU 0' 'mark1 mark2 mark3 ' "$(take 0)"
same 'a multiple of pages' 0 $(($(wc -c < /tmp/raw) % 4096))
same 'it is gone' '' "$(take 0)"
same 'from the snapshot, too, but not of CPU 1' 'mark11 mark12 mark13 ' "$(grep -o 'mark[0-9]*$' snapshot | tr '\n' ' ')"
same 'the buffer goes on' 1 "$(grep -c 'mark4$' trace)"
same 'of CPU 1' 'mark11 mark12 mark13 ' "$(take 1)"
taskset 1 sh -c 'echo mark5 > trace_marker'
taskset 2 sh -c 'echo mark15 > trace_marker'
echo 1 > snapshot
echo 2 > per_cpu/cpu1/snapshot
same 'a part that was cleared' 'mark4 mark5 ,' "$(take 0),$(take 1)"
# A reader waits for the next snapshot, also for one whose parts are still to be exchanged by their CPUs.
cat per_cpu/cpu1/snapshot_raw > /tmp/waits &
reader=$!
has_opened() {
	ls -l /proc/$reader/fd 2> /dev/null | grep -q snapshot_raw
}
await 'the reader has opened snapshot_raw' has_opened
echo irqsoff 2> /dev/null > current_tracer && fail 'another tracer while snapshot_raw is open'
taskset 2 sh -c 'echo mark20 > trace_marker'
test -s /tmp/waits && fail 'a record that is in no snapshot'
echo 1 > snapshot
has_read() {
	test "$(records /tmp/waits)" = "$1"
}
await 'the reader has the next snapshot, while the buffer is empty' has_read 'mark20 '
taskset 2 sh -c 'echo mark22 > trace_marker'
echo snapshot > events/ftrace/print/trigger
taskset 1 sh -c 'echo mark21 > trace_marker'
echo '!snapshot' > events/ftrace/print/trigger
await 'the reader has the one of a trigger' has_read 'mark20 mark22 '
same 'each record is in one of the two' 0 "$(grep -c 'mark22$' trace)"
kill $reader
wait $reader 2> /dev/null
echo irqsoff > current_tracer
cat per_cpu/cpu0/snapshot_raw 2> /dev/null && fail 'snapshot_raw under irqsoff'
echo nop > current_tracer
echo 0 > snapshot
finish
