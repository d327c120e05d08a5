#!/bin/sh
# description: random writes to all files of tracefs, and reads of them, all at once: each comes to its end, and the way out works
# requires: smp=2 mem=768M timeout=600 append="slab_debug" progs="tracefuzz" soak
# requires: rooms="dynevents procfs refusals slab_debug"
. /run/prelude
tracing_reset
minutes=${1:-0}
# CPUs that run at the same time, on a host that others may keep busy: a minute of its time is the limit for an operation.
# icount_turns.sh has it with --icount, where a second is so many instructions and the limit is 2 s. In a soak each round
# has another beginning, and begins with what the last one has left.
end=$((minutes * 60 + $(date +%s)))
seed=1
while :; do
	tracefuzz 30000 60000 $seed || {
		fail "seed $seed"
		break
	}
	dmesg | grep -E 'Oops|WARNING|BUG|Unexpected' && fail "seed $seed: the kernel complained"
	test $failures = 0 || break
	seed=$((seed + 1))
	test $(date +%s) -lt $end || break
done
finish
