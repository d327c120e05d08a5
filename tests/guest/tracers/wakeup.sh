#!/bin/sh
# description: the wakeup tracers follow the most important wake-up, and say how long it waited and for whom
# requires: smp=1 icount timeout=240 progs="waketest"
# requires: rooms="procfs instances"
. /run/prelude
tracing_reset

# header TEXT: what follows it in the header
header() {
	sed -n "s/^# *$1 *//p" trace
}

# near WHAT WANTED GOT SLACK
near() {
	test "$3" -ge $(($2 - $4)) -a "$3" -le $(($2 + $4)) || fail "$1: wanted $2, got $3"
}

# record NUMBER: its line ($: the last), stacks' frames left out
record() {
	sed -n "${1}p" /tmp/records
}

# us LINE: when, since the trace's first record
us() {
	echo "$1" | sed 's/us.*//; s/.* //'
}

# whole PID: the trace is one wake-up of that task from its head to its end, as long as the header says
whole() {
	sed -n '/^[^#]/{/^ =>/d;p}' trace > /tmp/records
	count=$(wc -l < /tmp/records)
	same "$what: as many records as the header says" $count "$(header latency: | cut -d '#' -f 2 | cut -d / -f 1)"
	same "$what: the header has the maximum" "$LATENCY us" "$(header latency: | cut -d , -f 1)"
	record 1 | grep -q " + \[000\]  *$1:" || fail "$what: begins with '$(record 1)'"
	record 2 | grep -q ': <stack trace>$' || fail "$what: then '$(record 2)'"
	record 3 | grep -q ': try_to_wake_up <-' || fail "$what: then '$(record 3)'"
	record $((count - 2)) | grep -q ': __schedule <-' || fail "$what: at the end '$(record $((count - 2)))'"
	record $((count - 1)) | grep -q " ==> \[000\]  *$1:" || fail "$what: then '$(record $((count - 1)))'"
	record $count | grep -q ': <stack trace>$' || fail "$what: then '$(record $count)'"
	grep -q '^ => try_to_wake_up$' trace || fail "$what: no try_to_wake_up in the first stack"
	grep -q '^ => __schedule$' trace || fail "$what: no __schedule in the last stack"
	sed 's/us.*//; s/.* //' /tmp/records > /tmp/times
	same "$what: times rise" "$(cat /tmp/times)" "$(sort -n /tmp/times)"
	# Time 0 is sched_waking; up to +, a task followed until then has function entries recorded.
	near "$what: the stamps of + and ==>" $LATENCY $(($(us "$(record $((count - 1)))") - $(us "$(record 1)"))) \
		$((1 + $(cat options/function-trace)))
	test $((count > 6)) = $(cat options/function-trace) || fail "$what: $count records"
}

# plan TRACER CASE: the tracer's maximum is the wake-up that was planned to be
plan() {
	what="$1, $2, function-trace $(cat options/function-trace)"
	echo $1 > current_tracer
	waketest $2 > /tmp/plan || fail "$what: $(cat /tmp/plan)"
	echo 0 > tracing_on
	read pid policy prio low high < /tmp/plan
	read LATENCY < tracing_max_latency
	test $LATENCY -ge $low -a $LATENCY -le $high || fail "$what: wanted $low to $high us, got $LATENCY"
	same "$what: task" "waketest-$pid (uid:0 nice:0 policy:$policy rt_prio:$prio)" "$(header '| task:')"
	whole $pid
	echo nop > current_tracer
	echo 1 > tracing_on
}

# -- who is followed
for function_trace in 0 1; do
	echo $function_trace > options/function-trace
	for case in higher equal demoted killed deadline; do
		plan wakeup_rt $case
	done
	plan wakeup higher
	plan wakeup deadline
	plan wakeup_dl deadline
done

# -- a wake-up's latency is what the sched_switch tracer, in an instance, sees of it
# stamps PID FILE: how long each of its real-time wake-ups took, in ns, from raw records
stamps() {
	while read who cpu stamp prev prio kind to next priority state; do
		test "$next $priority" = "$1 94" || continue
		test "$kind" = + && woken=$stamp || echo $((stamp - woken))
	done < $2
}

for function_trace in 0 1; do
	echo $function_trace > options/function-trace
	echo wakeup_rt > current_tracer
	waketest steps > /tmp/plan
	echo 0 > tracing_on
	read pid policy prio low high < /tmp/plan
	read LATENCY < tracing_max_latency
	what="steps, function-trace $function_trace"
	same "$what: task" "waketest-$pid (uid:0 nice:0 policy:1 rt_prio:5)" "$(header '| task:')"
	whole $pid
	echo raw > trace_options
	grep -v '^#' trace > /tmp/raw
	echo noraw > trace_options
	near "$what: + and ==>" $LATENCY $((($(stamps $pid /tmp/raw) + 500) / 1000)) 1
	echo nop > current_tracer
	echo 1 > tracing_on
done
echo 0 > options/function-trace
mkdir instances/seen
echo sched_switch > instances/seen/current_tracer
echo wakeup_rt > current_tracer
waketest steps > /tmp/plan
echo 0 > tracing_on
read pid policy prio low high < /tmp/plan
read LATENCY < tracing_max_latency
echo raw > instances/seen/trace_options
grep -v '^#' instances/seen/trace > /tmp/raw
echo nop > current_tracer
rmdir instances/seen
echo 1 > tracing_on
stamps $pid /tmp/raw > /tmp/all
same 'wake-ups that the sched_switch tracer has' 20 $(wc -l < /tmp/all)
near 'wakeup_rt and sched_switch of the same wake-up' $LATENCY $((($(sort -n /tmp/all | tail -n 1) + 500) / 1000)) 1

