#!/bin/sh
# description: event probes: fields as values and as addresses, filters, instances, exact counts, what keeps what, refusals
# requires: smp=4 timeout=240 append="quiet loglevel=4" progs="calls errno dynevents"
# requires: rooms="hist procfs samples triggers instances syscalls"
. /run/prelude
tracing_reset
echo > dynamic_events
open=syscalls/sys_enter_openat
parent=syscalls/sys_enter_getppid

# refused ERRNO LINE ERROR: as probe_refused
refused() {
	probe_refused event_probe "$@"
}

# -- values: numbers, strings in the program and in the record, steps from there, the task's name, constants
cat > dynamic_events << END
e:opened $open dfd=\$dfd:s32 name=\$filename:x64 text=+0(\$filename):ustring first=+0(\$filename):u8 \$flags:x32 \$comm who=\$common_pid:s32
e:switched sched.sched_switch comm=\$prev_comm:string next=\$next_comm:string \$next_pid:s32 \$prev_state c=\\7:u8 if prev_comm == "cat"
END
same 'as they are shown' "e:eprobes/opened syscalls.sys_enter_openat dfd=\$dfd:s32 name=\$filename:x64 text=+0(\$filename):ustring first=+0(\$filename):u8 flags=\$flags:x32 arg6=\$comm who=\$common_pid:s32
e:eprobes/switched sched.sched_switch comm=\$prev_comm:string next=\$next_comm:string next_pid=\$next_pid:s32 prev_state=\$prev_state c=\\7:u8" \
	"$(cat dynamic_events)"
echo 1 > events/eprobes/enable
same 'the attached event' 0 "$(cat events/$open/enable | tr -d '*')"
same 'its file trigger tells nothing' '' "$(cat events/$open/trigger)"
cat /proc/version > /dev/null
echo 0 > events/eprobes/enable
grep 'cat-.*opened: (syscalls.sys_enter_openat) dfd=-100 name=0x[0-9a-f]* text="/proc/version" first=47 flags=0x[0-9a-f]* arg6="cat" who=[1-9]' trace > /tmp/line ||
	fail "opened: $(cat trace)"
same 'the pid of the record' "$(sed 's/.*cat-\([0-9]*\) .*/\1/' /tmp/line)" "$(sed 's/.*who=//' /tmp/line)"
grep -q 'switched: (sched.sched_switch) comm="cat" next=".*" next_pid=[0-9]* prev_state=0x[0-9a-f]* c=7$' trace || fail "switched: $(probe_values switched)"
same 'a filter of the attached record' 0 "$(grep 'switched:' trace | grep -vc 'comm="cat"')"
same 'no record of the attached events' 0 "$(grep -c 'sys_openat(\|sched_switch:' trace)"
same 'they are off again' "0 0" "$(cat events/$open/enable) $(cat events/sched/sched_switch/enable)"
grep -q 'Available' events/$open/trigger || fail "a trigger is left: $(cat events/$open/trigger)"
same 'print fmt' 'print fmt: " dfd=%d name=0x%Lx text=\"%s\" first=%u flags=0x%x arg6=\"%s\" who=%d", REC->dfd, REC->name, __get_str(text), REC->first, REC->flags, __get_str(arg6), REC->who' \
	"$(tail -n 1 events/eprobes/opened/format)"
same 'its first field' '	field:s32 dfd;	offset:8;	size:4;	signed:1;' "$(grep 'dfd;' events/eprobes/opened/format)"

# -- with the attached event on, both records; the event's own filter and triggers do not change what the eprobe gets
echo > trace
echo 'flags == 12345678' > events/$open/filter
echo 1 > events/$open/enable
echo 'filename != 0' > events/eprobes/opened/filter 2> /dev/null && fail 'a field of the other event'
echo 'text ~ "*/version"' > events/eprobes/opened/filter
echo 1 > events/eprobes/opened/enable
cat /proc/version /proc/uptime > /dev/null
same 'the event itself' 0 "$(grep -c 'sys_openat(' trace)"
same 'its eprobe, with a filter' 1 "$(grep -c 'opened: ' trace)"
echo 0 > events/$open/filter
cat /proc/version > /dev/null
grep -q 'sys_openat(' trace || fail 'the event is on, and has no record'
echo 0 > events/eprobes/opened/enable
same 'still on' 1 "$(cat events/$open/enable)"
echo 0 > events/$open/enable

# -- one of two on the same event goes off, and the other one stays on
echo > trace
echo "e:first $parent" >> dynamic_events
echo "e:second $parent" >> dynamic_events
for e in first second; do
	echo 1 > events/eprobes/$e/enable
done
echo 0 > events/eprobes/first/enable
calls 1 1
same 'the one that is on' '0 1' "$(grep -c ' first: ' trace) $(grep -c ' second: ' trace)"
echo 1 > events/eprobes/first/enable
echo 0 > events/eprobes/second/enable
calls 1 1
same 'the other one' '1 1' "$(grep -c ' first: ' trace) $(grep -c ' second: ' trace)"
echo 0 > events/eprobes/first/enable

# -- a string that the attached event could not read has no bytes in the record: what lies behind it is not the string
echo '-:first' >> dynamic_events
echo '-:second' >> dynamic_events
printf '%s\n' 'f:bad sys_getppid text=+0(\1):string' 'e:below fprobes.bad text=$text:string whole=$text' >> dynamic_events
echo 1 > events/eprobes/below/enable
calls 1 1
echo 0 > events/eprobes/below/enable
same 'a string that was not there' 'text=(fault) whole=0x0' "$(probe_values below)"
echo '-:below' >> dynamic_events
echo '-:bad' >> dynamic_events || fail 'the eprobe has gone, and its event stays'

