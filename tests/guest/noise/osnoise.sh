#!/bin/sh
# description: osnoise's files take what Linux's take; threads come and go with masks, options and instances; what is too long stops recording
# requires: smp=4 timeout=240
# requires: rooms="procfs samples instances"
. /run/prelude
tracing_reset
cd osnoise
holds "at boot" period_us 1000000
holds "at boot" runtime_us 1000000
holds "at boot" stop_tracing_us 0
holds "at boot" stop_tracing_total_us 0
holds "at boot" cpus 0-3
holds "at boot" options "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE NO_OSNOISE_IRQ_DISABLE "

# refuses FILE TEXT ERROR: and nothing changes
refuses() {
	before=$(cat $1)
	{ printf "$2" > $1; } 2> /tmp/error && fail "$1 took '$2'"
	grep -q "$3" /tmp/error || fail "$1, '$2': $(cat /tmp/error)"
	holds "after '$2'" $1 "$before"
}
refuses /sys/kernel/debug/busy/irq '0 1' 'Numerical result out of range'
echo 1 0 > /sys/kernel/debug/busy/irq || fail 'busy/irq refuses the shortest time'
refuses period_us 999999 'Invalid argument'
refuses runtime_us 1000001 'Invalid argument'
refuses runtime_us -1 'Invalid argument'
refuses runtime_us 1s 'Invalid argument'
refuses stop_tracing_us 99999999999999999999 'Numerical result out of range'
refuses options NO_DEFAULTS 'Invalid argument'
refuses options OSNOISE 'Invalid argument'
refuses options TIMERLAT_ALIGN 'Invalid argument'
refuses options NO_NO_OSNOISE_WORKLOAD 'Invalid argument'
refuses cpus 4 'Numerical result out of range'
refuses cpus 0-63 'Numerical result out of range'
refuses cpus 2-1 'Invalid argument'
refuses cpus 1- 'Invalid argument'
refuses cpus 0x3 'Invalid argument'
refuses cpus a 'Invalid argument'
for list in 0 1-3 0,2 0-1,3; do
	echo $list > cpus
	holds "a list" cpus $list
done
echo 1,0,3-3 > cpus
holds "a list in another order" cpus 0-1,3
echo > cpus
holds "an empty list" cpus ''
echo 0-3 > cpus
for option in PANIC_ON_STOP OSNOISE_PREEMPT_DISABLE OSNOISE_IRQ_DISABLE NO_OSNOISE_WORKLOAD; do
	echo $option > options
	grep -q "^NO_DEFAULTS .*\<$option " options || fail "$option: $(cat options)"
	echo DEFAULTS > options
	grep -q "^DEFAULTS OSNOISE_WORKLOAD NO_P" options || fail "DEFAULTS: $(cat options)"
done
cd $T

