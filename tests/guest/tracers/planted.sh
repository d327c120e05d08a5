#!/bin/sh
# description: a planted section is reported by the tracers that should see it, with its length and its function
# requires: smp=1,4 icount turn=10 timeout=240
# requires: rooms="procfs samples"
. /run/prelude
P=/sys/kernel/debug/latency
tracing_reset
echo latency-format > trace_options
# Other CPUs have sections of their own meanwhile: only ours is looked at.
taskset -p 1 $$ > /dev/null
all_cpus=$(cat tracing_cpumask)
echo 1 > tracing_cpumask

# near WHAT WANTED GOT: within 2 % + 5 us. With several CPUs the others' turns of 10 us come in between: 30 us more.
# A tick that comes while interrupts are off runs when they are on again and preemption is not yet: 10 us with its entries.
CPUS=$(grep -c '^processor' /proc/cpuinfo)
if test $CPUS -gt 1; then more=35; else more=15; fi
near() {
	test "$3" -ge $(($2 - $2 / 50 - 5)) -a "$3" -le $(($2 + $2 / 50 + more)) || fail "$1: wanted $2 us, got $3"
}

# plant KIND US: from a fresh maximum; LATENCY is the new one. The shell's own write: nothing is forked meanwhile.
plant() {
	echo 0 > tracing_on
	echo 0 > tracing_max_latency
	echo 1 > tracing_on
	echo $2 > $P/$1
	echo 0 > tracing_on
	read LATENCY < tracing_max_latency
}

# header TEXT: what follows it in the header
header() {
	sed -n "s/^# *$1 *//p" trace
}

# sees TRACER KIND US: that is its maximum, from plant_KIND to plant_KIND
sees() {
	what="$1, $2 (function-trace $(cat options/function-trace))"
	near "$what" $3 $LATENCY
	same "$what: header" "$LATENCY us" "$(header latency: | cut -d , -f 1)"
	case "$(header '=> started at:')" in
	plant_$2 | _raw_${2#plant_}) ;;
	*) fail "$what: started at '$(header '=> started at:')'" ;;
	esac
	case "$(header '=> ended at:')" in
	plant_$2 | _raw_spin_unlock_irqrestore) ;;
	*) fail "$what: ended at '$(header '=> ended at:')'" ;;
	esac
	grep -q "| task: .*-$$ (uid:0 nice:0 policy:0 rt_prio:0)" trace || fail "$what: the task is not $$"
	grep -q "^ => plant_$2" trace || fail "$what: not in the closing stack trace"
	sed -n '/^[^#]/{/^ =>/d;p}' trace > /tmp/records
	grep -v -q "^ *[^ ]*-$$ " /tmp/records && fail "$what: records of others: $(grep -v "^ *[^ ]*-$$ " /tmp/records | head -n 1)"
	same "$what: as many records as the header says" "$(wc -l < /tmp/records)" "$(header latency: | cut -d '#' -f 2 | cut -d / -f 1)"
}

# misses TRACER KIND US: its maximum is something else, and shorter
misses() {
	grep -q "at: *plant_" trace && test $LATENCY != 0 && fail "$1, $2: it is the maximum, $LATENCY us, started at $(header '=> started at:')"
	test $LATENCY -lt $(($3 / 2 + 25)) || fail "$1, $2, $3 us: $LATENCY us, started at $(header '=> started at:')"
}

for function_trace in 1 0; do
	for tracer in irqsoff preemptoff preemptirqsoff; do
		runs 'the tracer is there' sh -c "echo $tracer > current_tracer" || continue
		echo $function_trace > options/function-trace
		# Without entries, and among other CPUs, one length will do: how long a section was is worked out by the same code.
		test $function_trace$CPUS = 11 && lengths='50 5000' || lengths=500
		for us in $lengths; do
			for kind in irqs_off preempt_off irqs_preempt_off preempt_irqs_off spin_lock_irqsave; do
				plant $kind $us
				case $tracer,$kind in
				irqsoff,preempt_off | preemptoff,irqs_off)
					misses $tracer $kind $us
					continue ;;
				preemptirqsoff,*_*_off) length=$us calls=3 ;;
				*,*_*_off) length=$((us * 2 / 3)) calls=2 ;;
				*) length=$us calls=1 ;;
				esac
				sees $tracer $kind $length
				same "$what: calls inside" $((calls * function_trace)) $(grep -c ' plant_spin <-' trace)
			done
		done
		echo nop > current_tracer
	done
done
echo 1 > options/function-trace

