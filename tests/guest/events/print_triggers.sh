#!/bin/sh
# description: trace_marker as the event ftrace:print: its triggers, filters and histograms see each write, in each array by itself
# requires: smp=2 icount timeout=120
# requires: rooms="hist samples triggers instances"
. /run/prelude
tracing_reset
print=events/ftrace/print
empty="$(cat $print/trigger)"

# marks TEXT...: a write of each, without a newline
marks() {
	for text in "$@"; do
		printf %s "$text" > trace_marker
	done
}

# texts WHAT TEXT: of all records these are the texts
texts() {
	same "$1" "$2" "$(echo $(grep -v '^#' trace | sed -n 's/.*: tracing_mark_write: //p'))"
	echo > trace
}

# -- its files; it can be neither switched nor filtered, nor named by what switches events
same 'files' 'format hist hist_debug id trigger' "$(echo $(ls $print | sort))"
same 'of another record' 'format id' "$(echo $(ls events/ftrace/function | sort))"
holds 'its number' $print/id 5
grep -q 'ftrace:print' available_events && fail 'it can be chosen'
echo 'ftrace:print' > set_event 2> /dev/null && fail 'it can be set'
echo 'enable_event:ftrace:print' > events/lab/lab_step/trigger 2> /dev/null && fail 'it can be switched'

# -- a filter sees the text as it was written; the record that meets it is the last one
echo 'traceoff if buf == "stop"' > $print/trigger
marks one stopped stop late
holds 'off' tracing_on 0
echo 1 > tracing_on
echo '!traceoff' > $print/trigger
texts 'up to stop' 'one stopped stop'
echo 'traceoff if buf ~ "*en*"' > $print/trigger
marks one opened late
echo 1 > tracing_on
echo '!traceoff' > $print/trigger
texts 'a pattern' 'one opened'

# -- without triggers, with a newline, empty line: records as ever
marks a 'b
' '
'
texts 'plain' 'a b'

# -- a stack behind the record; a count is used up
echo 'stacktrace:2' > $print/trigger
marks a b c
same 'stacks' 2 $(grep -c '<stack trace>' trace)
grep -A2 '<stack trace>' trace | grep -q vfs_write || fail 'the stack does not begin at the write'
echo '!stacktrace' > $print/trigger
holds 'no triggers' $print/trigger "$empty"
echo > trace

# -- a snapshot: the record is in it
echo snapshot > $print/trigger
marks taken
grep -q ': taken$' snapshot || fail 'it is not in the snapshot'
echo '!snapshot' > $print/trigger
echo 0 > snapshot
echo > trace

# -- histograms: by the text, which may be longer than a key keeps, and latencies from one mark to the next
long=$(printf '%0600d' 7)
echo 'hist:keys=buf' > $print/trigger
marks x y x "$long" x
grep -q '{ buf: x *} hitcount: *3' $print/hist || fail "hist: $(cat $print/hist)"
grep -q '{ buf: y *} hitcount: *1' $print/hist || fail "hist: $(cat $print/hist)"
same 'entries' 'Hits: 5 Entries: 3' "$(echo $(grep 'Hits\|Entries' $print/hist | tr -s ' '))"
echo '!hist:keys=buf' > $print/trigger
echo 'latency u64 lat' > synthetic_events
echo 'hist:keys=common_pid:ts0=common_timestamp.usecs if buf == "start"' > $print/trigger
echo 'hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:onmatch(ftrace.print).latency($lat) if buf == "end"' >> $print/trigger
echo 1 > events/synthetic/latency/enable
marks start end end
same 'one latency' 1 $(grep -c 'latency: lat=' trace)
echo 0 > events/synthetic/latency/enable
echo '!hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:onmatch(ftrace.print).latency($lat) if buf == "end"' > $print/trigger
echo '!hist:keys=common_pid:ts0=common_timestamp.usecs if buf == "start"' > $print/trigger
echo > synthetic_events
holds 'no triggers again' $print/trigger "$empty"

# -- an instance has its own, and goes with them
mkdir instances/one
echo 'hist:keys=common_pid' > instances/one/$print/trigger
marks a b
printf c > instances/one/trace_marker
grep -q 'Hits: 1$' instances/one/$print/hist || fail "in the instance: $(cat instances/one/$print/hist)"
holds 'not here' $print/trigger "$empty"
rmdir instances/one || fail 'the instance stays'
# -- nothing is recorded: nothing is told
echo 'hist:keys=common_pid' > $print/trigger
echo 0 > tracing_on
printf c > trace_marker 2> /dev/null && fail 'a write with recording off'
echo 1 > tracing_on
grep -q 'Hits: 0$' $print/hist || fail "off: $(cat $print/hist)"
echo '!hist:keys=common_pid' > $print/trigger
finish
