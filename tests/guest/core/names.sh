#!/bin/sh
# description: saved_cmdlines of n holds n names, the newest ones, whatever n is
# requires: smp=1 timeout=60
. /run/prelude
tracing_reset
size=$(cat saved_cmdlines_size)
echo 1 > events/sched/sched_switch/enable
for n in 1 2 3 4 7; do
	echo $n > saved_cmdlines_size
	holds "size $n" saved_cmdlines_size $n
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		sh -c 'echo $$ > /tmp/last; exec sleep 0.001'
	done
	echo 0 > tracing_on # no names are noted from here on
	cat saved_cmdlines > /tmp/names
	echo 1 > tracing_on
	same "$n names in a table of $n" $n "$(wc -l < /tmp/names)"
	same "$n tasks in a table of $n" $n "$(cut -d ' ' -f 1 /tmp/names | sort -u | wc -l)"
done
# In a table of 7 the last one that ran is there, by the name that it ended with, and the first one is not.
grep -q "^$(cat /tmp/last) sleep$" /tmp/names || fail "$(cat /tmp/last) is not in: $(cat /tmp/names)"
# What was pushed out is not found by a record either.
echo 1 > saved_cmdlines_size
echo > trace
sh -c 'exec sleep 0.001'
sh -c 'exec sleep 0.001'
echo 0 > events/sched/sched_switch/enable
grep -q '<\.\.\.>-' trace || fail 'records name tasks that a table of one cannot hold'
echo $size > saved_cmdlines_size
tracing_reset

# Names are noted while something is recorded, and no longer: each tracer ends that with itself.
unknown() {
	sleep 0.01 &
	task=$!
	wait $task
	grep -q "^$task " saved_cmdlines && fail "names are still noted after $1"
}
unknown events
for tracer in $(cat available_tracers); do
	echo $tracer > current_tracer || fail "$tracer cannot be selected"
	echo nop > current_tracer
	unknown $tracer
done
finish
