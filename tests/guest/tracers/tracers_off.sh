#!/bin/sh
# description: a tracer that was on and is off again costs a pipe round nothing: 0.3 % at most, in instructions
# requires: smp=1 icount timeout=240
. /run/prelude
tracing_reset
# A tick in one measurement and not in the other must not decide.
round() {
	bench pipe 1500 | cut -d' ' -f2
}
echo 5000 > hw_branch_window
round > /dev/null
before=$(round)
for tracer in $(cat available_tracers); do
	echo $tracer > current_tracer || fail "$tracer cannot be selected"
	on=$(bench pipe 20 | cut -d' ' -f2)
	echo nop > current_tracer
	echo > trace
	after=$(round)
	echo "$tracer: pipe round $before before, $on under it, $after afterwards"
	change=$((after - before))
	test ${change#-} -le $((before * 3 / 1000)) || fail "$tracer leaves a cost of $change of $before"
done
finish
