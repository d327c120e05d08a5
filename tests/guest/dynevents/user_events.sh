#!/bin/sh
# description: programs make events of their own: requests, bits in memory, records, formats, filters, triggers, instances, the sample
# requires: smp=2 timeout=120 progs="uevents hello_event errno"
# requires: rooms="hist procfs user_events triggers instances"
. /run/prelude
tracing_reset
event=events/user_events/t_make

# made FORM N BYTES...: a program has registered the event; it ends with unmade
made() {
	held | uevents make "$@" &
	await "$1" test -e events/user_events/${1%% *}
}
held() {
	until test -e /tmp/end; do usleep 10000; done
}
unmade() {
	touch /tmp/end
	wait
	rm -f /tmp/end /tmp/write
}
gone() {
	await "$1 is gone" test ! -e events/user_events/$1
}
status() {
	errno -a "$1" "$2" | sed 's/.*errno=//; s/ .*//'
}

runs 'the cases' uevents refused bits memory races writes strings rights forms

# -- text, format, filter, hist, trigger, instance
form='t_make u32 count; u8 small; char[4] name; struct sample s 3; __rel_loc char[] text'
bytes='2a 0 0 0  ff  61 62 0 0  1 2 3  0 0 3 0  78 79 0'
mkdir instances/user
echo > trace
made "$form" 3 $bytes
same 'its fields' 'u32 count;8;4;0 u8 small;12;1;0 char name[4];13;4;1 struct sample s;17;3;1 __rel_loc char text[];20;4;1' \
	"$(echo $(sed -n '9,$s/.*field:\(.*\);.offset:\(.*\);.size:\(.*\);.signed:\(.*\);/\1;\2;\3;\4/p' $event/format))"
same 'its text' 'print fmt: "count=%u small=%u name=%s s=%llu text=%s", REC->count, REC->small, REC->name, REC->s, __get_rel_str(text)' \
	"$(tail -n 1 $event/format)"
holds 'the list' dynamic_events "u:$form"
holds 'off' user_events_status 't_make

Active: 1
Busy: 0'
for good in 'count == 42' 'small > 254' 'name == "ab"' 'text == "xy"' 'text ~ "x*"'; do
	echo "$good" > $event/filter || fail "filter $good"
done
echo 'text == "xyz"' > $event/filter
echo 'hist:keys=text,name:vals=count' > $event/trigger
holds 'a trigger needs it' user_events_status 't_make # Used by ftrace

Active: 1
Busy: 1'
touch /tmp/write
await 'three hits' grep -q 'Hits: 3' $event/hist
grep -q '{ text: xy  *, name: ab  *} hitcount:  *3  count:  *126' $event/hist || fail "hist: $(cat $event/hist)"
echo '!hist:keys=text,name:vals=count' > $event/trigger
unmade
gone t_make

made "$form" 4 $bytes
echo 'text != "xyz" && text == "xy"' > $event/filter
echo 'traceoff:2' > $event/trigger
echo '!traceoff' > $event/trigger
echo 1 > instances/user/$event/enable
echo 1 > $event/enable
touch /tmp/write
await 'a record' grep -q t_make: trace
await 'four here and there' eval '[ $(grep -c t_make: instances/user/trace) = 4 ]'
same 'a line' "t_make: count=0x2a (42) small=(255) name=ab s=01 02 03 text=xy" "$(sed -n 's/.* t_make:/t_make:/p' trace | tail -n 1)"
same 'the task' uevents "$(sed -n 's/^ *\([a-z]*\)-.* t_make:.*/\1/p' trace | tail -n 1)"
same 'it is on' "$(status dynamic_events "-:t_make ${form#* }")" 16
echo 0 > $event/enable
unmade
test -e $event || fail 'the instance needs it'
rmdir instances/user
gone t_make
grep -q 'Unknown type' trace || fail "the records have gone, too: $(cat trace)"

# -- dynamic_events: what is made there stays
echo 'u:t_line u32 a;u32 b' >> dynamic_events
echo 'u:t_line u32 a; u32 b;' >> dynamic_events
same 'other fields' 98 "$(status dynamic_events 'u:t_line u32 b; u32 a')"
same 'no type' 22 "$(status dynamic_events 'u:t_line2 nosuch a')"
holds 'the line' dynamic_events 'u:t_line u32 a; u32 b'
for name in enable filter; do # the folder of all has files of these names
	same "named $name" 22 "$(status dynamic_events "u:$name u32 a")"
done
same 'without its fields' 2 "$(status dynamic_events '-:t_line')"
runs 'deleted' errno -a dynamic_events '-:user_events/t_line u32 a; u32 b'
holds 'none' dynamic_events ''
limit=/proc/sys/kernel/user_events_max
same 'the limit' 32768 "$(cat $limit)"
echo 1 > $limit
echo 'u:t_one' >> dynamic_events
same 'one more' 24 "$(status dynamic_events 'u:t_two')"
echo 32768 > $limit
echo > dynamic_events
holds 'all deleted' dynamic_events ''
# A structure with such a name is no text whose place the record says: its bytes are not followed.
echo 'u:t_odd struct __data_loc_char s 4' >> dynamic_events
same 'no text' 22 "$(status events/user_events/t_odd/filter 's == "x"')"
echo > dynamic_events

# -- a number that is used again does not show old records
made 't_old u8 a' 1 7
echo 1 > events/user_events/t_old/enable
touch /tmp/write
await 'its record' grep -q t_old: trace
echo 0 > events/user_events/t_old/enable
unmade
gone t_old
echo 'u:t_other' >> dynamic_events
grep -q 'Unknown type' trace || fail 'another number was free'
n=0
while echo "u:t_fill$n" 2> /dev/null >> dynamic_events; do
	n=$((n + 1))
done
[ $n -gt 300 ] || fail "only $n events"
grep -q 'Unknown type\|t_fill\|t_old' trace && fail "an old record: $(cat trace)"
echo > dynamic_events

# -- the sample
echo > trace
held | hello_event 3 &
await 'the sample' test -e events/user_events/hello
echo 1 > events/user_events/hello/enable
await 'its records' grep -q 'hello_event-.* hello: count=0x3 (3) text=hello$' trace
same 'three' 3 "$(grep -c hello: trace)"
unmade
echo 0 > events/user_events/hello/enable
gone hello
dmesg | grep -E 'Oops|BUG|WARNING|panic' && fail 'the kernel complained'
finish
