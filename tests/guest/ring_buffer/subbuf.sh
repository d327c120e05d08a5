#!/bin/sh
# description: buffer_subbuf_size_kb: sub-buffers of each size, what a change does to all that depends on it, and what it refuses
# requires: smp=4 timeout=240 soak
# requires: rooms="instances refusals"
. /run/prelude
tracing_reset

# size KIB: as it is written. It must then be what the files say.
size() {
	echo "$1" > buffer_subbuf_size_kb || fail "$1 is refused"
	holds "written as $1" buffer_subbuf_size_kb "$2"
	same "header_page with $2" $(($2 * 1024 - 16)) "$(sed -n 's/.*char data;.*size:\([0-9]*\);.*/\1/p' events/header_page)"
}

# lines: how many records the file shows
lines() {
	grep -vc '^#' "$1"
}

# -- values: rounded up to a power of two of pages, as in Linux
holds 'a page at first' buffer_subbuf_size_kb 4
echo 1000 > buffer_size_kb
before=$(cat buffer_size_kb)
for pair in 1:4 4:4 5:8 8:8 9:16 16:16 32:32 63:64 64:64 65:128 128:128 256:256 257:512 512:512; do
	size ${pair%:*} ${pair#*:}
done
for bad in 0 513 1024 -4 x '' 4k 18446744073709551615 36028797018963972; do
	echo "$bad" 2> /dev/null > buffer_subbuf_size_kb && fail "buffer_subbuf_size_kb takes '$bad'"
done
holds 'unchanged' buffer_subbuf_size_kb 512
test "$(cat buffer_size_kb)" -ge 1000 || fail "$(cat buffer_size_kb) KiB are less than asked for"
size 4 4
holds 'all of it is back' buffer_size_kb $before

# -- what is recorded is gone with another size, and stays with the same one
echo one > trace_marker
echo two > trace_marker
size 4 4
same 'the same size keeps all' 2 $(lines trace)
size 8 8
same 'another one keeps nothing' 0 $(lines trace)
for cpu in 0 1 2 3; do
	for count in entries overrun 'commit overrun' bytes 'dropped events' 'read events'; do
		same "$count of cpu$cpu" 0 $(sed -n "s/^$count: //p" per_cpu/cpu$cpu/stats)
	done
done
for n in $(seq 300); do
	echo "record $n" > trace_marker
done
same 'all of them' "$(for n in $(seq 300); do echo "record $n"; done)" "$(sed -n 's/.*tracing_mark_write: //p' trace)"
echo 2000 > buffer_size_kb
same 'a resize keeps them' 300 $(lines trace)
echo 64 > buffer_size_kb
same 'a smaller one, too' 300 $(lines trace)
echo 0 > tracing_on # then trace_pipe ends
same 'trace_pipe has them' 300 $(cat trace_pipe | wc -l)
echo 1 > tracing_on

# -- refused while somebody looks at the records; nothing has changed then
echo three > trace_marker
(
	read line
	echo 16 2> /dev/null > buffer_subbuf_size_kb && fail 'while trace is read'
	grep -q 'close it first' error_log || fail "error_log: $(cat error_log)"
	exit $failures
) < trace || failures=$((failures + 1))
holds 'unchanged' buffer_subbuf_size_kb 8
same 'what was there' 1 $(lines trace)
size 16 16

# -- instances have sizes of their own
mkdir instances/i
holds 'a new one' instances/i/buffer_subbuf_size_kb 4
echo 64 > instances/i/buffer_subbuf_size_kb
holds 'its own' instances/i/buffer_subbuf_size_kb 64
holds 'not ours' buffer_subbuf_size_kb 16
grep -q 'size:65520;' instances/i/events/header_page || fail 'header_page of an instance'
grep -q 'size:16368;' events/header_page || fail 'header_page'
echo here > instances/i/trace_marker
same 'in the instance' 1 $(lines instances/i/trace)
rmdir instances/i

# -- a snapshot, made before the change and after it, and the maximum of a latency tracer
echo first > trace_marker
echo 1 > snapshot
same 'taken' 1 "$(grep -c first snapshot)"
size 64 64
same 'it is forgotten' 0 "$(lines snapshot)"
echo second > trace_marker
echo 1 > snapshot
same 'taken with the new size' 1 "$(grep -c second snapshot)"
same 'and not in the buffer' 0 "$(grep -c second trace)"
echo 0 > snapshot
size 8 8
echo third > trace_marker
echo 1 > snapshot
same 'made after the change' 1 "$(grep -c third snapshot)"
echo 0 > snapshot
echo irqsoff > current_tracer
size 32 32
echo 0 > tracing_max_latency
usleep 300000
test "$(cat tracing_max_latency)" -gt 0 || fail 'no maximum'
test $(lines trace) -gt 0 || fail 'no records of the maximum'
echo nop > current_tracer

# -- memory: old and new sub-buffers are there together for a moment; without room for both nothing changes
size 4 4
echo 40000 > buffer_size_kb
echo kept > trace_marker
before=$(cat buffer_size_kb)
echo 64 2> /dev/null > buffer_subbuf_size_kb && fail 'twice 160 MB of 256'
grep -q 'not enough memory for sub-buffers of' error_log || fail "error_log: $(cat error_log)"
holds 'the old size' buffer_subbuf_size_kb 4
holds 'all of it' buffer_size_kb $before
same 'with what was there' 1 $(grep -c kept trace)
echo 64 > buffer_size_kb
size 8 8

# -- four CPUs record all calls while the size changes; each record that comes is whole
echo function > current_tracer
for n in $(seq $((6 + ${1:-0} * 60))); do
	for kib in 8 512 4 32 256 16; do
		echo $kib > buffer_subbuf_size_kb || fail "$kib while recording"
		usleep 10000
	done
	echo 0 > tracing_on
	test $(lines trace) -gt 10 || fail 'nothing is recorded'
	same 'whole lines' '' "$(grep -v '^#' trace | grep -Ev '^ .*-[0-9]+ +\[00[0-3]\] [^ ]{5} +[0-9]+\.[0-9]{6}: .* <-.*$|LOST' | head -n 3)"
	echo 1 > tracing_on
done
echo nop > current_tracer
size 4 4
finish
