#!/bin/sh
# description: hooks of interrupts and preemption balance under load; irqsoff, preemptoff, preemptirqsoff and their options
# requires: smp=4;1 timeout=600
# requires: rooms="procfs samples"
. /run/prelude
D=/sys/kernel/debug/latency
tracing_reset

# balanced TRACER: in threads of every CPU the state is what it must be, and no hook did not fit
balanced() {
	case $1 in
	irqsoff) preempt=on ;;
	*) preempt=off ;;
	esac
	case $1 in
	preemptoff) irqs=on ;;
	*) irqs=off ;;
	esac
	cat $D/hook_check > /tmp/check
	same "$1: CPUs looked at" $(ls -d per_cpu/cpu* | wc -l) $(wc -l < /tmp/check)
	wanted="nothing off: on, irqs off: $irqs, preemption off: $preempt, both off: off; lost: 0 begins, 0 ends"
	grep -v "^cpu[0-9]*: $wanted\$" /tmp/check > /tmp/wrong && fail "$1, $2: $(head -n 1 /tmp/wrong)"
}

load() {
	runs "$1: load" stress --cpu 1 --yield 1 --sleep 2 --pipe 2 --fork 2 --vm 1 --fs 1 --count ${2:-2}
}

# whole TRACER: what `trace` shows is one section, from its beginning to its end
whole() {
	case $1 in
	irqsoff) begins='trace_hardirqs_off' ends='tracer_hardirqs_on' ;;
	preemptoff) begins='trace_preempt_off' ends='tracer_preempt_on' ;;
	*) begins='trace_[a-z]*_off' ends='tracer_[a-z]*_on' ;;
	esac
	echo 0 > tracing_on
	sed '/^#/d;/^ =>/d' trace > /tmp/records
	head -n 1 /tmp/records | grep -q ": \($begins\|_raw_spin[a-z_]*\|local_bh_disable\|irq_enter\|parked_irqs_off\) <-" ||
		fail "$1: begins with $(head -n 1 /tmp/records)"
	tail -n 1 /tmp/records | grep -q ': <stack trace>$' || fail "$1: ends with $(tail -n 1 /tmp/records)"
	tail -n 2 /tmp/records | grep -q ": $ends <-" || fail "$1: last line $(tail -n 2 /tmp/records | head -n 1)"
	cut -c 18-20 /tmp/records | sort -u | wc -l | grep -q '^1$' || fail "$1: records of several CPUs"
	echo 1 > tracing_on
}

# -- nobody listens: nothing is known of any CPU
cat $D/hook_check > /tmp/check
grep -v 'nothing off: unknown, .*; lost: 0 begins, 0 ends$' /tmp/check && fail 'a state without a tracer'

for tracer in irqsoff preemptoff preemptirqsoff; do
	echo $tracer > current_tracer
	balanced $tracer 'at first'
	load $tracer
	balanced $tracer 'after load'
	whole $tracer
	echo 0 > options/function-trace
	load $tracer 1
	balanced $tracer 'without function entries'
	whole $tracer
	echo 1 > options/function-trace
done

# -- options: latency-format and overwrite are on while it is selected, and then what they were
echo nop > current_tracer
echo nooverwrite > trace_options
echo nolatency-format > trace_options
for tracer in irqsoff preemptoff preemptirqsoff; do
	echo $tracer > current_tracer
	holds $tracer options/overwrite 1
	holds $tracer options/latency-format 1
	echo 0 > options/overwrite 2> /dev/null && fail "$tracer: overwrite was switched off"
	echo nooverwrite > trace_options 2> /dev/null && fail "$tracer: nooverwrite was taken"
	holds "$tracer, refused" options/overwrite 1
	echo nop > current_tracer
	holds "$tracer, left" options/overwrite 0
	holds "$tracer, left" options/latency-format 0
done
echo overwrite > trace_options

# -- clocks: those whose differences are no times are refused, before and while it is selected
for clock in counter uptime tai; do
	echo $clock > trace_clock
	echo irqsoff > current_tracer 2> /dev/null && fail "irqsoff with the clock $clock"
	holds 'refused' current_tracer nop
	holds 'refused' options/latency-format 0
done
for clock in global mono local; do
	echo $clock > trace_clock
	echo irqsoff > current_tracer
	echo 3000 > $D/irqs_off
	test $(cat tracing_max_latency) -ge 2900 || fail "clock $clock: $(cat tracing_max_latency) us"
	echo counter > trace_clock 2> /dev/null && fail 'the clock became a counter'
	echo tai > trace_clock 2> /dev/null && fail 'the clock became one that can be set'
	balanced irqsoff "clock $clock"
	echo nop > current_tracer
done

# -- function entries of one task only
echo $$ > set_ftrace_pid
echo irqsoff > current_tracer
# planted COMMAND...: what it plants is the maximum. A busy host may hold another CPU up for longer: then once more.
planted() {
	echo 0 > tracing_max_latency
	"$@"
	grep -q 'started at: plant_irqs_off' trace
}
plant() {
	echo 300000 > $D/irqs_off
}
await 'set_ftrace_pid: the section of another task is seen' planted sh -c "echo 300000 > $D/irqs_off"
grep -q ' plant_spin <-' trace && fail 'set_ftrace_pid: an entry of another task'
await 'set_ftrace_pid: that of the task itself' planted plant
grep -q ' plant_spin <-' trace || fail 'set_ftrace_pid: no entry of the task'
echo > set_ftrace_pid
echo nop > current_tracer

# -- selected and left again and again while all CPUs are in and out of sections, functions on and off; of a small buffer `trace` is short
echo 128 > buffer_size_kb
stress --cpu 1 --yield 2 --pipe 2 --fork 1 --timeout 1000 > /dev/null &
worker=$!
for round in 1 2; do
	for tracer in irqsoff function preemptirqsoff preemptoff nop; do
		echo $tracer > current_tracer
		echo $((round % 2)) > options/function-trace
		cat trace > /dev/null
		echo 0 > tracing_max_latency
		echo $(((round + 1) % 2)) > options/function-trace
	done
done
kill $worker
wait $worker 2> /dev/null
echo 1408 > buffer_size_kb
echo 1 > options/function-trace
echo preemptirqsoff > current_tracer
load 'after all that'
balanced preemptirqsoff 'after all that'
whole preemptirqsoff

# -- the files take nothing
for file in hook_check hook_cost; do
	sh -c "echo 1 > $D/$file" 2> /dev/null && fail "$file was written to"
done
grep -c 'off and on [0-9][0-9]* ns$' $D/hook_cost | grep -q '^2$' || fail "hook_cost: $(cat $D/hook_cost)"
echo nop > current_tracer
finish
