#!/bin/sh
# description: function commands of set_ftrace_filter: what each does, counts, globs, how they are listed, what is refused
# requires: smp=2 icount progs="errno" timeout=120
# requires: rooms="samples commands instances dump"
. /run/prelude
tracing_reset
F=set_ftrace_filter
D=/sys/kernel/debug/ftrace_sample
none='#### all functions enabled ####'
switch=events/lab/lab_enter

# call COMMAND...: what the users' file of the sample takes; users_target is a function that nothing else calls
target() {
	for i in $(seq $1); do
		echo 0 call > $D/users
	done
}

# add COMMAND... and gone COMMAND...: each is taken
add() {
	for command in "$@"; do
		echo "$command" >> $F || fail "refused: $command"
	done
}

gone() {
	for command in "$@"; do
		echo "!$command" >> $F || fail "not taken away: $command"
	done
}

# -- listed: the newest command first, behind the functions
add schedule:traceoff schedule:traceon:0 vfs_rmdir:stacktrace vfs_rmdir:snapshot:0 vfs_mkdir:dump vfs_mkdir:cpudump \
	users_target:enable_event:lab:lab_enter users_target:disable_event:lab:lab_enter:0
all='users_target:disable_event:lab:lab_enter:count=0
users_target:enable_event:lab:lab_enter:unlimited
vfs_mkdir:cpudump:unlimited
vfs_mkdir:dump:count=1
vfs_rmdir:snapshot:count=0
vfs_rmdir:stacktrace:unlimited
schedule:traceon:count=0
schedule:traceoff:unlimited'
holds 'all' $F "$none
$all"
grep -v '^#' available_filter_functions | grep -x -e schedule -e vfs_rmdir > /tmp/names
echo schedule vfs_rmdir >> $F
holds 'with functions' $F "$(cat /tmp/names)
$all"
echo > $F
holds 'a new filter leaves them' $F "$none
$all"
holds 'the event is held' $switch/enable '0*'
same 'users of functions' 4 "$(grep -c '(2)' enabled_functions)"

# -- refused, and nothing changes: at once when the word is complete
refused() {
	errno -a $F "$1\n" > /tmp/said
	same "$1" "$2" "$(sed 's/.*errno=//; s/ .*//' /tmp/said | tail -n 1)"
	holds "$1" $F "$none
$all"
}
for bad in schedule:nosuchcmd schedule:traceoff:x nosuchfn:traceoff 'nosuch*:traceoff:1' schedule: :traceoff schedule:traceoff \
	schedule:traceon:5 vfs_mkdir:dump:1 schedule:enable_event schedule:enable_event:lab schedule:enable_event:nosuch:event \
	schedule:enable_event:lab:lab_enter:x schedule:enable_event:lab:lab_enter: users_target:enable_event:lab:lab_step \
	'!schedule:nosuchcmd' '!schedule:stacktrace' '!vfs_rmdir:traceoff' '!*rmdi:snapshot:0' \
	'!vfs_rmdir:enable_event:lab:lab_enter' '!users_target:enable_event:no:such'; do
	refused "$bad" 22
done
refused schedule:stacktrace:18446744073709551616 34
errno set_ftrace_notrace 'schedule:traceoff\n' | grep -q 'errno=22' || fail 'set_ftrace_notrace takes a command'
errno stack_trace_filter 'schedule:traceoff\n' | grep -q 'errno=19' || fail 'stack_trace_filter takes a command'
errno set_graph_function 'schedule:traceoff\n' | grep -q 'errno=22' || fail 'set_graph_function takes a command'
for bad in '!schedule:nosuchcmd:unlimited' schedule:stacktrace:unlimited schedule:stacktrace:count=3; do
	refused "$bad" 22
done
# A command with a count and one without are two: what has one kind alone is not taken away by asking for the other.
for bad in '!schedule:traceoff:0' '!schedule:traceoff:count=1' '!schedule:traceon:unlimited' '!schedule:traceon' \
	'!*:disable_event:lab:lab_enter' '!vfs_rmdir:snapshot'; do
	refused "$bad" 19
done
gone schedule:traceoff schedule:traceon:0 '*:stacktrace' ':snapshot:0' vfs_mkdir:dump vfs_mkdir:cpudump \
	users_target:enable_event:lab:lab_enter '*:disable_event:lab:lab_enter:7'
