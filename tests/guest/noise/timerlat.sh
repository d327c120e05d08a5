#!/bin/sh
# description: timerlat's files take what Linux's take; programs take the place of its threads and end with it; what is late stops recording
# requires: smp=4 timeout=240 progs="timerlat_user"
# requires: rooms="procfs samples instances"
. /run/prelude
tracing_reset
holds "at boot" osnoise/timerlat_period_us 1000
holds "at boot" osnoise/print_stack 0

# refuses FILE TEXT ERROR: and nothing changes
refuses() {
	before=$(cat $1)
	{ printf "$2" > $1; } 2> /tmp/error && fail "$1 took '$2'"
	grep -q "$3" /tmp/error || fail "$1, '$2': $(cat /tmp/error)"
	holds "after '$2'" $1 "$before"
}
refuses osnoise/timerlat_period_us 99 'Invalid argument'
refuses osnoise/timerlat_period_us 1000001 'Invalid argument'
refuses osnoise/timerlat_period_us x 'Invalid argument'
refuses osnoise/print_stack -1 'Invalid argument'
for period in 100 1000000 20000; do
	echo $period > osnoise/timerlat_period_us
	holds "a period" osnoise/timerlat_period_us $period
done

threads() {
	ps | grep ' \[timerlat/' | sed 's,.*/,,; s/].*//' | sort | tr '\n' ' '
}
# user ENV CPU PERIODS: what a program at timerlat_fd says
user() {
	env $1 timerlat_user $2 $3 $4 2>&1
}
same 'a program without the tracer' 'Invalid argument' "$(user A=1 0 1)"
echo timerlat > current_tracer
becomes 'threads' '0 1 2 3 ' threads
for pid in $(ps | grep ' \[timerlat/' | sed 's/^ *//; s/ .*//'); do
	chrt -p $pid | tr '\n' ' ' | grep -q 'SCHED_FIFO.* 95' || fail "the thread's policy: $(chrt -p $pid)"
done
same 'a program beside threads' 'Invalid argument' "$(user A=1 0 1)"

# osnoise and timerlat share their machinery: one of them at a time, in as many arrays as there are.
mkdir instances/a
{ echo osnoise > instances/a/current_tracer; } 2> /tmp/error && fail 'osnoise beside timerlat'
grep -q busy /tmp/error || fail "osnoise beside timerlat: $(cat /tmp/error)"
holds 'after that' instances/a/current_tracer nop
echo timerlat > instances/a/current_tracer
echo 0,2 > osnoise/cpus
becomes 'threads on two CPUs' '0 2 ' threads
# comes PATTERN [FILE]: waits until a line of the trace has it, at most 10 s
comes() {
	tries=0
	until grep -qE "$1" ${2:-trace}; do
		tries=$((tries + 1))
		test $tries -lt 200 || return 1
		sleep 0.05
	done
}
for array in . instances/a; do
	comes ' timerlat/2-[0-9]+ +\[002\] [^:]*: #[0-9]+ +context thread timer_latency +[0-9]+ ns$' $array/trace ||
		fail "$array: $(tail -n 3 $array/trace)"
	comes ' \[000\] d[^:]*: #[0-9]+ +context    irq timer_latency +[0-9]+ ns$' $array/trace || fail "$array: no irq"
done
echo nop > instances/a/current_tracer
echo nop > current_tracer
becomes 'threads at the end' '' threads
echo osnoise > instances/a/current_tracer || fail 'osnoise after timerlat'
{ echo timerlat > current_tracer; } 2> /tmp/error && fail 'timerlat beside osnoise'
grep -q busy /tmp/error || fail "timerlat beside osnoise: $(cat /tmp/error)"
echo nop > instances/a/current_tracer
rmdir instances/a
echo 0-3 > osnoise/cpus

# -- programs in place of threads
echo NO_OSNOISE_WORKLOAD > osnoise/options
echo timerlat > current_tracer
becomes 'threads without a workload' '' threads
same 'not pinned' 'Operation not permitted' "$(user UNPINNED=1 1 1)"
same 'on another CPU' 'Operation not permitted' "$(user PIN=2 1 1)"
echo > trace
same 'a program' '7 periods' "$(user A=1 1 7)"
grep -E 'context' trace | sed 's/.*: #//; s/ timer_latency.*//' | tr -s ' ' > /tmp/got
for n in 1 2 3 4 5 6 7; do
	printf '%s\n' "$n context irq" "$n context thread" "$n context user-ret"
