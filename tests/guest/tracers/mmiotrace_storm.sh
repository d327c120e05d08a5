#!/bin/sh
# description: mmiotrace goes on and off while every CPU accesses devices, with the function tracer on; no access is lost and none goes wrong
# requires: smp=4 timeout=400 soak
# requires: rooms="procfs samples instances"
. /run/prelude
D=/sys/kernel/debug/mmiotrace
test "$1" = 0 && ROUNDS=6 || ROUNDS=200
tracing_reset
cpus=$(grep -c ^processor /proc/cpuinfo)
cat $D/check > /dev/null
echo 16384 > buffer_size_kb

# on_each_cpu COMMAND: by a shell that is pinned to it; does not wait
on_each_cpu() {
	cpu=0
	while test $cpu -lt $cpus; do
		taskset $((1 << cpu)) sh -c "$1" &
		cpu=$((cpu + 1))
	done
}

# exactly FILE LINES: 2000 rounds of it on each CPU at a time make so many lines; the other devices go on meanwhile
exactly() {
	echo > trace
	on_each_cpu "echo 2000 > $D/$1"
	wait
	same "$cpus CPUs, 2000 times $1 each" $(($2 * cpus)) "$(grep -c "^[RW] . [0-9.]* $map " trace)"
}

mkdir -p instances/load
echo function > instances/load/current_tracer
rm -f /tmp/stop
on_each_cpu "while test ! -e /tmp/stop; do echo 200 > $D/check; echo 200 > $D/irqs_off; echo 3 > $D/map; echo . > /dev/console; done"
round=0
while test $round -lt $ROUNDS; do
	echo mmiotrace > current_tracer
	test $((round % 5)) = 0 && echo 2 > $D/unknown
	test $((round % 4)) = 0 && sleep 0.02
	await "round $round: an access is traced" grep -q -E '^[RW] ' trace
	echo nop > current_tracer
	round=$((round + 1))
done
touch /tmp/stop
wait
same 'values read that were not written' 'wrong: 0' "$(cut -d ' ' -f 3- < $D/check)"
echo mmiotrace > current_tracer
map=$(grep "^MAP .* $(tr -d , < $D/check | cut -d ' ' -f 2) .* 0x1000 " trace | cut -d ' ' -f 3)
exactly write 2000
exactly check 4000
echo nop > current_tracer
echo nop > instances/load/current_tracer
rmdir instances/load
echo 100 > $D/check
same 'values at the end' 'wrong: 0' "$(cut -d ' ' -f 3- < $D/check)"
dmesg | grep -q -E 'Oops|WARNING|BUG' && fail "$(dmesg | grep -E 'Oops|WARNING|BUG')"
finish
