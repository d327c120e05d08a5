#!/bin/sh
# description: no section and no wake-up of this kernel is longer than 200 us under all kinds of work
# requires: smp=1 icount timeout=300
# requires: rooms="procfs"
. /run/prelude
tracing_reset
echo 0 > options/function-trace
for tracer in preemptirqsoff wakeup_rt; do
	echo $tracer > current_tracer
	latency -q -p 99 > /dev/null &
	sleeper=$!
	for mix in '--fork 4' '--vm 2' '--fs 4' '--cpu 1 --yield 1 --sleep 4 --pipe 2 --fork 2 --vm 1 --fs 2'; do
		stress $mix --timeout 0.1 || fail "stress $mix"
	done
	longest=$(cat tracing_max_latency)
	test $longest -gt 0 -a $longest -le 200 || fail "$tracer: $longest us: $(cat trace)"
	kill $sleeper
	wait $sleeper
done

# Many processes at once: forked, signalled, waited for.
echo irqsoff > current_tracer
i=0
while test $i -lt 300; do
	sleep 1000 &
	i=$((i + 1))
done
trap '' TERM
echo 0 > tracing_max_latency
kill -TERM -1
longest=$(cat tracing_max_latency)
test $longest -le 200 || fail "kill -1: $longest us: $(cat trace)"
wait
same 'all got it' 0 "$(ps | grep -c 'sleep 100[0]')"
tracing_reset
finish
