#!/bin/sh
# description: random writes to tracefs and reads of it, all at once: each comes to its end
# requires: smp=4 timeout=300 progs="tracefuzz" soak
. /run/prelude
tracing_reset
minutes=${1:-0}
# Not with icount: QEMU 7.2 may then give the CPU after a busy one no turn for seconds, and what waits for it waits too.
# In a soak each round has another beginning. The limit of 30 s is for hosts that are busy.
end=$((minutes * 60 + $(date +%s)))
seed=1
while :; do
	tracefuzz $((minutes ? 20000 : 1000)) 30000 $seed || {
		fail "seed $seed"
		break
	}
	seed=$((seed + 1))
	test $(date +%s) -lt $end || break
done
finish
