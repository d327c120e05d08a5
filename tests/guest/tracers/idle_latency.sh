#!/bin/sh
# description: a CPU that waits for interrupts has no latency; from the one that ends the waiting to the switch it has; a terminal has little
# requires: icount timeout=120
# requires: rooms="procfs"
. /run/prelude
tracing_reset
for tracer in irqsoff preemptoff preemptirqsoff; do
	echo $tracer > current_tracer
	echo 0 > tracing_max_latency
	sleep 0.3
	latency=$(cat tracing_max_latency)
	test $latency -lt 1000 || fail "$tracer: $latency us while the CPU was idle: $(grep 'at:' trace)"
	test $latency -gt 0 || fail "$tracer: nothing was measured"
done

# A task that wakes each millisecond: the longest section of a while is often from the idle task's interrupt to it, and as
# often another one.
latency -q -i 1000 > /dev/null &
sleeper=$!
# A small shell looks, as each program that a shell starts begins with unmapping the shell's memory: a section as long.
cat > /tmp/look <<'END'
for round in $(seq 20); do
	echo 0 > tracing_max_latency
	sleep 0.02
	echo 0 > tracing_on
	sed '/^#/d;/^ =>/d' trace > /tmp/records
	echo 1 > tracing_on
	head -n 1 /tmp/records | grep -q '<idle>-0' && grep -q '<idle>-0 .* hrtimer_interrupt <-' /tmp/records &&
		grep -q 'latency-.* tracer_preempt_on <-schedule$' /tmp/records && break
done
END
for tracer in preemptoff preemptirqsoff; do
	echo $tracer > current_tracer
	sh /tmp/look
	head -n 1 /tmp/records | grep -q '<idle>-0' || fail "$tracer: no section began in the idle task"
	grep -q '<idle>-0 .* hrtimer_interrupt <-' /tmp/records || fail "$tracer: the interrupt is not in it"
	grep -q 'latency-.* tracer_preempt_on <-schedule$' /tmp/records || fail "$tracer: it does not end in the task woken"
done
kill $sleeper

# What the terminal costs whoever writes to it: a line of any length keeps interrupts off for a few bytes at a time.
line=$(seq -s ' ' 100)
echo irqsoff > current_tracer
echo "$line"
echo 0 > tracing_max_latency
for i in 1 2 3; do
	echo "$line"
done
read latency < tracing_max_latency
test $latency -gt 0 -a $latency -lt 45 || fail "writing to the terminal: interrupts off for $latency us"
echo nop > current_tracer
finish
