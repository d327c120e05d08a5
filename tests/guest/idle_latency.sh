#!/bin/sh
# description: a CPU that waits for interrupts has no latency
# requires: icount timeout=120
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
echo nop > current_tracer
finish
