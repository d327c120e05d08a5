#!/bin/sh
# description: events: their files, on and off by every way there is, their records as Linux words them
# requires: smp=2 icount progs="replay" timeout=240
# requires: rooms="procfs triggers instances syscalls"
. /run/prelude
tracing_reset
sched=events/sched

# on EVENT...: exactly these are on, by set_event
on() {
	same 'set_event' "$(printf 'sched:%s\n' "$@" | sort)" "$(sort set_event)"
}

# -- files
same 'events of the scheduler' "$(ls $sched | grep sched_ | sort)" "$(sed -n 's/^sched://p' available_events | sort)"
same 'files of an event' 'enable filter format hist hist_debug id trigger' "$(echo $(ls $sched/sched_switch))"
same 'twice the same' "$(cat $sched/sched_waking/format)" "$(cat events/sched/sched_waking/format)"
same 'name' 'name: sched_wakeup_new' "$(head -n 1 $sched/sched_wakeup_new/format)"
grep -q 'field:char prev_comm\[16\];	offset:8;	size:16;	signed:0;' $sched/sched_switch/format || fail 'prev_comm in format'
same 'id' "ID: $(cat $sched/sched_wakeup/id)" "$(sed -n 2p $sched/sched_wakeup/format)"
cat $sched/*/id | sort | uniq -d | grep . && fail 'two events have one id'
test -e $sched/nosuch && fail 'there is an event that nobody defined'
for file in $sched/sched_switch/format $sched/sched_switch/id events/header_page; do
	echo 1 2> /dev/null > $file && fail "$file can be written"
done

# -- on and off
holds 'at first' events/enable 0
echo 1 > $sched/sched_switch/enable
holds 'one' $sched/sched_switch/enable 1
holds 'some' $sched/enable X
holds 'some' events/enable X
echo 1 > $sched/enable
holds 'all of a system' $sched/enable 1
holds 'one system of several' events/enable X
echo 0 > events/enable
holds 'none' $sched/enable 0
echo sched_switch sched:sched_wakeup > set_event
on sched_switch sched_wakeup
echo 'sched:*_new' >> set_event
on sched_switch sched_wakeup sched_wakeup_new
echo '!*:sched_wakeup*' >> set_event
on sched_switch
echo sched: > set_event
same 'a system' "$(grep '^sched:' available_events | sort)" "$(sort set_event)"
for bad in nosuch:event sched:nosuch nosuch: '!sched:nosuch' nosuch '!'; do
	echo $bad 2> /dev/null >> set_event && fail "set_event takes $bad"
done
same 'after errors' "$(grep '^sched:' available_events | sort)" "$(sort set_event)"
for bad in 2 x -1 '' '1 1'; do
	echo "$bad" 2> /dev/null > $sched/enable && fail "enable takes '$bad'"
done
holds 'after errors' $sched/enable 1
echo > set_event
same 'an empty write clears' '' "$(cat set_event)"
all=$(cat available_events)
echo $all > set_event
same 'more than a page' "$(sort available_events)" "$(sort set_event)"
echo > set_event

# -- what is kept of tasks is up to the options, also while events are on
for first in record-cmd record-tgid; do
	echo 0 > options/record-cmd
	echo 1 > $sched/sched_process_exit/enable
	echo 1 > options/$first
	echo > trace
	/bin/true
	echo 0 > $sched/sched_process_exit/enable
	case $first in
	record-cmd) grep -q '^ *true-[0-9]* ' trace || fail "$first comes while the event is on: $(tail -n 1 trace)" ;;
	record-tgid) grep -qE '^ *<\.\.\.>-([0-9]+) +\( *[0-9]+\) ' trace || fail "$first alone: $(tail -n 1 trace)" ;;
	esac
	echo 0 > options/record-tgid
	echo 1 > saved_cmdlines_size # nobody is known any more
	echo 128 > saved_cmdlines_size
done
echo 1 > options/record-cmd

# -- records
echo > trace
echo 1 > $sched/enable
sleep 0.01
/bin/true
echo 0 > $sched/enable
cat trace > /tmp/trace
# seen EVENT PATTERN: there is such a record, and no other form of it
seen() {
	grep " $1: " /tmp/trace > /tmp/seen || fail "no $1"
	grep -vE ": $1: $2\$" /tmp/seen && fail "$1 looks different"
}
task='comm=[^ ]+ pid=[0-9]+ prio=-?[0-9]+'
seen sched_switch 'prev_comm=[^ ]+ prev_pid=[0-9]+ prev_prio=-?[0-9]+ prev_state=(R\+?|[SDTtXZPI]) ==> next_comm=[^ ]+ next_pid=[0-9]+ next_prio=-?[0-9]+'
# who goes has heeded the wish to switch: the flag is gone by then
grep -E '\] .[^.][^ ]* .*: sched_switch: ' /tmp/seen && fail 'a switch with need-resched still set'
for event in sched_waking sched_wakeup sched_wakeup_new; do
	seen $event "$task target_cpu=00[01]"
done
seen sched_process_fork 'comm=sh pid=[0-9]+ child_comm=sh child_pid=[0-9]+'
seen sched_process_free "$task"
grep -q "sched_wakeup: comm=sleep pid=[0-9]* prio=120" /tmp/trace || fail 'nobody woke sleep'
lines=$(grep -c : trace)
sleep 0.01
same 'nothing comes when they are off' $lines "$(grep -c : trace)"

# -- of some tasks only: a switch to one of them counts, a wake-up of one too
taskset 1 sh -c 'while :; do sleep 0.001; done' &
other=$!
echo > trace
echo $$ > set_event_pid
holds 'pids' set_event_pid $$
numbers=$(seq 100 299)
echo $numbers > set_event_pid
same 'many pids' "$numbers" "$(cat set_event_pid)"
printf '0x10 %d' $$ > set_event_pid
same 'as numbers are written' "$(printf '%d\n' 16 $$ | sort -n)" "$(cat set_event_pid)"
echo $$ > set_event_pid
for bad in -1 x 99999 '12 y'; do
	echo "$bad" 2> /dev/null >> set_event_pid && fail "set_event_pid takes '$bad'"
done
holds 'after errors' set_event_pid $$
echo 1 > options/event-fork
echo 1 > $sched/enable
sh -c 'sleep 0.01; exit' # a child of ours: event-fork has it
echo 0 > $sched/enable
echo 0 > options/event-fork
grep -q "sched_switch: prev_comm=[^ ]* prev_pid=[0-9]* .* next_comm=sh next_pid=$$ " trace || fail 'no switch to us'
grep -q 'prev_comm=sleep .* ==> ' trace || fail 'nothing of our grandchild'
grep -E "sched_(stat_runtime|process_fork|process_exit): comm=[a-z]* pid=$other " trace && fail "there is what only task $other did"
echo > set_event_pid
same 'no pids' '' "$(cat set_event_pid)"
echo $other > set_event_notrace_pid
echo > trace
echo 1 > $sched/sched_switch/enable
sleep 0.02
echo 0 > $sched/sched_switch/enable
grep -q 'prev_comm=sleep' trace || fail 'nothing of others'
grep -E "prev_pid=$other .* next_pid=0 " trace && fail 'a switch from the task that is left out to the idle task, too'
kill $other
echo > set_event_notrace_pid

# -- the scheduler's story, to the microsecond: what tasks are charged is what they run
# Between the charge and the switch a CPU may stand still for some microseconds without calling a function, as the CPUs of
# icount run in turns. How often depends on the layout of the kernel, so the story is told again before it counts as wrong.
echo 0 > tracing_on
echo 4096 > buffer_size_kb
echo 1 > $sched/enable
for again in yes yes no; do
	echo > trace
	echo 1 > tracing_on
	stress --sleep 2 --fork 1 --count 50 > /dev/null
	echo 0 > tracing_on
	same 'all is there' 0 "$(sum overrun)"
	replay -t < trace > /tmp/story && break
	test $again = yes || fail "the story does not hold: $(cat /tmp/story)"
done
test "$(field switches /tmp/story)" -gt 200 || fail "few switches: $(cat /tmp/story)"
echo 0 > $sched/enable
echo 1 > tracing_on

# -- beside a tracer, and with stacks that begin where the tracepoint stands
echo > trace
echo schedule > set_ftrace_filter
echo function > current_tracer
echo 1 > options/stacktrace
echo 1 > $sched/sched_switch/enable
sleep 0.01
echo 0 > tracing_on
echo 0 > $sched/sched_switch/enable
grep -q ': schedule <-' trace || fail 'no function'
grep -A2 'prev_comm=sleep' trace | grep -q '^ => __schedule$' || fail 'the stack does not begin in __schedule'
echo 0 > options/stacktrace

# -- the names of tasks: a new name is noted when its task leaves the CPU, and again after others have pushed it out
# name: our own, as the table has it
name() {
	while read pid rest; do
		[ "$pid" != $$ ] || echo "$rest"
	done < saved_cmdlines
}
tracing_reset
size=$(cat saved_cmdlines_size)
was=$(cat /proc/$$/comm)
echo 3 > saved_cmdlines_size
echo 1 > $sched/sched_wakeup/enable
for new in first second second third; do
	echo $new > /proc/$$/comm
	sleep 0.001
	name > /tmp/name
	same 'our new name is in saved_cmdlines' $new "$(cat /tmp/name)"
	for i in 1 2 3 4; do
		sh -c 'sleep 0.001; exit'
	done
	name > /tmp/name
	same 'and still, or once more' $new "$(cat /tmp/name)"
done
echo 0 > $sched/sched_wakeup/enable
echo $was > /proc/$$/comm
echo $size > saved_cmdlines_size
tracing_reset

# -- however much one write switches, the machine stops as often for it as for one event, and as many grace periods pass.
# An instance records the two functions where all others would only be noise; those of the kernel's threads do not count.
mkdir instances/watch
watch=instances/watch
echo stop_machine synchronize_rcu > $watch/set_ftrace_filter
echo function > $watch/current_tracer
# costs COMMAND: "stops grace-periods"
costs() {
	echo > $watch/trace
	eval "$1"
	grep -v -e '^#' -e rcu_sched -e kworker/ $watch/trace > /tmp/costs
	echo $(grep -c ': stop_machine <-' /tmp/costs) $(grep -c ': synchronize_rcu <-' /tmp/costs)
}
# instance_costs SET-UP: what taking an instance away costs on which that was done
instance_costs() {
	mkdir instances/some
	eval "$1"
	costs 'rmdir instances/some'
}
# No event on: neither counts that of tasks' names.
same 'one event on' '1 0' "$(costs "echo 1 > $sched/sched_waking/enable")"
same 'one event off' '1 0' "$(costs "echo 0 > $sched/sched_waking/enable")"
# Three points have had a probe before: our names' and those that tests register.
same 'all on: stops' 1 "$(costs 'echo 1 > events/enable' | cut -d' ' -f1)"
same 'all off' '1 0' "$(costs 'echo 0 > events/enable')"
same 'a system on: stops' 1 "$(costs "echo 1 > $sched/enable" | cut -d' ' -f1)"
same 'a system off' '1 0' "$(costs "echo 0 > $sched/enable")"
same 'words on' '1 0' "$(costs 'echo sched_waking sched_switch irq: syscalls:*read* > set_event')"
same 'some off, some on' '1 0' "$(costs 'echo !sched_waking !irq: timer: >> set_event')"
same 'a wrong word at the end' '1 0' "$(costs 'echo signal: nosuch: 2> /dev/null >> set_event')"
same 'words before it count' 4 "$(grep -c -e ^signal: -e ^sched: -e ^syscalls:sys_enter_read$ set_event)"
same 'all that are on off' '1 0' "$(costs 'echo > set_event')"
same 'a trigger' '1 0' "$(costs "echo stacktrace > $sched/sched_waking/trigger")"
same 'a trigger with an event of its own' '1 0' "$(costs "echo enable_event:irq:irq_handler_entry > $sched/sched_switch/trigger")"
same 'that one away' '1 1' "$(costs "echo !enable_event:irq:irq_handler_entry > $sched/sched_switch/trigger")"
same 'a trigger away' '1 1' "$(costs "echo !stacktrace > $sched/sched_waking/trigger")"
same 'a tracer with three probes' '1 0' "$(costs 'echo sched_switch > current_tracer')"
same 'the tracer off' '1 0' "$(costs 'echo nop > current_tracer')"
one=$(instance_costs 'echo 1 > instances/some/events/sched/sched_waking/enable')
same 'instances: stops' 1 "${one% *}"
same 'an instance with all on' "$one" "$(instance_costs 'echo 1 > instances/some/events/enable')"
one=$(instance_costs 'echo traceoff > instances/some/events/sched/sched_waking/trigger')
same 'an instance with many triggers' "$one" "$(instance_costs 'for t in instances/some/events/sched/*/trigger; do
	echo traceon > $t; echo stacktrace > $t; done')"
echo nop > $watch/current_tracer
rmdir $watch
tracing_reset
finish
