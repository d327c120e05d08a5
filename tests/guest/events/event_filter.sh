#!/bin/sh
# description: filters of events: which records they let through, what their files show, and what error_log says of wrong ones
# requires: smp=2 icount append="loglevel=5" progs="errno" timeout=120
# requires: rooms="procfs samples"
. /run/prelude
tracing_reset
sched=events/sched
filter=$sched/sched_switch/filter
global='### global filter ###
# Use this to set filters for multiple events.
# Only events with the given fields will be affected.
# If no events are modified, an error message will be displayed here'

# record: some switches and wake-ups, in `trace`
record() {
	echo > trace
	echo 1 > $sched/sched_switch/enable
	echo 1 > $sched/sched_wakeup/enable
	sleep 0.005
	taskset 2 sleep 0.005
	/bin/true
	echo 0 > events/enable
}

# switches FILTER PATTERN: of all switches those that match the pattern pass the filter, which is not none and not all
switches() {
	echo "$1" > $filter || fail "refused: $1"
	holds 'as written' $filter "$1"
	record
	grep ' sched_switch: ' trace > /tmp/passed || fail "nothing passes: $1"
	grep -vE "$2" /tmp/passed && fail "passes: $1"
	echo "!($1)" > $filter || fail "refused: !($1)"
	record
	grep ' sched_switch: ' trace > /tmp/others || fail "all passes: $1"
	grep -E "$2" /tmp/others && fail "does not pass: $1"
	grep -q ' sched_wakeup: ' trace || fail 'the filter of one event is that of another'
}

# -- what there is at first
holds 'at first' $filter none
holds 'at first' $sched/filter "$global"
holds 'at first' error_log ''

# -- operators and types
switches 'next_comm == "sleep"' 'next_comm=sleep '
switches 'next_comm ~ "s*p"' 'next_comm=sleep '
switches "prev_comm ~ '[s]l?ep*' && prev_pid != 0" 'prev_comm=sleep '
switches 'prev_comm != "swapper/0"&&prev_comm != "swapper/1"' 'prev_pid=[1-9]'
switches 'prev_pid == 0' 'prev_pid=0 '
switches 'prev_pid != 0x0' 'prev_pid=[1-9]'
switches 'next_pid > 0' 'next_pid=[1-9]'
switches 'next_pid < 1' 'next_pid=0 '
switches 'next_pid<=0' 'next_pid=0 '
switches 'next_pid >= 1' 'next_pid=[1-9]'
switches 'prev_state & 1' 'prev_state=S'
switches 'prev_pid > -1 && prev_pid < 0x1' 'prev_pid=0 '
switches 'common_pid == 0' '<idle>-0 '
switches 'CPU == 1' '\[001\]'
switches 'cpu&1' '\[001\]'
switches 'comm == "sleep"' 'prev_comm=sleep '
switches 'COMM ~ "sl*"' 'prev_comm=sleep '
# -- precedence
switches 'prev_pid == 0 || next_comm == "sleep" && next_pid == 0' 'prev_pid=0 '
switches '!(prev_pid != 0) || next_comm == "sleep" && next_pid == 0' 'prev_pid=0 '
switches '(next_comm == "sleep" || prev_comm == "sleep") && !next_pid == 0' 'next_comm=sleep '

# -- none
echo 'prev_pid == -7' > $filter
record
grep ' sched_switch: ' trace && fail 'a filter that nothing passes'
same 'what is taken back is not counted' 0 "$(($(sum entries) - $(grep -c : trace) + $(grep -c '^#.*:' trace)))"
echo 0 > $filter
holds 'no filter' $filter none
record
grep -q ' sched_switch: .*prev_pid=0 ' trace && grep -q ' sched_switch: .*next_pid=0 ' trace || fail 'without filter'

# -- of a system: those that have the fields
echo 'prev_pid == 0' > $filter
echo 'target_cpu == 1' > $sched/filter
holds 'after success' $sched/filter "$global"
holds 'it has the field' $sched/sched_wakeup/filter 'target_cpu == 1'
holds 'it has not' $filter 'prev_pid == 0'
record
grep -q ' sched_wakeup: ' trace || fail 'no wake-up on CPU 1'
grep ' sched_wakeup: ' trace | grep -v target_cpu=001 && fail 'a wake-up on CPU 0'
echo 'common_pid >= 0' > $sched/filter
for event in sched_switch sched_waking sched_process_free; do
	holds 'all have it' $sched/$event/filter 'common_pid >= 0'
done
errno $sched/filter 'nosuch == 1'
holds 'nobody has it' $sched/filter "nosuch == 1
^
parse_error: Couldn't find or set field in one of a subsystem's events"
holds 'unchanged' $filter 'common_pid >= 0'
echo 0 > $sched/filter
holds 'cleared' $filter none
holds 'cleared' $sched/sched_waking/filter none
holds 'cleared' $sched/filter "$global"

