#!/bin/sh
# description: with --icount no CPU is left without turns by one that never waits, and what waits for many locks comes to its end
# requires: smp=4 icount timeout=60 append="quiet loglevel=5" progs="tracefuzz"
# requires: rooms="dynevents procfs"
. /run/prelude
tracing_reset

# centiseconds: of the guest's clock
centiseconds() {
	sed 's/ .*//; s/\.//; s/^0*//' /proc/uptime
}

taskset 1 stress --cpu 1 > /dev/null 2>&1 &
busy=$!
sleep 0.05
for mask in 2 4; do
	begin=$(centiseconds)
	for i in 1 2 3 4 5; do
		taskset $mask usleep 1500
	done
	took=$(($(centiseconds) - begin))
	# 2 where nobody is busy.
	test $took -ge 1 -a $took -lt 50 || fail "CPU mask $mask beside a busy CPU: $took centiseconds for five short sleeps"
done
kill $busy

tracefuzz 100 2000 2 || fail 'tracefuzz'
finish
