#!/bin/sh
# description: how much a write of words takes, what is in force after a wrong one, and the reason that is said of a long one
# requires: smp=1 mem=128M append="loglevel=4" progs="errno" timeout=60
# requires: rooms="dynevents refusals"
. /run/prelude
tracing_reset

# takes FILE TEXT RESULT: what one write(2) of TEXT, which has the escapes of echo -e, returns, and its errno
takes() {
	same "$1, '$(echo "$2" | cut -c 1-40)'" "$3" "$(errno "$1" "$2" | tr '\n' ' ' | sed 's/.*) = //; s/ (.*//')"
}

# reason TEXT: error_log's last line that names an error has it
reason() {
	case $(grep 'error: ' error_log | tail -n 1) in
	*": error: $1"*) ;;
	*) fail "the reason is not '$1': $(grep 'error: ' error_log | tail -n 1)" ;;
	esac
}

# -- a filter: a word for each write, which a zero or a newline ends, and one that is not ended is kept until the close
takes set_ftrace_filter 'vfs_read vfs_write' '9 errno=0'
holds 'the first word' set_ftrace_filter vfs_read
takes set_ftrace_filter 'vfs_write' '9 errno=0'
holds 'an open word' set_ftrace_filter vfs_write
takes set_ftrace_filter 'nosuch' '6 errno=0'
takes set_ftrace_filter 'nosuch\n' '-1 errno=22'
{
	printf 'vfs_re'
	printf 'ad'
	printf '\n   '
	printf 'vfs_mk'
	printf 'dir\0'
} > set_ftrace_filter
same 'in pieces' 'vfs_mkdir vfs_read' "$(sort set_ftrace_filter | xargs)"
{
	printf %0200d 0
	printf %0100d 0 2> /dev/null && fail 'a word of 300 letters'
	printf vfs_rmdir
} > set_ftrace_filter
holds 'a word after one that is too long' set_ftrace_filter vfs_rmdir
reason 'a word is longer than what the file takes'
echo > set_ftrace_filter

# -- set_event: all words before the wrong one, whose error the next write has
takes set_event 'sched_waking\tnosuch\n' '13 errno=0'
holds 'the words before' set_event sched:sched_waking
takes set_event 'nosuch sched_waking\n' '-1 errno=22'
holds 'the wrong word first' set_event ''
printf 'sched_waking\0sched_wakeup' > set_event
same 'a zero between words' 'sched:sched_wakeup sched:sched_waking' "$(sort set_event | xargs)"
words=$(for n in $(seq 300); do echo '!sched_waking' sched_waking; done)
echo $words sched_switch > set_event || fail 'a write of 8 KiB'
same 'words on both sides of 4 KiB' 'sched:sched_switch sched:sched_waking' "$(sort set_event | xargs)"
takes set_event "$(printf %0127d 0)" '-1 errno=22'
reason "no event '0000"
takes set_event "$(printf %0128d 0)" '-1 errno=22'
reason 'a word is longer than what the file takes'
echo > set_event

# -- lists of tasks: all or nothing, of any length
takes set_event_pid '1 2 x' '-1 errno=22'
reason "'x' is not the number of a task"
holds 'a wrong one' set_event_pid ''
takes set_event_pid '1 2\r\n3' '6 errno=0'
same 'three' '1 2 3' "$(xargs < set_event_pid)"
for file in set_ftrace_pid set_ftrace_notrace_pid set_event_pid set_event_notrace_pid; do
	for word in -1 -0 99999999999999999999 0x8000; do
		takes $file $word '-1 errno=22'
		echo 7 > $file
		echo $word 2> /dev/null >> $file && fail "$file takes $word"
		holds "after $word" $file 7
	done
	echo > $file
done
echo $(seq 1000 1200) > set_event_pid
same 'across the pieces that the kernel reads' "$(seq 1000 1200)" "$(cat set_event_pid)"
echo > set_event_pid

# -- numbers and masks, whose reason is the errno's
for n in ' 1' '1 ' '1\r\n' '1\n\n' '' x; do
	takes tracing_on "$n" '-1 errno=22'
done
takes tracing_on '1\n' '2 errno=0'
takes tracing_cpumask '1\nxyz' '5 errno=0'
takes tracing_cpumask 2 '-1 errno=75'
takes tracing_cpumask '' '-1 errno=22'
takes tracing_cpumask '\n' '1 errno=0'
holds 'no CPU' tracing_cpumask 0
echo 1 > tracing_cpumask

# -- lines
takes kprobe_events "p:long vfs_read $(printf %04096d 0)\n" '-1 errno=22'
reason 'Line length is too long: Should be less than 4094'
printf 'p:one vfs_read\np:two vfs_read\0' > kprobe_events 2> /dev/null && fail 'a zero in a line'
reason 'Line length is too long: there is a zero byte in it'
holds 'the lines before it' kprobe_events 'p:kprobes/one vfs_read'
echo > kprobe_events
finish