# -- an instance has its own
echo > trace
mkdir instances/e
echo 1 > instances/e/events/eprobes/opened/enable
cat /proc/version > /dev/null
same 'in the instance' 1 "$(grep -c 'opened: .*version' instances/e/trace)"
same 'not elsewhere' 0 "$(grep -c 'opened:' trace)"
echo '-:opened' >> dynamic_events 2> /dev/null && fail 'an eprobe that is on in an instance was deleted'
rmdir instances/e
echo '-:opened' >> dynamic_events || fail 'the instance has gone'

# -- lines that delete
line="e:g/x $open n=\$filename"
for words in -:x -:g/x "-:x $open" "-:g/x syscalls.sys_enter_openat" "-:x $open n=\$filename" '-:g/'; do
	echo "$line" >> dynamic_events
	test -d events/g/x || fail "no events/g/x for $words"
	for other in "-:g/x $parent" "-:x $open m=\$filename" "-:h/x" "-:g/x syscalls"; do
		echo "$other" >> dynamic_events 2> /dev/null && fail "$other deleted $line"
	done
	echo "$words" >> dynamic_events || fail "$words did not delete $line"
	test -d events/g && fail "events/g after $words"
done
echo > dynamic_events
echo "e $parent" > dynamic_events
same 'a name from the event' "e:eprobes/sys_enter_getppid syscalls.sys_enter_getppid" "$(cat dynamic_events)"
echo "e:g/ $parent" >> dynamic_events
test -d events/g/sys_enter_getppid || fail 'a group alone'
echo > dynamic_events

# -- what keeps what
echo 's:made unsigned long a' > dynamic_events
echo 'e:of_made synthetic.made a=$a:u64' >> dynamic_events
echo '-:made' >> dynamic_events 2> /dev/null && fail 'an event that has an eprobe was deleted'
echo 'hist:keys=common_pid:a=pid:onmatch(sched.sched_wakeup).trace(made,$a)' 2> /dev/null > events/sched/sched_switch/trigger
echo '-:of_made' >> dynamic_events
echo '-:made' >> dynamic_events || fail 'the eprobe has gone'

# -- refusals
refused 22 'e ^a.' 'This requires both group and event name to attach'
refused 22 'e ^.b' 'This requires both group and event name to attach'
refused 22 'e ^a' 'This requires both group and event name to attach'
refused 19 'e ^a.b' 'Attached event does not exist'
refused 22 "e $open arg=^\$foo" 'Attached event does not have this field'
refused 22 "e $open ^\$retval" 'Attached event does not have this field'
refused 22 "e $open ^%sp" 'Invalid $-valiable specified'
refused 22 "e $open a=^dfd" 'BTF is not available or not supported'
refused 22 "e:g/b $open if ^" "No filter rule after 'if'"
refused 17 "^e:sched/sched_switch $open" 'Given group/event name is already used by another event'
echo 'p:kprobes/kp sys_getppid' > dynamic_events
refused 19 'e ^kprobes.kp' 'Attached event does not exist'
refused 17 "^e:kprobes/kp $open" 'Given group/event name is already used by another event'
echo > dynamic_events
same 'errno of a wrong filter' 22 "$(errno -a dynamic_events "e $open if nosuch == 1" | sed 's/.*errno=//; s/ .*//')"
same 'nothing is left' 0 "$(cat dynamic_events | wc -l)"
test -d events/eprobes && fail 'a group is left'

# -- counts: each call is recorded once, with its value, on 4 CPUs; a histogram of the eprobe counts the same
N=100000
echo "e:hit syscalls.sys_exit_getppid r=\$ret:s64" > dynamic_events
echo "e:odd $parent nr=\$__syscall_nr if common_pid & 1" >> dynamic_events
echo "e:even $parent nr=\$__syscall_nr if !(common_pid & 1)" >> dynamic_events
for e in hit odd even; do
	echo 'hist:keys=common_type' > events/eprobes/$e/trigger || fail "hist of $e"
done
hits() {
	grep '^    Hits: ' events/eprobes/$1/hist | tr -dc 0-9
}
echo 1 > events/eprobes/enable
calls $N 4
echo 0 > events/eprobes/enable
same 'hits' $N "$(hits hit)"
same 'hits of two filters' $N $(($(hits odd) + $(hits even)))
for e in hit odd even; do
	echo '!hist:keys=common_type' > events/eprobes/$e/trigger
done
echo > dynamic_events || fail 'something is busy'

# -- added, switched and removed under load
(while :; do calls 2000 4; cat /proc/version > /dev/null; done) &
load=$!
remember_memory
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	echo "e:a$i $parent nr=\$__syscall_nr" >> dynamic_events
	echo "e:b$i $open +0(\$filename):ustring" >> dynamic_events
	echo 1 > events/eprobes/enable
	echo $((i & 1)) > events/$parent/enable
	usleep 2000
	echo 0 > events/eprobes/enable
	echo > dynamic_events || fail "round $i: busy"
done
echo 0 > events/$parent/enable
kill $load
wait $load 2> /dev/null
left_over
same 'memory' '' "$left"
same 'no call site is left' 0 "$(wc -l < enabled_functions)"
returns_are_whole
finish