# threads: CPUs that have one, and each runs where its name says
threads() {
	ps | grep ' \[osnoise/' | sed 's,.*/,,; s/].*//' | sort | tr '\n' ' '
}
# sampled: CPUs that have samples in the trace, which is in /tmp/lines
sampled() {
	grep -v '^#' trace > /tmp/lines
	sed 's/.*\[00//; s/\].*//' /tmp/lines | sort -u | tr '\n' ' '
}
# samples: the trace has some; without the header, in /tmp/lines
samples() {
	test -n "$(sampled)"
}
echo 20000 > osnoise/runtime_us
echo 60000 > osnoise/period_us
echo osnoise > current_tracer
becomes 'threads' '0 1 2 3 ' threads
for pair in '0,2:0 2 ' '1-3:1 2 3 ' '3:3 '; do
	list=${pair%:*} wanted=${pair#*:}
	echo $list > osnoise/cpus
	becomes "threads on CPUs $list" "$wanted" threads
	echo > trace
	becomes "samples of CPUs $list" "$wanted" sampled
	same "CPUs $list" $list $(cat osnoise/cpus)
	grep -vE ' osnoise/0-[0-9]+ +\[000\] | osnoise/1-[0-9]+ +\[001\] | osnoise/2-[0-9]+ +\[002\] | osnoise/3-[0-9]+ +\[003\] ' /tmp/lines &&
		fail 'a thread on another CPU'
done
becomes 'threads on CPU 3' '3 ' threads
echo > osnoise/cpus
becomes 'threads on no CPU' '' threads
echo 0-3 > osnoise/cpus
becomes 'threads again' '0 1 2 3 ' threads

# Options while it runs. With interrupts off no interrupt and no thread comes in, whatever the host does.
echo NO_OSNOISE_WORKLOAD > osnoise/options
becomes 'threads without a workload' '' threads
echo OSNOISE_WORKLOAD > osnoise/options
echo OSNOISE_IRQ_DISABLE > osnoise/options
becomes 'threads with interrupts off' '0 1 2 3 ' threads
echo > trace
sleep 0.5
await 'samples with interrupts off' samples
grep -vE ' 0 +0 +0 +0$' /tmp/lines && fail 'something came in with interrupts off'
echo NO_OSNOISE_IRQ_DISABLE > osnoise/options
echo OSNOISE_PREEMPT_DISABLE > osnoise/options
echo > trace
sleep 0.5
await 'samples with preemption off' samples
grep -vE ' 0$' /tmp/lines && fail 'a thread came in with preemption off'
echo DEFAULTS > osnoise/options

# tracing_on: without it no thread, with it all
echo 0 > tracing_on
becomes 'threads while it is off' '' threads
echo 1 > tracing_on
becomes 'threads when it is on' '0 1 2 3 ' threads

# Several arrays: one set of threads, and each gets all samples. The last one that goes takes the threads along.
mkdir instances/a instances/b
echo osnoise > instances/a/current_tracer
echo 1 > instances/b/events/osnoise/sample_threshold/enable
becomes 'threads of two arrays' '0 1 2 3 ' threads
sleep 0.3
echo nop > current_tracer
becomes 'threads of the second' '0 1 2 3 ' threads
echo 1 > instances/b/events/osnoise/irq_noise/enable
# rescheduled: tasks that come to other CPUs have interrupted a sample by a rescheduling interrupt
rescheduled() {
	for cpu in 1 2 4 8; do
		taskset $cpu true
	done
	grep -q 'irq_noise: *Rescheduling' instances/b/trace
}
await 'a rescheduling interrupt' rescheduled
await 'samples in the second array' grep -q ' osnoise/.* [0-9]*$' instances/a/trace
await 'events in the third array' grep -q ' sample_threshold: start ' instances/b/trace
echo 0 > instances/b/events/osnoise/irq_noise/enable
# An IPI has the number of its kind.
ipis=$(sed -n 's/.* irq_noise: *\([A-Z][a-z ]*\) interrupts:\([0-9]*\) start.*/\1 \2/p' instances/b/trace | sort -u)
echo "$ipis" | grep -q '^Rescheduling 0$' || fail "no rescheduling interrupt of number 0: $ipis"
same 'numbers of IPIs' '' "$(echo "$ipis" | grep -v -e '^Rescheduling 0$' -e '^Function call 1$')"
same 'samples of the array that has gone' 0 $(grep -c ' osnoise/' trace)

# A sample that is too long, one by one and in all, stops recording in every array that has the tracer, and in no other.
least=100
for file in stop_tracing_us stop_tracing_total_us; do
	echo osnoise > current_tracer
	echo 200 5 > /sys/kernel/debug/busy/irq
	echo 1 > instances/a/tracing_on
	echo 100 > osnoise/$file
	tries=0
	while test $(cat tracing_on) = 1 && test $tries -lt 200; do
		sleep 0.05
		tries=$((tries + 1))
	done
	echo 0 > osnoise/$file
	same "$file: tracing_on" '0 0 1' "$(cat tracing_on instances/a/tracing_on instances/b/tracing_on | tr '\n' ' ' | sed 's/ $//')"
	grep -q ': run_osnoise: stop tracing hit on cpu [0-3]$' trace || fail "$file: $(tail -n 3 trace)"
	# The longest single gap; what adds up to a whole need not have a long one.
	test $(cat tracing_max_latency) -ge $least || fail "$file: tracing_max_latency $(cat tracing_max_latency)"
	least=1
	# In this order: a thread that began its sample under the old limit may stop recording until it has ended.
	echo nop > current_tracer
	echo 1 > tracing_on
done
rmdir instances/a instances/b
becomes 'threads at the end' '' threads

# A limit that no gap can reach, though its number of ns has no room in 64 bits.
echo 18446744073709552 > osnoise/stop_tracing_us
echo osnoise > current_tracer
sleep 0.3
same 'stopped by a limit of 584 years' 1 $(cat tracing_on)
echo nop > current_tracer
echo 0 > osnoise/stop_tracing_us

# What tracing_enabled has stopped is not started by tracing_on: nothing would ever stop the threads.
any_threads() {
	ps | grep -E ' \[(osnoise|timerlat|hwlatd)'
}
for tracer in osnoise timerlat hwlat; do
	echo $tracer > current_tracer
	echo 0 > tracing_enabled
	echo 0 > tracing_on
	echo 1 > tracing_on
	becomes "$tracer: threads while it is stopped" '' any_threads
	echo 1 > tracing_enabled
	test -n "$(any_threads)" || fail "$tracer: no threads after tracing_enabled"
	echo nop > current_tracer
	becomes "$tracer: threads at its end" '' any_threads
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
