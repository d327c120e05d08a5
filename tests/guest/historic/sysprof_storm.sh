#!/bin/sh
# description: sysprof goes on and off while every CPU is busy, the function tracer is switched in an instance and the text changes: samples are whole, and nothing interrupts afterwards
# requires: smp=4 irqchip=all timeout=600 soak progs="storm"
# requires: rooms="instances procfs sampler samples"
. /run/prelude
test "$1" = 0 && ROUNDS=2 || ROUNDS=200
tracing_reset
echo 64 > buffer_size_kb

# nmis: how many each CPU has served
nmis() {
	grep '^NMI:' /proc/interrupts
}

# whole: each sample of a CPU has its beginning and its end. The first may have lost its beginning, the last its end.
whole() {
	for cpu in 0 1 2 3; do
		grep -o '# [0-9-]* [0-9-]* [0-9-]*$' per_cpu/cpu$cpu/trace | cut -d ' ' -f 2 | grep -v -e 1 -e 2 | uniq > /tmp/ends
		first=$(head -n 1 /tmp/ends)
		test -z "$first" && continue
		n=$(wc -l < /tmp/ends)
		same "round $1, CPU $cpu: samples begin and end in turn" 0 "$(uniq -c /tmp/ends | grep -c -v ' 1 [03]$')"
		same "round $1, CPU $cpu: all records are of a sample" 0 "$(grep -v '^#' per_cpu/cpu$cpu/trace | grep -v 'LOST' | grep -c -v ': # ')"
	done
}

echo 500 > sysprof_sample_period
storm 4 > /dev/null &
storm=$!
mkdir -p instances/load
round=0
while test $round -lt $ROUNDS; do
	test $((round % 3)) = 0 && echo function > instances/load/current_tracer
	test $((round % 3)) = 2 && echo nop > instances/load/current_tracer
	echo > trace
	runs "round $round" sh -c 'echo sysprof > current_tracer'
	test $((round % 2)) = 0 && echo $((400 + round)) > sysprof_sample_period
	# A busy host lets the virtual timers wait: so long as there is no sample, some more time with interrupts off.
	tries=0
	while test $tries -lt 200 && ! grep -q ': # 0 0 ' trace; do
		echo 2000 > /sys/kernel/debug/latency/irqs_off
		tries=$((tries + 1))
	done
	test $tries -lt 200 || fail "round $round: no sample"
	echo 0 > tracing_on
	whole $round
	echo 1 > tracing_on
	echo nop > current_tracer
	before=$(nmis)
	test $((round % 4)) = 0 && sleep 0.01
	same "round $round: NMIs while nobody samples" "$before" "$(nmis)"
	round=$((round + 1))
done
kill $storm
wait
echo nop > instances/load/current_tracer
rmdir instances/load
dmesg | grep -E 'Oops|WARNING|BUG|panic|Uhhuh' && fail 'the kernel complained'
finish
