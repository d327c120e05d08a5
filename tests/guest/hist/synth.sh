#!/bin/sh
# description: synthetic events: definitions, records, latencies of two events, variables of several kinds, which definition keeps which other
# requires: smp=2 icount progs="errno" timeout=400
# requires: rooms="procfs samples triggers"
. /run/prelude
tracing_reset
step=events/lab/lab_step
leave=events/lab/lab_leave

steps() {
	for text in "$@"; do
		echo $text > /sys/kernel/debug/lab/step
	done
}
status() {
	errno -a "$1" "$2" | sed 's/.*errno=//; s/ .*//'
}

# -- definitions
echo 'seen u64 lat; int step;char what[] ; unsigned long[] where' >> synthetic_events
echo 's:synthetic/all s64 a; u32 b; s16 c; u8 d; char e; bool f; pid_t g; gfp_t h; char i[16]; unsigned long j; long k' >> dynamic_events
echo 'old u64 lat pid_t pid' >> synthetic_events
holds 'the older file' synthetic_events 'seen	u64 lat; int step; char[] what; unsigned long[] where
all	s64 a; u32 b; s16 c; u8 d; char e; bool f; pid_t g; gfp_t h; char[16] i; unsigned long j; long k
old	u64 lat; pid_t pid'
holds 'the younger one' dynamic_events 's:synthetic/seen	u64 lat; int step; char[] what; unsigned long[] where
s:synthetic/all	s64 a; u32 b; s16 c; u8 d; char e; bool f; pid_t g; gfp_t h; char[16] i; unsigned long j; long k
s:synthetic/old	u64 lat; pid_t pid'
same 'its fields' 'u64 lat;8;8;0 int step;16;4;1 __data_loc char[] what;24;8;1 __data_loc unsigned long[] where;32;8;0' \
	"$(echo $(sed -n '9,$s/.*field:\(.*\);.offset:\(.*\);.size:\(.*\);.signed:\(.*\);/\1;\2;\3;\4/p' events/synthetic/seen/format))"
same 'its text' 'print fmt: "lat=%llu, step=%d, what=%s, where=%s", REC->lat, REC->step, __get_str(what), __get_stacktrace(where)' \
	"$(tail -n 1 events/synthetic/seen/format)"

