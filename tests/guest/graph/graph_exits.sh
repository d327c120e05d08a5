#!/bin/sh
# description: tasks that end under function_graph give back all that they had: shadow stacks, kernel stacks, pages
# requires: smp=2 mem=128M timeout=120
# requires: rooms="procfs samples"
. /run/prelude
tracing_reset
# crowd N: so many tasks sleep while they are traced, and end, half of them by a signal in the middle of it
crowd() {
	i=0
	while [ $i -lt $1 ]; do
		sleep 0.001 &
		sleep 100 &
		kill -9 $!
		i=$((i + 2))
	done
	wait
} 2> /dev/null
# state: objects in all slab caches, KiB of kernel stacks, KiB of free memory
state() {
	echo $(objects) $(meminfo KernelStack) $(meminfo MemFree)
}
# differences: since /tmp/before, in /tmp/after
differences() {
	read objects stacks free < /tmp/before
	state > /tmp/after
	read objects2 stacks2 free2 < /tmp/after
	objects=$((objects2 - objects)) stacks=$((stacks2 - stacks)) free=$((free - free2))
}
# compare WHAT: the state after a crowd is the one in /tmp/before, but for what CPUs keep at hand. A leak is one a task.
compare() {
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		settled
		differences
		test $objects -lt 40 -a $stacks -le 64 -a $free -lt 300 && return
	done
	fail "$1: 100 tasks have ended and leave $objects objects, $stacks KiB of kernel stacks, $free KiB of memory in all"
}

echo 'schedule vfs_* do_exit' > set_ftrace_filter
for tracer in nop function_graph; do
	echo $tracer > current_tracer
	crowd 20
	settled
	state > /tmp/before
	crowd 100
	compare "$tracer"
done
# Switched off and on again while they sleep: who ends without a tracer has a shadow stack from before.
echo nop > current_tracer
crowd 4
settled
state > /tmp/before
for round in 1 2 3 4 5; do
	echo function_graph > current_tracer
	crowd=
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 100 &
		crowd="$crowd $!"
	done
	for pid in $crowd; do
		until grep -q nanosleep /proc/$pid/wchan; do :; done
	done
	echo nop > current_tracer
	kill -9 $crowd
	wait
done 2> /dev/null
compare 'ended after nop'
returns_are_whole
tracing_reset
finish
