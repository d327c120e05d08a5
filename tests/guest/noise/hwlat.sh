#!/bin/sh
# description: hwlat finds the time that a CPU was not run, to the turn of the emulator; its files take what Linux's take
# requires: smp=4;1,2 icount timeout=240
# requires: rooms="procfs instances"
. /run/prelude
tracing_reset
cd hwlat_detector
holds "at boot" width 500000
holds "at boot" window 1000000
holds "at boot" mode "none [round-robin] per-cpu "
cpus=$(grep -c ^processor /proc/cpuinfo)

# take: the tracer ends, and what it has written is in /tmp/lines. lines: the same while it runs. threads: how many it has.
lines() {
	grep -v '^#' $T/trace > /tmp/lines
}
take() {
	echo 0 > tracing_on
	lines
	echo nop > current_tracer
	echo 1 > tracing_on
}
threads() {
	ps | grep -c ' \[hwlatd'
}

# -- numbers and modes: what is refused changes nothing
refuses() {
	before=$(cat $1)
	{ printf "$2" > $1; } 2> /tmp/error && fail "$1 took '$2'"
	grep -q "$3" /tmp/error || fail "$1, '$2': $(cat /tmp/error)"
	holds "after '$2'" $1 "$before"
}
refuses width 1000001 'Invalid argument'
refuses window 499999 'Invalid argument'
refuses width many 'Invalid argument'
refuses width -1 'Invalid argument'
refuses width 99999999999999999999 'Numerical result out of range'
refuses mode all 'Invalid argument'
refuses mode '\n' 'Invalid argument'
echo 1000000 > width || fail 'a width as long as the window'
echo 100000 > width
echo 101000 > window
cd $T

# -- thresholds: 10 us when there is none, and what was there comes back; the last one of the tracer's own is kept
echo hwlat > current_tracer
same 'the threshold' 10 $(cat tracing_thresh)
echo 20 > tracing_thresh
echo nop > current_tracer
same 'the threshold of before' 0 $(cat tracing_thresh)
echo hwlat > current_tracer
same 'the threshold of the last run' 20 $(cat tracing_thresh)
echo 10 > tracing_thresh
echo nop > current_tracer

# -- with icount a CPU that has the emulator for itself never waits: not a line. A second tracer is refused.
if test $cpus = 1; then
	echo hwlat > current_tracer
	mkdir instances/other
	{ echo hwlat > instances/other/current_tracer; } 2> /tmp/error && fail 'a second hwlat'
	grep -q busy /tmp/error || fail "a second hwlat: $(cat /tmp/error)"
	rmdir instances/other
	becomes threads 1 threads
	sleep 0.5
	take
	same 'lines of an undisturbed CPU' 0 $(wc -l < /tmp/lines)
fi

# -- With a busy neighbour the emulator runs the CPUs in turn, each for 1000 us at most (tools/vrun --turn), so a sample of
# 100 ms has such gaps. The longest of several samples is a whole turn, and none is longer.
if test $cpus = 2; then
	echo none > hwlat_detector/mode
	echo 1 > tracing_cpumask
	taskset 2 sh -c 'while :; do :; done' &
	busy=$!
	# QEMU may leave a CPU without turns for as long as it likes (docs/latency.md): then begin at another moment.
	for try in 1 2 3 4 5 6 7 8; do
		echo > trace
		echo hwlat > current_tracer
		sleep 1
		take
		test $(wc -l < /tmp/lines) -ge 3 && break
		sleep 0.00$try
	done
	kill $busy
	wait
	echo 3 > tracing_cpumask
	test $(wc -l < /tmp/lines) -ge 3 || fail "lines beside a busy CPU: $(cat /tmp/lines)"
	grep -v '\[000\]' /tmp/lines && fail 'a sample of another CPU'
	grep -qE '^ +hwlatd-[0-9]+ +\[000\] [.dDb].... +[0-9]+\.[0-9]{6}: #1     inner/outer\(us\): ' /tmp/lines || fail "the first: $(head -n 1 /tmp/lines)"
	wall=$(date +%s)
	sed 's/.*(us): *//; s/ ts:/ /; s/\./ /; s/ count:/ /; s,/, ,' /tmp/lines > /tmp/fields
	while read inner outer seconds fraction count rest; do
		longest=$inner
		test $outer -gt $longest && longest=$outer
		test $longest -gt 10 && test $longest -le 1100 || fail "a gap of $longest us, the turn is 1000"
		test $count -ge 1 && test $count -le 100 || fail "$count gaps in 100 ms"
		test $((wall - seconds)) -ge 0 && test $((wall - seconds)) -le 3 || fail "at $seconds, it is $wall"
	done < /tmp/fields
	max=$(cat tracing_max_latency)
	test $max -ge 990 && test $max -le 1100 || fail "tracing_max_latency: $max"
	# A threshold beyond them: not a line.
	echo > trace
	taskset 2 sh -c 'while :; do :; done' &
	busy=$!
	echo 1200 > tracing_thresh
	echo hwlat > current_tracer
	sleep 0.5
	take
	echo 0 > tracing_thresh
	kill $busy
	wait
	same 'lines below the threshold' 0 $(wc -l < /tmp/lines)
	echo round-robin > hwlat_detector/mode