holds 'none' $F "$none"
holds 'none' enabled_functions ''
holds 'the event is let go' $switch/enable 0

# -- what the file prints takes away what it prints, and nothing else
add schedule:traceoff
for params in '' :0 :3 :18446744073709551615; do
	for name in traceon traceoff snapshot stacktrace dump cpudump enable_event:lab:lab_enter disable_event:lab:lab_enter; do
		before=$(cat $F)
		add users_target:$name$params
		line=$(grep users_target $F)
		case $line in
		users_target:$name:unlimited | users_target:$name:count=[013]) ;;
		*) fail "$name$params is listed as '$line'" ;;
		esac
		gone "$line"
		holds "$line" $F "$before"
		case $params in :[03]) # both of a function, with and without a count
			add users_target:$name$params vfs_rmdir:$name
			gone $(grep -e users_target -e vfs_rmdir $F)
			holds "two of $name$params" $F "$before"
			;;
		esac
	done
done
gone "$(grep -v '^#' $F)"
holds 'none' enabled_functions ''

# -- filters by module: all functions are the kernel's own here, so what is asked of a module waits for it
M=set_ftrace_notrace
taken() {
	echo "$1" >> $2 || fail "$2 refuses $1"
}
echo > $F
taken ':mod:ext4' $F
holds 'kept, and no longer all functions' $F '*:mod:ext4'
echo function > current_tracer
holds 'nothing is traced until then' enabled_functions ''
taken 'write*:mod:ext3' $F
taken 'write*:mod:ext4' $F
taken users_target $F
taken users_target:traceoff:0 $F
holds 'behind the functions, before the commands' $F 'users_target
*:mod:ext4
write*:mod:ext3
write*:mod:ext4
users_target:traceoff:count=0'
same 'a function beside them is traced' users_target "$(sed 's/ .*//' enabled_functions | sort -u)"
gone users_target:traceoff:0
for bad in '!write*:mod:ext5' '!read*:mod:ext4'; do
	errno -a $F "$bad\n" | grep -q 'errno=22' || fail "$bad is taken"
done
taken '!write*:mod:ext3' $F
taken '!*:mod:ext4' $F
holds 'taken away, the star all of a module' $F users_target
taken ':mod:one' $F
echo users_target > $F
holds 'a new filter forgets them' $F users_target
taken ':mod:one' $M
holds 'the other file keeps its own' $M '#### no functions disabled ####
*:mod:one'
holds 'and only that' $F users_target
taken '!:mod:one' $M
echo '*write*:mod:!*' > $F
grep write available_filter_functions | sort > /tmp/wanted
sort $F > /tmp/got
same 'what is in no module' "$(cat /tmp/wanted)" "$(cat /tmp/got)"
taken '!vfs_*:mod:!*' $F
same 'less some' "$(grep -v '^vfs_' /tmp/wanted)" "$(sort $F)"
echo ':mod:!ext4' > $F
same 'all that is not of a module' "$(grep -c '' available_filter_functions)" "$(grep -c '' $F)"
echo nop > current_tracer
mkdir instances/m
taken ':mod:ext4' instances/m/$F
holds "an instance has its own" instances/m/$F '*:mod:ext4'
rmdir instances/m
echo > $F
holds 'none' $F "$none"

# -- a word that is too long is gone when the next one comes through the same open file
exec 3>> $F
echo $(printf '%300s' x | tr ' ' x) 2> /dev/null >&3 && fail 'a word of 300 characters'
echo users_target >&3 || fail 'the word behind it is refused'
exec 3>&-
holds 'the word behind it' $F users_target
echo > $F

# -- traceoff and traceon: one of the count when it changes something
echo 1 > tracing_on
add users_target:traceoff:2
target 2
holds 'off' tracing_on 0
holds 'used once' $F "$none
users_target:traceoff:count=1"
echo 1 > tracing_on
target 1
echo 1 > tracing_on
target 1
holds 'used up' tracing_on 1
gone users_target:traceoff:0
add users_target:traceoff
target 1
holds 'unlimited' tracing_on 0
gone users_target:traceoff
add users_target:traceon:1
target 3
holds 'on' tracing_on 1
holds 'used' $F "$none
users_target:traceon:count=0"
gone users_target:traceon:0