done | head -n 20 > /tmp/wanted # it does not come back after the last
same 'three lines a period' "$(cat /tmp/wanted)" "$(cat /tmp/got)"
same 'a child that reads' '2 periods' "$(user A=1 1 2 fork)"
timerlat_user 3 0 > /tmp/forever &
pid=$!
comes '\[003\].*user-ret' || fail 'no period of the first program'
same 'a second program' 'Device or resource busy' "$(user A=1 3 1)"
same 'a program on another CPU meanwhile' '2 periods' "$(user A=1 2 2)"
kill -9 $pid
wait $pid
same 'killed' 137 $?
same 'when the first has died' '2 periods' "$(user A=1 3 2)"

# Who moves away has measured nothing: recording stops.
same 'a program that moves' '2 periods' "$(user MOVE=2 3 2)"
grep -q 'timerlat_fd_read: stop tracing hit on cpu 2 due to exception: timerlat user-thread migrated$' trace || fail "$(tail -n 3 trace)"
same 'tracing_on' 0 $(cat tracing_on)
echo 1 > tracing_on

# The tracer's end is the programs' end: by another tracer, by tracing_on, by the option.
for end in 'nop > current_tracer' '0 > tracing_on' 'OSNOISE_WORKLOAD > osnoise/options'; do
	echo timerlat > current_tracer
	echo > trace
	timerlat_user 1 0 > /tmp/forever &
	pid=$!
	comes '\[001\].*user-ret' || fail "no period before $end"
	eval echo $end
	wait $pid
	same "killed by $end" 137 $?
	echo NO_OSNOISE_WORKLOAD > osnoise/options
	echo 1 > tracing_on
done

# The program $pid has opened its file, and reads.
reads() {
	tries=0
	while ! ls -l /proc/$pid/fd | grep -q timerlat_fd && test $tries -lt 200; do
		sleep 0.05
		tries=$((tries + 1))
	done
	sleep 0.1
}
# While recording is off a program may come; an option ends it as well, or it would measure beside a thread.
echo 0 > tracing_on
timerlat_user 1 0 > /tmp/forever &
pid=$!
reads
echo OSNOISE_WORKLOAD > osnoise/options
wait $pid
same 'killed while recording is off' 137 $?
echo NO_OSNOISE_WORKLOAD > osnoise/options
timerlat_user 1 0 > /tmp/forever &
pid=$!
reads
echo nop > current_tracer
wait $pid
same 'killed by the end, recording off' 137 $?
# Its CPU is not counted any more when another run leaves it out.
echo DEFAULTS > osnoise/options
echo 0 > osnoise/cpus
echo > trace
echo 1 > tracing_on
echo 1 > events/osnoise/enable
echo osnoise > current_tracer
sleep 0.2
echo 0 > tracing_on
echo nop > current_tracer
echo 0 > events/osnoise/enable
grep -q '\[001\].*_noise:' trace && fail "CPU 1 is counted: $(grep '\[001\].*_noise:' trace | head -n 1)"
echo 0-3 > osnoise/cpus
echo 1 > tracing_on

# -- what is late stops recording; print_stack shows what held it up. Interrupts are off for 60 ms, much longer than a period
# and than a host that is busy keeps most CPUs waiting.
echo 1000 > osnoise/timerlat_period_us
for stop in stop_tracing_us stop_tracing_total_us; do
	echo 40000 > osnoise/print_stack
	echo 40000 > osnoise/$stop
	tries=0
	found=
	while test -z "$found" && test $tries -lt 50; do # the host may be late before we are
		echo > trace
		echo 1 > tracing_on
		echo timerlat > current_tracer
		echo 60000 > /sys/kernel/debug/latency/irqs_off
		sleep 0.05
		grep -q '=> plant_irqs_off$' trace && found=yes
		test -z "$found" && echo nop > current_tracer
		tries=$((tries + 1))
	done
	test -n "$found" || fail "$stop: no stack of what was planted"
	same "$stop: tracing_on" 0 $(cat tracing_on)
	grep -qE ': timerlat_(irq|main): stop tracing hit on cpu [0-3]$' trace || fail "$stop: $(tail -n 3 trace)"
	test $(cat tracing_max_latency) -ge 40000 || fail "$stop: tracing_max_latency $(cat tracing_max_latency)"
	echo nop > current_tracer
	echo 0 > osnoise/$stop
done
echo 1 > tracing_on
echo 0 > osnoise/print_stack
becomes 'threads at last' '' threads
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
