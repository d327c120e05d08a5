#!/bin/sh
# description: an event that cannot be deleted is named in one line of the log, with what must be done first
# requires: smp=1 mem=128M icount append="loglevel=5" timeout=120
# requires: rooms="synth user_events triggers commands instances refusals"
. /run/prelude
tracing_reset

said=0
# busy FILE EVENT REASON: neither `>` nor the line that deletes it takes the event away, and both say why
busy() {
	said=$((said + 2))
	test $((said % 8)) = 0 && sleep 6 # ten lines in five seconds
	echo > error_log
	(echo > $1) 2> /dev/null && fail "$1 is emptied with $2"
	same "> $1" "$1: $3" "$(dmesg | tail -n 1 | sed 's/^\[[^]]*\] //')"
	holds 'no line was refused' error_log ''
	line=-:$2
	test $1 = synthetic_events && line="!${2#*/} u64 lat"
	echo "$line" 2> /dev/null >> $1 && fail "$1 deletes $2"
	same "$1: $line" "$1: $3; error_log shows the line" "$(dmesg | tail -n 1 | sed 's/^\[[^]]*\] //')"
	grep -qF ": error: $3" error_log || fail "error_log: $(cat error_log)"
	grep -qF "  Command: $line" error_log || fail "error_log: $(cat error_log)"
}

echo 'p:myopen do_sys_openat2' > kprobe_events
echo 'f:enters vfs_read' >> dynamic_events
echo 'p:uses /bin/sh:0x1000' > uprobe_events
echo 'late u64 lat' > synthetic_events
for way in kprobe_events:kprobes/myopen dynamic_events:fprobes/enters uprobe_events:uprobes/uses synthetic_events:synthetic/late; do
	event=${way#*:}
	echo 1 > events/$event/enable || fail "$event cannot be switched on"
	busy ${way%:*} $event "$event is on: echo 0 > events/$event/enable first"
	busy dynamic_events $event "$event is on: echo 0 > events/$event/enable first"
	echo 0 > events/$event/enable
done
event=kprobes/myopen

# -- in an instance
mkdir instances/i
echo 1 > instances/i/events/$event/enable
busy kprobe_events $event "$event is on: echo 0 > instances/i/events/$event/enable first"
echo 0 > instances/i/events/$event/enable
rmdir instances/i

# -- a trigger of its own, and what else needs it
echo traceoff:1 > events/$event/trigger
busy kprobe_events $event "$event has a trigger: events/$event/trigger shows what to take away first"
echo '!traceoff' > events/$event/trigger
used="$event is in use by a trigger or probe of another event or by a function's command"
echo vfs_rmdir:enable_event:kprobes:myopen > set_ftrace_filter
busy kprobe_events $event "$used"
echo '!vfs_rmdir:enable_event:kprobes:myopen' > set_ftrace_filter
echo 'enable_event:kprobes:myopen if next_pid == 32767' > events/sched/sched_switch/trigger
busy dynamic_events $event "$used"
echo '!enable_event:kprobes:myopen' > events/sched/sched_switch/trigger

# -- an event of programs
echo 'u:said u32 a' >> dynamic_events
echo 1 > events/user_events/said/enable
busy dynamic_events 'said u32 a' 'an event of user_events is on, or in use'
echo 0 > events/user_events/said/enable

# -- what a line that makes an event has wrong stands in the same line
echo 'foo u33 a' 2> /dev/null >> synthetic_events && fail 'u33 is a type'
same 'a type' 'synthetic_events: Invalid type; error_log shows the line' "$(dmesg | tail -n 1 | sed 's/^\[[^]]*\] //')"
echo '!foo' 2> /dev/null >> synthetic_events && fail 'foo is there'
same 'no event' 'synthetic_events: there is no such event; error_log shows the line' "$(dmesg | tail -n 1 | sed 's/^\[[^]]*\] //')"
runs 'all go' sh -c 'echo > dynamic_events'
holds 'the list is empty' dynamic_events ''
finish
