#!/bin/sh
# description: each of 10,000 calls is in the trace, was read from the pipe, or is counted as lost
# requires: smp=4 timeout=120 progs="calls tracecheck"
. /run/prelude
N=10000

# Four tasks on four CPUs make the calls, under a tracer that was just started with an empty buffer.
record() {
	echo 0 > tracing_on
	echo function > current_tracer
	echo > trace
	echo 1 > tracing_on
	calls $N 4 || fail "calls ended with status $?"
	echo 0 > tracing_on
}

tracing_reset
echo sys_getppid > set_ftrace_filter
holds 'the filter' set_ftrace_filter sys_getppid

echo 1408 > buffer_size_kb
record
same 'large buffer: entries' $N $(sum entries)
same 'large buffer: overrun' 0 $(sum overrun)
same 'large buffer: dropped' 0 $(sum 'dropped events')
same 'large buffer: trace' "lines $N lost 0 cpu0 2500 cpu1 2500 cpu2 2500 cpu3 2500" "$(tracecheck -f sys_getppid < trace)"
same 'large buffer: header' "# entries-in-buffer/entries-written: $N/$N   #P:4" "$(head -3 trace | tail -1)"
for cpu in 0 1 2 3; do
	same "large buffer: per_cpu/cpu$cpu" "lines 2500 lost 0 cpu$cpu 2500" "$(tracecheck < per_cpu/cpu$cpu/trace)"
done

echo 8 > buffer_size_kb
record
entries=$(sum entries) overrun=$(sum overrun)
echo "small buffer: $entries entries, $overrun overrun"
test $overrun -gt 0 || fail 'small buffer: nothing was overrun'
test $entries -gt 0 || fail 'small buffer: nothing is left'
same 'small buffer: entries + overrun' $N $((entries + overrun))
same 'small buffer: lines in trace' "lines $entries lost" "$(tracecheck -f sys_getppid < trace | cut -d ' ' -f 1-3)"
same 'small buffer: header' "# entries-in-buffer/entries-written: $entries/$N   #P:4" "$(head -3 trace | tail -1)"

echo nooverwrite > trace_options
record
entries=$(sum entries) dropped=$(sum 'dropped events')
echo "no overwriting: $entries entries, $dropped dropped"
test $dropped -gt 0 || fail 'no overwriting: nothing was dropped'
same 'no overwriting: overrun' 0 $(sum overrun)
same 'no overwriting: entries + dropped' $N $((entries + dropped))
same 'no overwriting: lines' $entries $(tracecheck < trace | cut -d ' ' -f 2)
echo overwrite > trace_options

# A reader at the same time: it ends by itself when tracing is off and all is read.
for size in 1408 8; do
	echo $size > buffer_size_kb
	echo 0 > tracing_on
	echo function > current_tracer
	echo > trace
	cat trace_pipe > /tmp/pipe &
	reader=$!
	echo 1 > tracing_on
	calls $N 4 || fail "calls ended with status $?"
	echo 0 > tracing_on
	wait $reader || fail 'cat trace_pipe failed'
	set -- $(tracecheck -f sys_getppid < /tmp/pipe)
	echo "pipe, $size KiB: $2 read, $4 lost"
	same "pipe, $size KiB: entries left" 0 $(sum entries)
	same "pipe, $size KiB: read" $2 $(sum 'read events')
	same "pipe, $size KiB: lost" $4 $(sum overrun)
	same "pipe, $size KiB: all" $N $(($2 + $4))
	same "pipe, $size KiB: header" "# entries-in-buffer/entries-written: 0/$4   #P:4" "$(grep entries-written trace)"
done

# function_graph, where each second page begins with a return. The reader holds the first page, which ends with a call, when
# all up to that return is lost: the loss is told, and the two do not become one line.
for n in 540 595; do
	echo function_graph > current_tracer
	echo > trace
	echo 1 > tracing_on
	exec 4< trace_pipe
	calls 20 1
	dd bs=1 count=1 <&4 > /tmp/pipe 2> /dev/null
	calls $n 1
	echo 0 > tracing_on
	cat <&4 >> /tmp/pipe
	exec 4<&-
	leaves=$(grep -c 'getppid();' /tmp/pipe) begins=$(grep -c 'getppid() {' /tmp/pipe) ends=$(grep -c ' }' /tmp/pipe)
	lost=$(sed -n 's/^CPU:0 \[LOST \(.*\) EVENTS\]$/\1/p' /tmp/pipe)
	echo "graph, $n calls: $leaves leaves, $begins begins, $ends ends, $lost lost"
	same "graph, $n calls: lost" "$lost" $(sum overrun)
	same "graph, $n calls: all" $((2 * (20 + n))) $((2 * leaves + begins + ends + lost))
done
tracing_reset
finish