# refused ERRNO FILE LINE ERROR: the caret is to stand where ^ is
refused() {
	text=$(echo "$3" | tr -d ^)
	before=${3%%^*}
	echo > error_log
	same "errno of $text" "$1" "$(status $2 "$text")"
	grep -qF "synthetic_events: error: $4" error_log || fail "$text: $(cat error_log)"
	same "caret of $text" $((${#before} + 12)) $(($(tail -n 1 error_log | wc -c) - 1))
}
form='Command must be of the form: <name> field[;field] ...'
refused 22 synthetic_events '^x' "$form"
refused 22 synthetic_events '^x; u64 a' "$form"
refused 22 synthetic_events '^x-y u64 a' 'Illegal name'
refused 22 synthetic_events 'x u64 ^a-b' 'Illegal name'
refused 22 synthetic_events 'x ^nosuch a' 'Invalid type'
refused 22 synthetic_events 'x ^unsigned a' 'Incomplete type'
refused 22 synthetic_events 'x u64 a; ^u64' 'Invalid field'
refused 22 synthetic_events 'x char ^a[300]' 'Invalid array specification'
refused 22 synthetic_events 'x char ^a[0]' 'Invalid array specification'
refused 22 synthetic_events 'x u64 ^a[2]' 'Invalid array specification'
refused 17 synthetic_events '^seen u64 a' 'Event already exists'
refused 2 synthetic_events '^!nosuch' 'there is no such event'
refused 22 dynamic_events '^s:other/x u64 a' 'Command must be of the form: s or'
test -d events/synthetic/x && fail 'a refused one is there'
same 'a group without a name' 2 "$(status dynamic_events -:synthetic/)"
same 'all are there' 3 "$(wc -l < synthetic_events)"

# -- all types: a record has what the fields of another event had
echo 'hist:keys=common_pid:onmatch(lab.lab_step).all(step,step,step,step,step,step,step,step,what,step,step)' > $step/trigger 2> /dev/null &&
	fail 'values of other sizes'
echo '!all' >> synthetic_events
echo 'all int a; u64 b; char c[]; pid_t d' >> synthetic_events
echo 'hist:keys=common_pid:neg=step-100,big=1000000000000*step:onmatch(lab.lab_step).all(step,$big,what,common_pid)' > $step/trigger
echo 1 > events/synthetic/all/enable
steps '7 lit' '-3 half'
same 'records' "all: a=7 b=7000000000000 c=lit d=$$
all: a=-3 b=18446741073709551616 c=half d=$$" "$(sed -n 's/.*: all:/all:/p' trace | sed 's/18446741073709551616/18446741073709551616/')"
echo 'a == 7 && c == "lit"' > events/synthetic/all/filter
echo > trace
steps '7 lit' '8 lit'
same 'a filter on it' 'a=7 b=7000000000000 c=lit' "$(sed -n 's/.*: all: \(.*\) d=.*/\1/p' trace)"
same 'held by the histogram, and on' 16 "$(status synthetic_events '!all')"
echo 0 > events/synthetic/all/enable
same 'held by the histogram' 16 "$(status synthetic_events '!all')"
errno synthetic_events 'all2 u64 a' > /tmp/said
same 'emptying the file keeps it, too' 16 "$(sed 's/.*errno=//; s/ .*//' /tmp/said)"
echo '!hist:keys=common_pid:neg=step-100,big=1000000000000*step:onmatch(lab.lab_step).all(step,$big,what,common_pid)' >> $step/trigger
echo '!all' >> synthetic_events || fail 'now it may go'
test -d events/synthetic/all && fail 'all is still there'

# -- a time between two events, counted in a histogram of the synthetic event; a variable is used up when it is read
echo 'hist:keys=common_pid:ts=common_timestamp,s=step,w=what,st=common_stacktrace' > $step/trigger
echo 'hist:keys=common_pid:lat=common_timestamp-$ts:onmatch(lab.lab_step).trace(seen,$lat,$s,$w,$st)' > $leave/trigger
echo 'hist:keys=what,step:vals=lat:sort=step' > events/synthetic/seen/trigger
echo 1 > events/synthetic/seen/enable
echo > trace
steps '1 half' '2 half' '3 lit'
same 'a record each' 'step=1 what=half step=2 what=half step=3 what=lit' "$(sed -n 's/.*seen: lat=[1-9][0-9]* \(step=.* what=.*\) where=STACK:$/\1/p' trace | xargs)"
same 'each with its stack' '=> lab_step => step_store 3' "$(sed -n 's/+0x.*//; /^=> /p' trace | head -n 2 | xargs) $(grep -c '=> lab_step+' trace)"
# added: how many numbers, and their sum
added() {
	lines=0 total=0
	while read -r number; do
		lines=$((lines + 1)) total=$((total + number))
	done
	echo $lines $total
}
same 'sums of the records' "$(sed -n 's/.*lat=\([0-9]*\) .*/\1/p' trace | added)" \
	"$(sed -n 's/.*hitcount:.*lat: *//p' events/synthetic/seen/hist | added)"
same 'an event that is needed stays' '16 16' "$(status $step/trigger '!hist:keys=common_pid:ts=common_timestamp,s=step,w=what,st=common_stacktrace') $(status synthetic_events '!seen')"

# -- a field of the other event: a histogram comes for it, and goes
echo '!hist:keys=common_pid:lat=common_timestamp-$ts:onmatch(lab.lab_step).trace(seen,$lat,$s,$w,$st)' >> $leave/trigger
before=$(grep -c . $step/trigger)
echo 'two int room; int step' >> synthetic_events
echo 'hist:keys=common_pid:onmatch(lab.lab_step).two(room,lab.lab_step.step)' >> $leave/trigger || fail "$(cat error_log)"
grep -q 'synthetic_step=step' $step/hist || fail 'no histogram for the field'
echo 1 > events/synthetic/two/enable
steps '5 half'
grep -q 'two: room=[0-9]* step=5$' trace || fail "no record of two: $(tail -n 3 trace)"
echo 0 > events/synthetic/two/enable
echo '!hist:keys=common_pid:onmatch(lab.lab_step).two(room,lab.lab_step.step)' >> $leave/trigger
same 'it has gone' "$before" "$(grep -c . $step/trigger)"

# -- what goes leaves no memory behind, whichever kind of event it is
rounds() {
	i=0
	while [ $i -lt $1 ]; do
		i=$((i + 1))
		for line in 's:leaves u64 a; char b[]' 'p:leaves vfs_open a=$arg1 b=@linux_proc_banner:string' 'r:leaves vfs_open $retval' \
			'e:leaves lab.lab_step step=$step' 'f:leaves vfs_open a=$arg1'; do
			echo "$line" >> dynamic_events || fail "not taken: $line"
			echo '-:leaves' >> dynamic_events || fail "not deleted: $line"
		done
	done
}
rounds 2
settled
before=$(objects)
rounds 20
few_more '20 events of each kind' 15 $before

# -- nothing is left
echo '!hist:keys=common_pid:ts=common_timestamp,s=step,w=what,st=common_stacktrace' >> $step/trigger
echo 0 > events/synthetic/seen/enable
echo '!hist:keys=what,step:vals=lat:sort=step' >> events/synthetic/seen/trigger
echo > synthetic_events || fail 'not emptied'
holds 'none' dynamic_events ''
holds 'nobody holds it' $step/enable 0
test -d events/synthetic && fail 'the folder is still there'
echo local > trace_clock
tracing_reset
finish