# -- errors: what is written returns, and where the caret stands
echo > error_log
holds 'cleared' error_log ''
# wrong TEXT ERROR COLUMN
wrong() {
	errno $filter "$1"
	same "$1" "$2" "$(sed -n 's/^\[[ 0-9.]*\] event filter parse error: error: //p' error_log | tail -n 1)"
	same "$1" "  Command: $1" "$(tail -n 2 error_log | head -n 1)"
	same "$1" "$(printf "%$((12 + $3))s" '^')" "$(tail -n 1 error_log)"
}
wrong 'nosuchfield == 1' 'Field not found' 12
holds 'after an error' $filter 'nosuchfield == 1
            ^
parse_error: Field not found'
record
grep -q ' sched_switch: ' trace || fail 'an event with a wrong filter is not filtered'
wrong 'prev_pid ==' 'Invalid value (did you forget quotes)?' 12
wrong 'prev_pid & & 1' 'Invalid value (did you forget quotes)?' 12
wrong '((prev_pid == 1)' "Too many '('" 0
wrong 'prev_pid == 1)' "Too few '('" 13
wrong 'prev_comm > 1' 'Expecting string field' 13
wrong 'prev_pid ~ "x"' 'Expecting numeric field' 12
wrong 'prev_comm < "x"' 'Illegal operation for field type' 13
wrong 'prev_comm == "x' 'Missing matching quote' 13
wrong 'prev_pid ! 1' 'Invalid operator' 10
wrong 'prev_pid == 1 1' 'Too many terms in predicate expression' 14
wrong 'prev_pid == 12z' 'Illegal integer value' 13
wrong 'prev_pid == 1 &&' 'No filter found' 16
wrong '== 1' 'Error' 0
errno $filter ''
same 'the last eight' 8 "$(grep -c Command: error_log)"
echo 'prev_pid == 1' > $filter
same 'a good one is not logged' 8 "$(grep -c Command: error_log)"
errno $filter "$(printf '%4096s' 'prev_pid == 2')" | sed 's/   *//'
holds 'too long' $filter 'prev_pid == 1'
echo > error_log
holds 'cleared' error_log ''

# -- sets of CPUs
wrong 'prev_pid & CPUS' "Missing '{'" 16
wrong 'prev_pid & CPUS{0-1' "Missing '}'" 20
wrong 'prev_pid & CPUS{3-1}' 'Invalid cpulist' 20
echo > error_log
echo 0 > $filter
echo > trace
echo 'CPU & CPUS{1,3}' > $filter
echo 'target_cpu & CPUS{0}' > $sched/sched_waking/filter
echo 'target_cpus & CPUS{1}' > events/ipi/ipi_raise/filter
echo sched_switch sched_waking ipi_raise > set_event
taskset 1 sleep 0.001
taskset 2 sleep 0.001
cat /sys/kernel/debug/latency/hook_check > /dev/null
echo > set_event
for event in sched_switch sched_waking ipi_raise; do
	grep -q " $event: " trace || fail "CPUS let no $event pass"
done
grep ' sched_switch: ' trace | grep -F '[000]' && fail 'a switch on CPU 0'
grep ' sched_waking: ' trace | grep 'target_cpu=001' && fail 'a wake-up for CPU 1'
grep ' ipi_raise: ' trace | grep -v 'target_mask=00000000,0000000[2367] ' && fail 'not for CPU 1'
echo 0 > $filter
echo 0 > $sched/sched_waking/filter
echo 0 > events/ipi/ipi_raise/filter

# -- what is refused was in no page: a record of numbers, one with a text of any length, and by pid
echo > trace
echo 'next_pid == 99999' > $filter
echo 'filename == "none"' > $sched/sched_process_exec/filter
echo 32000 > set_event_pid
for event in sched_switch sched_process_exec sched_process_exit; do
	echo 1 > $sched/$event/enable
done
/bin/true
echo > set_event_pid
/bin/true
sleep 0.001
echo 0 > $sched/sched_process_exit/enable
echo 0 > events/enable
same 'nothing but two ends is there' 2 "$(grep -c 'sched_process_exit:' trace)"
same 'and nothing else counted' '2 0 0' "$(sum entries) $(sum overrun) $(sum 'dropped events')"
echo 0 > $filter
echo 0 > $sched/sched_process_exec/filter

# -- a text is freed when another one takes its place
settled
before=$(objects)
for i in $(seq 200); do
	echo "prev_pid == $i" > $filter
done
few_more '200 filters' 100 $before
echo 0 > $filter

# -- changed while events come
echo 1 > $sched/enable
for i in 1 2 3 4 5 6 7 8; do
	for text in 'prev_pid > 1 || next_pid > 1' 'next_comm ~ "s*"' 0 'nosuch == 1'; do
		echo "$text" 2> /dev/null > $filter
		echo 'common_pid != 3' > $sched/filter
	done
done
echo 0 > events/enable
echo 0 > $sched/filter
tracing_reset
finish
