#!/bin/sh
# description: kmemtrace goes on and off under load, in turn with the function tracer; each trace is whole, kmem-stat shows call sites and puts the tracer back
# requires: smp=4 timeout=240 progs="storm" soak
# requires: rooms="procfs trace_stat"
. /run/prelude
test "$1" = 0 && rounds=3 || rounds=200
cd $T
echo 256 > buffer_size_kb
kmem-stat -n 3 sh -c 'ls / > /dev/null; exit 7' > /tmp/stat
same "the command's status" 7 $?
holds 'the tracer is put back' current_tracer nop
same 'rows' 3 "$(grep -c '^ .* | .*%$' /tmp/stat)"
grep -q '^ Callsite  *| Total_alloc/Per | Total_req/Per   | Hit      | Frag$' /tmp/stat || fail 'no header'
grep -q '^Total bytes requested:  *[1-9][0-9]*$' /tmp/stat || fail 'no sum'
kmem-stat no-such-command 2> /dev/null
same 'a command that is not there' 127 $?

storm 3 > /tmp/storm &
storm=$!
for round in $(seq $rounds); do
	echo kmemtrace > current_tracer || fail "round $round: kmemtrace"
	echo 1 > options/kmem_minimalistic || fail "round $round: minimalistic"
	sleep 0.02
	echo 0 > tracing_on
	sed '/^#/d; /^$/d' trace > /tmp/trace
	grep -vE '^  [+-]      [KCP] .*0x[0-9a-f]+ .* [^ ]+$' /tmp/trace > /tmp/other
	grep -v 'LOST\|buffer started' /tmp/other && fail "round $round: another line"
	test -s /tmp/trace || fail "round $round: an empty trace"
	echo 0 > options/kmem_minimalistic
	echo 1 > tracing_on
	echo function > current_tracer || fail "round $round: function"
	kmem-stat true 2> /dev/null && fail "round $round: kmem-stat takes another tracer away"
	cat trace_stat/slab > /tmp/slab
	grep -q 'not counted' /tmp/slab && fail "round $round: no room"
done
kill $storm
wait
echo nop > current_tracer
dmesg | grep -E 'Oops|BUG|WARNING|panic' && fail 'the kernel complained'
finish