# -- without function entries the latency stays
echo irqsoff > current_tracer
echo 0 > /proc/sys/kernel/ftrace_enabled
plant irqs_off 500
sees irqsoff irqs_off 500
same 'ftrace_enabled 0: calls inside' 0 $(grep -c ' plant_spin <-' trace)
echo 1 > /proc/sys/kernel/ftrace_enabled
plant irqs_off 500
sees irqsoff irqs_off 500
same 'ftrace_enabled 1: calls inside' 1 $(grep -c ' plant_spin <-' trace)
# Filters hold for these entries, too.
echo schedule > set_ftrace_filter
plant irqs_off 500
sees irqsoff irqs_off 500
same 'filtered: calls inside' 0 $(grep -c ' plant_spin <-' trace)
echo > set_ftrace_filter

# -- the maximum: shorter ones do not take its place, a longer one does; a number put there is the one to beat
plant irqs_off 500
echo 1 > tracing_on
echo 100 > $P/irqs_off
echo 0 > tracing_on
near 'a shorter one after it' 500 $(cat tracing_max_latency)
echo 1 > tracing_on
echo 900 > $P/irqs_off
echo 0 > tracing_on
near 'a longer one after it' 900 $(cat tracing_max_latency)
near 'and its trace' 900 $(header latency: | cut -d ' ' -f 1)
echo 2000 > tracing_max_latency
holds 'written' tracing_max_latency 2000
echo 1 > tracing_on
echo 1500 > $P/irqs_off
echo 0 > tracing_on
holds 'not reached' tracing_max_latency 2000
near 'the trace before' 900 $(header latency: | cut -d ' ' -f 1)
echo 1 > tracing_on
echo 3000 > $P/irqs_off
echo 0 > tracing_on
near 'exceeded' 3000 $(cat tracing_max_latency)

# -- tracing_thresh: every section above it, whichever was longer
echo 300 > tracing_thresh
holds 'threshold' tracing_thresh 300
plant irqs_off 1000
sees irqsoff irqs_off 1000
for us in 500 2000 400; do
	echo 1 > tracing_on
	echo $us > $P/irqs_off
	echo 0 > tracing_on
	near 'above the threshold' $us $(header latency: | cut -d ' ' -f 1)
done
echo 1 > tracing_on
echo 200 > $P/irqs_off
echo 0 > tracing_on
near 'below the threshold' 400 $(header latency: | cut -d ' ' -f 1)
echo 0 > tracing_thresh

# -- switched off, nothing is measured
echo 0 > tracing_max_latency
echo 700 > $P/irqs_off
holds 'tracing_on 0' tracing_max_latency 0
echo 1 > tracing_on
echo 0 > tracing_enabled
echo 0 > tracing_max_latency
echo 700 > $P/irqs_off
holds 'tracing_enabled 0' tracing_max_latency 0
echo 1 > tracing_enabled
echo 700 > $P/irqs_off
near 'tracing_enabled 1' 700 $(cat tracing_max_latency)

# -- tracing_cpumask
if test -d per_cpu/cpu3; then
	echo 4 > tracing_cpumask
	taskset -p 2 $$ > /dev/null
	plant irqs_off 5000
	# CPU 2 may have had a long one of its own: the emulator can leave it without a turn for some ms. With a maximum of 0 it
	# had none, and the trace is the one before.
	case "$LATENCY $(header '=> started at:')" in
	0\ *) ;;
	*plant_*) fail "tracing_cpumask 4: $LATENCY us of CPU 1 were seen" ;;
	esac
	taskset -p 4 $$ > /dev/null
	plant irqs_off 5000
	sees irqsoff irqs_off 5000
	grep -q 'CPU#2 |' trace || fail 'tracing_cpumask 4: not on CPU 2'
	echo 2 > tracing_cpumask
	taskset -p 2 $$ > /dev/null
	plant irqs_off 5000
	sees irqsoff irqs_off 5000
	grep -q 'CPU#1 |' trace || fail 'tracing_cpumask 2: not on CPU 1'
fi
taskset -p 1 $$ > /dev/null
echo 1 > tracing_cpumask

# -- the programs
plant irqs_off 50
echo 0 > tracing_max_latency
echo 1 > tracing_on
runs 'irqhog' irqhog 3000
near 'irqhog' 3000 $(cat tracing_max_latency)
runs 'irqhog -l' irqhog -l 4000
near 'irqhog -l' 4000 $(cat tracing_max_latency)
echo preemptirqsoff > current_tracer
echo 0 > tracing_max_latency
runs 'preempthog' preempthog 3000
near 'preempthog' 3000 $(cat tracing_max_latency)
runs 'irqhog -p' irqhog -p 6000
near 'irqhog -p' 6000 $(cat tracing_max_latency)
runs 'irqhog -q' irqhog -q 9000
near 'irqhog -q' 9000 $(cat tracing_max_latency)

# -- bad input plants nothing
for bad in 0 1000001 -1 x 5x '' 99999999999999999999; do
	echo "$bad" > $P/irqs_off 2> /dev/null && fail "'$bad' microseconds were planted"
done
echo $all_cpus > tracing_cpumask
tracing_reset
finish
