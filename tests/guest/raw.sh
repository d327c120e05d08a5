#!/bin/sh
# description: records as pages: trace_pipe_raw by read, poll and splice; the buffer's own control files
# requires: smp=2 timeout=120 progs="rawtest"
. /run/prelude
tracing_reset
holds 'half full' buffer_percent 50
rawtest || fail rawtest

for good in 0 1 100 50; do
	runs "buffer_percent $good" echo $good > buffer_percent
	holds 'set' buffer_percent $good
done
for bad in 101 -1 x '' 1.5; do
	echo "$bad" 2> /dev/null > buffer_percent && fail "buffer_percent takes '$bad'"
done
holds 'unchanged' buffer_percent 50
holds 'pages are the machine'\''s' buffer_subbuf_size_kb 4
echo 3 > buffer_subbuf_size_kb || fail 'less than a page is a page'
for bad in 0 5 513 -4 x ''; do
	echo "$bad" 2> /dev/null > buffer_subbuf_size_kb && fail "buffer_subbuf_size_kb takes '$bad'"
done
holds 'unchanged' buffer_subbuf_size_kb 4
holds 'stamps' timestamp_mode '[delta] absolute'

# What a reader takes would be missing in a maximum, and the tracer stays while one reads.
echo irqsoff > current_tracer
cat per_cpu/cpu0/trace_pipe_raw 2> /dev/null && fail 'trace_pipe_raw under irqsoff'
echo nop > current_tracer
cat per_cpu/cpu0/trace_pipe_raw > /dev/null &
reader=$!
usleep 50000
echo function 2> /dev/null > current_tracer && fail 'another tracer while trace_pipe_raw is open'
kill $reader
wait $reader 2> /dev/null
runs 'then again' echo nop > current_tracer
finish