# -- what tutorials stop the trace at: somebody sleeps with preemption off
echo 1 > tracing_on
add __schedule_bug:traceoff:5
echo SCHEDULE_ATOMIC > /sys/kernel/debug/provoke-crash/DIRECT
dmesg | grep -q "BUG: scheduling while atomic: sh/$$/0x00000001" || fail 'the kernel does not say so'
dmesg | grep -q ' schedule+0x' || fail 'without its stack'
holds 'the trace stops there' tracing_on 0
holds 'one of five' $F "$none
__schedule_bug:traceoff:count=4"
gone __schedule_bug:traceoff:count=4
# the documents of Linux 2.6 name no count where they take a counted command away; today's Linux refuses that
add __schedule_bug:traceoff:5
errno -a $F '!__schedule_bug:traceoff\n' | grep -q 'errno=19' || fail 'taken away without its count'
same 'its count' '__schedule_bug:traceoff:count=5' "$(grep schedule_bug $F)"
gone __schedule_bug:traceoff:0
echo 1 > tracing_on

# -- stacktrace, of each function of a glob so often; a tracer beside it sees the same calls
echo > trace
echo 'users_*' > set_ftrace_filter
echo function > current_tracer
add 'users_[ti]*:stacktrace:2'
target 3
same 'two of each' 'users_inner:stacktrace:count=2 users_target:stacktrace:count=0' "$(echo $(grep stacktrace $F | sort))"
same 'stacks' 2 "$(grep -c '<stack trace>' trace)"
same 'it begins with the function' ' => users_target' "$(grep ' => ' trace | head -n 1)"
same 'calls' 3 "$(grep -c ': users_target <-' trace)"
grep -A 1 'users_target <-' trace | head -n 2 | cut -c 34-39 | uniq | grep -c . > /tmp/flags
holds 'with the same state' /tmp/flags 1
echo 0 > tracing_on
gone 'users_*:stacktrace:0'
add users_target:stacktrace:1
target 1
same 'none is used while nothing is recorded' users_target:stacktrace:count=1 "$(grep stacktrace $F)"
echo 1 > tracing_on
gone users_target:stacktrace:0
echo nop > current_tracer
echo > $F
# a tracer that hooks returns is not seen: each function's caller is in the stack
echo > trace
echo function_graph > current_tracer
add users_target:stacktrace:1
target 1
echo 0 > tracing_on # reading would fill the buffer, and the stack would be overwritten
grep -A 20 'stack trace' trace | grep ' => ' > /tmp/stack
grep -q ' => return_to_handler' /tmp/stack && fail 'hooked returns are in a stack'
grep -q " => ksys_write" /tmp/stack || fail "a stack without its callers: $(echo $(cat /tmp/stack))"
gone users_target:stacktrace:0
echo nop > current_tracer
echo 1 > tracing_on

# -- a glob leaves those that have the command as they are
add users_target:stacktrace:5 'users_*:stacktrace:2' users_target:enable_event:lab:lab_enter:5 'users_*:enable_event:lab:lab_enter:2'
for name in stacktrace enable_event; do
	same "$name of one and of the others" 'count=2 count=5' "$(echo $(grep $name $F | sed 's/.*://' | sort -u))"
	same "$name of one" 'count=5' "$(grep users_target:$name $F | sed 's/.*://')"
done
gone '*:stacktrace:0' '*:enable_event:lab:lab_enter:0'
holds 'each function lets the event go once' $switch/enable 0

# -- snapshot
echo > trace
add users_target:snapshot:1
grep -q 'Snapshot is allocated' snapshot || fail 'setting it allocates'
echo one > trace_marker
target 1
echo two > trace_marker
target 1
same 'aside, and on' 'one two' "$(echo $(cat snapshot trace | grep tracing_mark_write | sed 's/.*: //'))"
gone users_target:snapshot:0
echo 0 > snapshot

