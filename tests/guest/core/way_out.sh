#!/bin/sh
# description: whatever is on, tracers, recording, events, commands and instances go off within a second, and what took up a CPU is named
# requires: smp=2 icount timeout=600 append="quiet loglevel=4"
# requires: rooms="historic noise procfs commands instances overload"
. /run/prelude
tracing_reset
P=/proc/sys/kernel/perf_cpu_time_max_percent
holds 'the limit' $P 25

# hundredths: of a second, of the guest's clock
hundredths() {
	sed 's/ .*//; s/\.//; s/^0*//' /proc/uptime
}

# soon WHAT COMMAND...: the command is done within a second
soon() {
	soon_what=$1 soon_began=$(hundredths)
	shift
	"$@" || fail "$soon_what: $*"
	soon_took=$(($(hundredths) - soon_began))
	test $soon_took -le 100 || fail "$soon_what: $* took $soon_took hundredths of a second"
}

# put TEXT FILE
put() {
	echo "$1" > $2
}

# ended: what interrupts have been found to suffer from, a line for each
ended() {
	sed -n 's/.* irq: interrupts take [0-9]*% of CPU [0-9]*.s time, so this is ended: //p' /tmp/log | sort -u
}

# leave WHAT: the way out, from everything
leave() {
	soon "$1" put nop current_tracer
	soon "$1" put 0 tracing_on
	soon "$1" put 0 events/enable
	for instance in instances/*; do
		test ! -d $instance || soon "$1" rmdir $instance
	done
	dmesg -c > /tmp/log
	grep -E 'Oops|WARNING|BUG' /tmp/log && fail "$1: the kernel complained"
	echo 1 > tracing_on
	echo > set_graph_function
}

# The tick that is stepped through takes longer than the time to the next.
echo 0 > hw_branch_window
mkdir instances/a
echo function_graph > instances/a/current_tracer
echo 1 > events/enable
echo hw-branch-tracer > current_tracer
usleep 400000
leave windows
same 'a window' 'hw-branch-tracer, on this CPU (hw_branch_window)' "$(ended)"

mkdir instances/a
echo function_graph > instances/a/current_tracer
echo '*' > set_graph_function
echo 1 > events/enable
echo hw-branch-tracer > current_tracer
usleep 400000
leave sections
same 'a section' 'hw-branch-tracer, its sections (hw_branch_window)' "$(ended)"

# A record whose writer is stepped through: each branch would be a record that overtakes it.
echo '*:stacktrace' > set_ftrace_filter
echo hw-branch-tracer > current_tracer
usleep 100000
leave 'a stack while stepped'
soon 'a stack while stepped' put '!*:stacktrace' set_ftrace_filter

# Windows pause for a stop, and go on afterwards, when nothing ends them for the time that interrupts take.
echo 0 > $P
echo 3000000 > hw_branch_window
echo hw-branch-tracer > current_tracer
echo 1 > events/sched/enable
for mask in 1 2; do taskset $mask ls /tmp > /dev/null; done
echo 0 > tracing_on
for cpu in 0 1; do
	branches=$(sed '1,/ sched_/d' per_cpu/cpu$cpu/trace | grep -c -e '<-')
	test $branches -gt 100 || fail "CPU $cpu has $branches branches after a stop"
done
echo nop > current_tracer
echo 1 > tracing_on
echo hw-branch-tracer > current_tracer
echo 0 > events/sched/enable
echo 0 > tracing_on
grep -q 'tracepoint_switch+.*<-' trace || fail 'what comes before the stop is not in the trace'
grep 'run_patch_job+.*<-' trace && fail 'a stop is in the trace'
leave pauses
echo 25 > $P

# Interrupts may take a hundredth of the time, which they exceed by a stack of each function of the tick. First by
# commands, until they are ended in all arrays; they are not listed any more.
for percent in -1 101 x; do
	{ echo $percent > $P; } 2> /dev/null && fail "a limit of $percent"
done
functions='hrtimer* *tick* task_* update_* *_irq* ktime*'
for n in 1 2 3 4 5 6 7 8; do
	mkdir instances/a$n
	echo 64 > instances/a$n/buffer_size_kb
	for function in $functions; do
		echo "$function:stacktrace" > instances/a$n/set_ftrace_filter
	done
done
# busy: something has a tick on each CPU
while :; do :; done &
busy=$!
while :; do :; done &
busy="$busy $!"
dmesg_has() {
	dmesg | grep -q "this is ended: $1"
}
# listed: how many functions have a command
listed() {
	cat instances/a*/set_ftrace_filter | grep -c ':stacktrace'
}
echo 0 > $P
usleep 100000
dmesg_has . && fail 'something is ended without a limit'
test $(listed) -gt 80 || fail "$(listed) functions have a command"
echo 1 > $P
await 'commands are ended' dmesg_has 'the function command stacktrace (set_ftrace_filter)'
becomes 'functions with a command' 0 listed
# The same by the function tracer: recording ends.
echo 25 > $P
for n in 1 2 3 4 5 6 7 8; do
	echo $functions > instances/a$n/set_ftrace_filter
	echo 1 > instances/a$n/options/func_stack_trace
	echo function > instances/a$n/current_tracer
done
echo 1 > $P
await 'recording is ended' dmesg_has 'recording by function (instances/a1/tracing_on)'
holds 'recording is off' instances/a1/tracing_on 0
echo 25 > $P
kill $busy
wait
leave stacks

# Interrupts are off for as long as a sample takes.
for file in window width; do
	echo 100000000 > hwlat_detector/$file
done
echo per-cpu > hwlat_detector/mode
echo hwlat > current_tracer
usleep 50000
leave hwlat
echo 500000 > hwlat_detector/width
echo 1000000 > hwlat_detector/window
echo round-robin > hwlat_detector/mode
finish
