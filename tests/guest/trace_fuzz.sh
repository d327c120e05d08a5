#!/bin/sh
# description: random writes to tracefs and reads of it, all at once: each comes to its end
# requires: smp=4 timeout=300 progs="tracefuzz" soak
. /run/prelude
tracing_reset
minutes=${1:-0}
# CPUs that run at the same time; icount_turns.sh has it with --icount.
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