# -- which tasks
echo wakeup_rt > current_tracer
for i in 1 2 3; do sleep 0.01; done
holds 'wakeup_rt sees no fair task' tracing_max_latency 0
same 'and its trace is empty' '# tracer: wakeup_rt' "$(head -n 1 trace)"
same 'but for its name' 2 $(wc -l < trace)
echo wakeup_dl > current_tracer
waketest steps > /dev/null
holds 'wakeup_dl sees no real-time task' tracing_max_latency 0
chrt -d -T 1000000 -P 10000000 0 sleep 0.01 || fail 'chrt -d'
test "$(cat tracing_max_latency)" -gt 0 || fail 'wakeup_dl does not see a deadline task'
header '| task:' | grep -q 'sleep-.*policy:6 rt_prio:0)' || fail "wakeup_dl: $(header '| task:')"
echo 0 > tracing_max_latency
waketest throttled > /tmp/plan || fail "$(cat /tmp/plan)"
read pid policy prio low high < /tmp/plan
test "$(cat tracing_max_latency)" -le $high || fail "a throttled task's wait is taken for latency: $(cat tracing_max_latency)"
echo wakeup > current_tracer
for i in 1 2 3; do sleep 0.01; done
holds 'wakeup sees no fair task that is as important as its waker' tracing_max_latency 0
nice -n -5 sleep 0.01
test "$(cat tracing_max_latency)" -gt 0 || fail 'wakeup does not see a fair task'
header '| task:' | grep -q 'sleep-.*nice:-5 policy:0 rt_prio:0)' || fail "wakeup: $(header '| task:')"
echo 0 > tracing_max_latency
waketest higher > /tmp/plan
read pid policy prio low high < /tmp/plan
header '| task:' | grep -q "waketest-$pid .*policy:1 rt_prio:20)" || fail "wakeup, real-time: $(header '| task:')"

# -- options and files
echo nop > current_tracer
echo 1 > options/function-trace
echo nolatency-format > trace_options
echo nooverwrite > trace_options
echo wakeup_rt > current_tracer
holds 'while selected' options/latency-format 1
holds 'while selected' options/overwrite 1
echo 0 > options/overwrite 2> /dev/null && fail 'overwrite can be switched off'
echo nooverwrite > trace_options 2> /dev/null && fail 'nooverwrite is taken'
holds 'still' options/overwrite 1
echo nop > current_tracer
holds 'put back' options/latency-format 0
holds 'put back' options/overwrite 0
echo overwrite > trace_options

# entries: how many function entries a wake-up leaves
entries() {
	echo 0 > tracing_max_latency
	waketest killed > /tmp/plan
	read pid policy prio low high < /tmp/plan
	read LATENCY < tracing_max_latency
	test $LATENCY -ge $low -a $LATENCY -le $high || echo "$LATENCY us"
	grep ' <-' trace | grep -c -v 'try_to_wake_up <-\|: __schedule <-'
}
echo wakeup_rt > current_tracer
test "$(entries)" -gt 20 || fail "function entries: $(entries)"
echo 0 > options/function-trace
same 'function-trace 0' 0 "$(entries)"
echo 1 > options/function-trace
test "$(entries)" -gt 20 || fail "function entries again: $(entries)"
echo 0 > /proc/sys/kernel/ftrace_enabled
same 'ftrace_enabled 0' 0 "$(entries)"
echo 1 > /proc/sys/kernel/ftrace_enabled
echo 1 > set_ftrace_pid
same 'set_ftrace_pid' 0 "$(entries)"
echo > set_ftrace_pid
test "$(entries)" -gt 20 || fail "function entries after set_ftrace_pid: $(entries)"
echo nop > current_tracer
echo wakeup_rt > current_tracer
echo 500 > tracing_thresh
waketest killed > /dev/null
same 'below tracing_thresh' 2 $(wc -l < trace)
echo 200 > tracing_thresh
for case in killed demoted; do
	waketest $case > /tmp/plan
	read pid policy prio low high < /tmp/plan
	header '| task:' | grep -q "waketest-$pid .*rt_prio:$prio)" || fail "above tracing_thresh: $(header '| task:')"
done
echo 0 > tracing_thresh
echo 0 > tracing_on
echo 0 > tracing_max_latency
waketest killed > /dev/null
holds 'tracing_on 0' tracing_max_latency 0
echo 1 > tracing_on
test "$(entries)" -gt 20 || fail 'nothing after tracing_on'
echo counter > trace_clock 2> /dev/null && fail 'a clock without nanoseconds is taken while selected'
echo nop > current_tracer
echo counter > trace_clock
echo wakeup_rt > current_tracer 2> /dev/null && fail 'selected with a clock without nanoseconds'
echo local > trace_clock

# -- a task that was followed can go: nobody keeps it
crowd() {
	i=0
	while [ $i -lt $1 ]; do
		chrt -f 5 sleep 0.0001 # woken by its timer
		i=$((i + 1))
	done
}
echo wakeup_rt > current_tracer
crowd 2
before=$(objects)
crowd 60
echo nop > current_tracer
few_more '60 tasks' 30 $before
finish