# -- dump: to the console, once, and recording stops; cpudump: our CPU's, each time
echo > trace
taskset 2 sh -c 'echo second > /sys/kernel/tracing/trace_marker'
taskset 1 sh -c 'echo first > /sys/kernel/tracing/trace_marker'
add users_target:dump
dmesg > /tmp/before
taskset 2 sh -c "echo 0 call > $D/users"
taskset 2 sh -c "echo 0 call > $D/users"
dmesg | tail -n +$(($(grep -c '' /tmp/before) + 1)) > /tmp/dump
same 'all' 'second first' "$(echo $(grep tracing_mark_write /tmp/dump | sed 's/.*: //'))"
same 'once' 1 "$(grep -c 'Dumping ftrace' /tmp/dump)"
holds 'and stops' tracing_on 0
gone users_target:dump
echo 1 > tracing_on
taskset 1 sh -c 'echo third > /sys/kernel/tracing/trace_marker'
taskset 2 sh -c 'echo fourth > /sys/kernel/tracing/trace_marker'
add users_target:cpudump
dmesg > /tmp/before
taskset 2 sh -c "echo 0 call > $D/users"
taskset 2 sh -c "echo 0 call > $D/users"
dmesg | tail -n +$(($(grep -c '' /tmp/before) + 1)) > /tmp/dump
same 'our CPU' fourth "$(echo $(grep tracing_mark_write /tmp/dump | sed 's/.*: //'))"
same 'each time' 2 "$(grep -c 'Dumping ftrace' /tmp/dump)"
gone users_target:cpudump
echo 1 > tracing_on

# -- events; what one write counts, its functions have together
rooms() {
	echo 1 half > /sys/kernel/debug/lab/step
	echo 0 call > $D/users
	echo 2 half > /sys/kernel/debug/lab/step
}
echo > trace
add users_target:enable_event:lab:lab_enter:1
holds 'off' $switch/enable '0*'
rooms
holds 'on' $switch/enable '1*'
same 'from the call on' 'room=2' "$(grep lab_enter trace | sed 's/.*room/room/; s/ .*//')"
echo 0 > $switch/enable
rooms
holds 'used up' $switch/enable '0*'
gone users_target:enable_event:lab:lab_enter:0
echo 1 > $switch/enable
add 'users_*:disable_event:lab:lab_enter:1'
rooms
holds 'off' $switch/enable '0*'
same 'one count' 'count=0' "$(grep disable_event $F | sed 's/.*://' | sort -u)"
gone '*:disable_event:lab:lab_enter:0'
holds 'it stays off' $switch/enable 0

# -- each array has its own
mkdir instances/i
echo users_target:traceoff > instances/i/$F
echo users_target:enable_event:lab:lab_enter > instances/i/$F
holds "an instance's" instances/i/$F "$none
users_target:enable_event:lab:lab_enter:unlimited
users_target:traceoff:unlimited"
holds "not the top's" $F "$none"
target 1
holds 'its switch' instances/i/tracing_on 0
holds 'its event' instances/i/$switch/enable '1*'
holds "not the top's" tracing_on 1
holds "not the top's" $switch/enable 0
runs 'it goes with its commands' rmdir instances/i
holds 'and its users' enabled_functions ''
target 1

# -- a file of lines is one change: as many stops of the machine as the command has kinds, not one for each function
# The second CPU's stopper runs once for each stop.
stops() {
	grep -c 'next_comm=migration/1' trace
}
echo 'vfs_*:stacktrace' > $F
echo 'sys_*:stacktrace:5' >> $F
functions=$(grep -c stacktrace $F)
sed -n 's/^\([^#].*:stacktrace\):.*limited/!\1/p; s/^\([^#].*:stacktrace\):count=[0-9]*/!\1:0/p' $F > /tmp/lines
same 'a line for each' "$functions" "$(grep -c . /tmp/lines)"
echo 1 > events/sched/sched_switch/enable
echo > trace
cat /tmp/lines > $F
before=$(stops)
holds 'all are taken away' $F "$none"
test $functions -gt 100 -a $before -gt 0 -a $before -le 4 || fail "$before stops for $functions functions"
sed 's/^!//' /tmp/lines > /tmp/again
echo > trace
cat /tmp/again > $F
after=$(stops)
test $after -gt 0 -a $after -le 4 || fail "$after stops to add $functions functions"
echo '!*:stacktrace' > $F
echo '!*:stacktrace:0' > $F
holds 'all are taken away again' $F "$none"
tracing_reset
finish