fi

# -- modes on four CPUs: who runs where. All CPUs are busy, so that each sample has its line.
if test $cpus = 4; then
	echo 10000 > hwlat_detector/width
	echo 11000 > hwlat_detector/window
	for mask in 1 2 4 8; do
		taskset $mask sh -c 'while test ! -e /tmp/stop; do :; done' &
	done
	echo 7 > tracing_cpumask
	echo hwlat > current_tracer
	becomes 'threads of round-robin' 1 threads
	while test $(grep -c ' #' trace) -lt 12; do sleep 0.1; done
	lines
	head -n 9 /tmp/lines | sed 's/.*\[00//; s/\].*//' > /tmp/turns
	# A sample that the emulator did not interrupt has no line, so one may be missing from the row.
	for cpu in 0 1 2; do
		test $(grep -c $cpu /tmp/turns) -ge 2 || fail "in turn: $(tr '\n' ' ' < /tmp/turns)"
	done
	same 'CPUs of round-robin' '0 1 2 ' "$(sort -u /tmp/turns | tr '\n' ' ')"
	echo per-cpu > hwlat_detector/mode
	holds 'a mode while it runs' hwlat_detector/mode 'none round-robin [per-cpu] '
	becomes 'threads of per-cpu' 3 threads
	echo > trace
	sleep 1
	lines
	same 'CPUs of per-cpu' '0 1 2 ' "$(sed 's/.*\[00//; s/\].*//' /tmp/lines | sort -u | tr '\n' ' ')"
	grep -vE ' hwlatd/0-[0-9]+ +\[000\] | hwlatd/1-[0-9]+ +\[001\] | hwlatd/2-[0-9]+ +\[002\] ' /tmp/lines &&
		fail 'a thread on another CPU'
	# Who gives the thread other CPUs ends the turns.
	echo round-robin > hwlat_detector/mode
	pid=$(ps | grep ' \[hwlatd\]' | sed 's/^ *//; s/ .*//')
	taskset -p 8 $pid > /dev/null
	sleep 1
	holds 'after the thread has been moved' hwlat_detector/mode '[none] round-robin per-cpu '
	echo 0 > tracing_on
	becomes 'threads while tracing is off' 0 threads
	echo 1 > tracing_on
	becomes 'threads when it is on again' 1 threads
	# An NMI, where there are such, is told apart: a request for backtraces comes to a CPU with interrupts off.
	if test $(uname -m) = x86_64; then
		echo per-cpu > hwlat_detector/mode
		echo 8 > tracing_cpumask
		echo 100000 > hwlat_detector/window
		echo 90000 > hwlat_detector/width
		echo nop > current_tracer
		echo > trace
		echo hwlat > current_tracer
		for i in 1 2 3 4 5 6 7 8; do
			taskset 1 sh -c 'echo l > /proc/sysrq-trigger'
			sleep 0.05
		done
		sleep 0.3
		grep -qE ' count:[0-9]+ nmi-total:[1-9][0-9]* nmi-count:[12]$' trace || fail "no NMI: $(grep -v '^#' trace | tail -n 4)"
	fi
	echo nop > current_tracer
	touch /tmp/stop
	wait
	echo f > tracing_cpumask
fi
# -- while hwlat has a threshold function_graph of another array goes by it, too: entries are left out
mkdir $T/instances/other
echo function_graph > $T/instances/other/current_tracer
ls / > /dev/null
grep -q '() {$' $T/instances/other/trace || fail 'function_graph records nothing'
echo hwlat > $T/current_tracer
echo > $T/instances/other/trace
ls / > /dev/null
same 'entries below the threshold' 0 "$(grep -c '() {$' $T/instances/other/trace)"
echo nop > $T/current_tracer
echo > $T/instances/other/trace
ls / > /dev/null
grep -q '() {$' $T/instances/other/trace || fail 'the threshold of hwlat stays'
echo nop > $T/instances/other/current_tracer
rmdir $T/instances/other

becomes 'threads at the end' 0 threads
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
