#!/bin/sh
# description: the wakeup tracers follow a task to another CPU, and leave alone CPUs that are not traced
# requires: smp=4;2 icount turn=0 timeout=240 progs="waketest"
. /run/prelude
tracing_reset

# header TEXT: what follows it in the header
header() {
	sed -n "s/^# *$1 *//p" /tmp/trace
}

# whole: /tmp/trace is empty, or one wake-up from its head to its end
whole() {
	sed -n '/^[^#]/{/^ =>/d;p}' /tmp/trace > /tmp/records
	test -s /tmp/records || return
	pid=$(header '| task:' | sed 's/ (.*//; s/.*-//')
	head -n 1 /tmp/records | grep -q " + \[00[0-3]\]  *$pid:" || fail "$what: of $pid, but begins with '$(head -n 1 /tmp/records)'"
	tail -n 2 /tmp/records | head -n 1 | grep -q " ==> \[00[0-3]\]  *$pid:" || fail "$what: of $pid, but ends with '$(tail -n 2 /tmp/records)'"
	tail -n 1 /tmp/records | grep -q ': <stack trace>$' || fail "$what: ends with '$(tail -n 1 /tmp/records)'"
	same "$what: one wake-up and one end" '1 1' "$(grep -c ' + \[' /tmp/records) $(grep -c ' ==> \[' /tmp/records)"
	header latency: | grep -q "#$(wc -l < /tmp/records)/" || fail "$what: $(wc -l < /tmp/records) records, $(header latency:)"
	sed 's/us.*//; s/.* //' /tmp/records > /tmp/times
	same "$what: times rise" "$(cat /tmp/times)" "$(sort -n /tmp/times)"
}

# -- it goes where the task goes
for function_trace in 0 1; do
	what="moved, function-trace $function_trace"
	echo $function_trace > options/function-trace
	echo wakeup_rt > current_tracer
	waketest moved > /tmp/plan || fail "$what: $(cat /tmp/plan)"
	echo 0 > tracing_on
	read pid policy prio low high < /tmp/plan
	read LATENCY < tracing_max_latency
	test $LATENCY -ge $low -a $LATENCY -le $high || fail "$what: wanted $low to $high us, got $LATENCY"
	cat trace > /tmp/trace
	header '| task:' | grep -q "waketest-$pid .*policy:1 rt_prio:10)" || fail "$what: $(header '| task:')"
	header latency: | grep -q 'CPU#1 ' || fail "$what: $(header latency:)"
	echo nop > current_tracer
	echo 1 > tracing_on
done
whole
grep -q ' 0[d.][^ ]* .* <-' /tmp/records || fail 'no function on CPU 0, where it waited first'
grep -q ' 1[d.][^ ]* .* <-' /tmp/records || fail 'no function on CPU 1, where it ran'

# -- CPUs that are not traced
all_cpus=$(cat tracing_cpumask)
echo wakeup_rt > current_tracer
echo 2 > tracing_cpumask
echo 0 > tracing_max_latency
waketest killed > /dev/null
cat trace > /tmp/trace
grep -q '\[000\]' /tmp/trace && fail 'a wake-up on a CPU that is not in tracing_cpumask'
# Both CPUs must be traced, where the waker runs and where the task waits: with 3 the first one of the plan is told, with 2
# the second one, which the first does not keep from being followed, and with 1 neither.
for mask in 3 2 1; do
	echo $mask > tracing_cpumask
	waketest across > /tmp/plan || fail "across, mask $mask: $(cat /tmp/plan)"
	sed -n "$((4 - mask))p" /tmp/plan > /tmp/line
	test $mask = 1 && echo none 0 0 0 1000 > /tmp/line # others wake each other on the CPU that is traced
	read pid policy prio low high < /tmp/line
	read LATENCY < tracing_max_latency
	test $LATENCY -ge $low -a $LATENCY -le $high || fail "across, mask $mask: wanted $low to $high us, got $LATENCY"
	cat trace > /tmp/trace
	test $mask = 1 || header '| task:' | grep -q "waketest-$pid " || fail "across, mask $mask: wanted $pid, got $(header '| task:')"
done
# A wake-up that waits where nothing is traced does not take the place of one that is followed, important as it is.
echo 1 > tracing_cpumask
waketest beside > /tmp/plan || fail "beside: $(cat /tmp/plan)"
read pid policy prio low high < /tmp/plan
read LATENCY < tracing_max_latency
test $LATENCY -ge $low -a $LATENCY -le $high || fail "beside: wanted $low to $high us, got $LATENCY"
cat trace > /tmp/trace
header '| task:' | grep -q "waketest-$pid " || fail "beside: wanted $pid, got $(header '| task:')"
echo $all_cpus > tracing_cpumask
echo nop > current_tracer
echo 1 > options/function-trace
finish
