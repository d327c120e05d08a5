#!/bin/sh
# description: deadline tasks on one CPU: parameters, budgets and periods to the microsecond, order, admission
# requires: icount timeout=240 progs="dltest dlcalls"
# requires: rooms="procfs"
. /run/prelude
dlcalls || fail dlcalls
dltest || fail dltest

# chrt, ps and the tracer
cd $T
echo sched_switch > current_tracer
got=$(chrt -d -R --sched-runtime 2000000 -P 10000000 0 sh -c 'sleep 0.01; chrt -p $$; ps -l | grep -c " DL[N] "' | cut -d' ' -f3-)
echo nop > current_tracer
same 'chrt and ps' 'current scheduling policy: SCHED_DEADLINE|SCHED_RESET_ON_FORK
current scheduling priority: 0
current runtime/deadline/period parameters: 2000000/10000000/10000000
1' "$got"
echo sched_switch > current_tracer
chrt -d -T 2000000 -D 5000000 -P 10000000 0 sleep 0.01
grep -q ' -1:S ==> ' trace || fail 'the trace has no deadline task that goes to sleep'
echo nop > current_tracer
same 'children' 'sh: cannot fork: Resource temporarily unavailable' "$(chrt -d -P 10000000 -T 9000000 0 sh -c 'true; ps; true' 2>&1)"

# what cannot be is said before anything runs
same 'bad times' "chrt: failed to set pid 0's policy: Invalid argument: 1024 ns <= runtime <= deadline <= period is wanted, and a period of 100 to 4194304 us
latency: an interval of deadline threads has 100 to 4194304 us
latency: there is no CPU 9; there is: 0" "$(chrt -d -P 50000 -T 20000 0 true 2>&1; latency -P deadline -i 50 2>&1; latency -l 1 -a 0,9 2>&1)"
same 'chrt -v' "new scheduling policy: SCHED_FIFO
new scheduling priority: 5
1" "$(chrt -v -f 5 nproc | sed "s/.*'s //")"
grep -q '^dl_total_bw *: 0$' /sys/kernel/debug/sched/debug || fail 'bandwidth was lost'
grep -q '^ktime *: [1-9][0-9]*$' /sys/kernel/debug/sched/debug || fail 'sched/debug does not say when it was'
# cyclicdeadline of the rt-tests looks here, and wants this one on.
cd /sys/kernel/debug/sched
same 'features' 'HRTICK_DL NO_HRTICK ' "$(cat features)"
echo HRTICK_DL > features || fail 'what is so already is refused'
for feature in NO_HRTICK_DL HRTICK NOSUCH ''; do
	{ echo $feature > features; } 2> /tmp/error && fail "'$feature' is taken"
	grep -q 'Invalid argument' /tmp/error || fail "'$feature': $(cat /tmp/error)"
done
cd /
finish
