#!/bin/sh
# description: mmiotrace: each access to a device has a line with its width, address and value, on all CPUs; mappings that come and go; an instruction that is not known
# requires: smp=4;1 irqchip=all timeout=240
# requires: rooms="procfs samples instances"
. /run/prelude
D=/sys/kernel/debug/mmiotrace
tracing_reset
cpus=$(grep -c ^processor /proc/cpuinfo)
phys=$(tr -d , < $D/write | cut -d ' ' -f 2)
number='[0-9]+\.[0-9]{6}'

wrong() {
	same "values read that were not written, $1" 'wrong: 0' "$(cut -d ' ' -f 3- < $D/check)"
}

# The page's mapping is one of those that stand at the beginning, and has a number.
echo mmiotrace > current_tracer
map=$(grep -E "^MAP $number [0-9]+ $phys " trace | cut -d ' ' -f 3)
test -n "$map" || fail "no MAP line of $phys: $(grep -c ^MAP trace) others"
echo 3 > $D/write
grep -E "^[RW] . $number $map " trace | sed 's/[0-9]*\.[0-9]*/T/; s/0xffff[0-9a-f]*/PC/' | cut -d ' ' -f 1-4,6- > /tmp/got
cat > /tmp/wanted << END
W 4 T $map 0x0 PC $$
W 4 T $map 0x1 PC $$
W 4 T $map 0x2 PC $$
END
same 'three writes' "$(cat /tmp/wanted)" "$(cat /tmp/got)"

# Every line is of one of Linux's kinds.
echo > trace
echo 400 > $D/check
echo 40 > $D/irqs_off
echo some words > trace_marker
echo 2 > $D/map
grep -v '^#' trace | grep -v -E \
	-e '^VERSION 20070824$' \
	-e '^PCIDEV [0-9a-f]{4} [0-9a-f]{8} [0-9a-f]+( [0-9a-f]+){14} [-a-z0-9_]*$' \
	-e "^[RW] [1248] $number [0-9]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ [0-9]+\$" \
	-e "^MAP $number [0-9]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x0 [0-9]+\$" \
	-e "^UNMAP $number [0-9]+ 0x0 [0-9]+\$" \
	-e "^MARK $number some words\$" > /tmp/other && fail "a line of another kind: $(head -n 1 /tmp/other)"
same marks 1 "$(grep -c ^MARK trace)"
# Every device of the bus has its line: where there is a bus, there are a bridge and something behind it.
test "$(grep -c '^PCIDEV ' trace)" = 1 && fail "one device of the PCI bus: $(grep '^PCIDEV ' trace)"
same 'devices of the PCI bus' "$(grep '^PCIDEV ' trace | cut -d ' ' -f 2 | sort -u)" "$(grep '^PCIDEV ' trace | cut -d ' ' -f 2)"
for width in 1 2 4 8; do
	for kind in R W; do
		same "$kind of $width bytes" 110 "$(grep -c -E "^$kind $width $number $map " trace)"
	done
done
wrong 'all widths'

# Two mappings that come and go: a line each, with the address that was asked for, and an access each way between.
grep -E '^(MAP|UNMAP)' trace > /tmp/maps
same 'mappings and ends' 4 "$(wc -l < /tmp/maps)"
first=$(sed -n 1p /tmp/maps | cut -d ' ' -f 3)
same 'the second has the next number' $((first + 1)) "$(sed -n 3p /tmp/maps | cut -d ' ' -f 3)"
same 'the end of the first' "UNMAP $first" "$(sed -n 2p /tmp/maps | cut -d ' ' -f 1,3)"
same 'its length' 0x40 "$(sed -n 1p /tmp/maps | cut -d ' ' -f 6)"
at=$(sed -n 1p /tmp/maps | cut -d ' ' -f 4)
same 'its accesses' "W $((at + 4)) 0x0 R $((at + 4)) 0x0" "$(grep -E "^[RW] 4 $number $first " trace | while read -r kind width time id at value rest; do
	echo -n "$kind $((at)) $value "
done | sed 's/ $//')"

# All CPUs at a time, and none is lost. The buffer is large enough for all.
echo 8192 > buffer_size_kb
echo > trace
cpu=0
while test $cpu -lt $cpus; do
	taskset $((1 << cpu)) sh -c "echo 4000 > $D/check; echo 2000 > $D/irqs_off" &
	cpu=$((cpu + 1))
done
wait
same "$cpus CPUs: writes" $((6000 * cpus)) "$(grep -c -E "^W . $number $map " trace)"
same "$cpus CPUs: reads" $((6000 * cpus)) "$(grep -c -E "^R . $number $map " trace)"
wrong 'all CPUs'

# tracing_on 0: accesses are made all the same.
echo 0 > tracing_on
echo > trace
echo 1000 > $D/check
same 'lines while tracing is off' 0 "$(grep -c "^[RW]" trace)"
wrong 'tracing off'
echo 1 > tracing_on

# An instruction that is not known: a line with its bytes, one in the log, and the page is not traced any more.
echo > trace
echo 5 > $D/unknown
echo 5 > $D/write
same 'lines of unknown instructions' 1 "$(grep -c -E "^UNKNOWN $number $map 0x[0-9a-f]+ ([0-9a-f]{2},)+[0-9a-f]{2} 0x[0-9a-f]+ $$\$" trace)"
bytes=$(sed -n 's/^UNKNOWN [0-9.]* [0-9]* 0x[0-9a-f]* \([0-9a-f,]*\) .*/\1/p' trace | tr -d ,)
same 'the bytes that the log has' "$(dmesg | sed -n 's/.*mmiotrace: .* by an instruction that is not known (\([0-9a-f]*\)).*/\1/p')" "$bytes"
# A load comes before the additions.
same 'lines after it' 'R 4' "$(grep -E "^[RW] . $number $map " trace | cut -d ' ' -f 1,2)"
same 'lines in the log' 1 "$(dmesg | grep -c 'mmiotrace: .* by an instruction that is not known')"
wrong 'unknown instructions'

# The next time it is traced again; and not after the end.
echo nop > current_tracer
echo mmiotrace > current_tracer
echo 5 > $D/write
same 'lines when selected again' 5 "$(grep -c -E "^W 4 $number $map " trace)"
echo nop > current_tracer
echo 5 > $D/write
same 'lines after the end' 0 "$(grep -c -E "W 4 $number $map " trace)"

# A CPU that does nothing but access the page, and so has it in its TLB, is traced from when the tracer is selected.
if test $cpus -gt 1; then
	rm -f /tmp/stop
	taskset 2 sh -c "while test ! -e /tmp/stop; do echo 10000000 > $D/write; done" &
	usleep 100000
	echo mmiotrace > current_tracer
	for try in $(seq 100); do
		grep -q -E "^W 4 $number $map " trace && break
		usleep 100000
	done
	grep -q -E "^W 4 $number $map " trace || fail 'a CPU that went on accessing the page is not traced'
	touch /tmp/stop
	echo nop > current_tracer
	wait
fi

# trace_pipe begins with what a reader must know, and marks what is lost.
echo mmiotrace > current_tracer
echo begin > trace_marker
# piped: what trace_pipe has now, in /tmp/pipe. With recording off it ends when all is read.
piped() {
	echo 0 > tracing_on
	cat trace_pipe > /tmp/pipe
	echo 1 > tracing_on
}
piped
same 'the first line of trace_pipe' 'VERSION 20070824' "$(head -n 1 /tmp/pipe)"
same 'its marks' 1 "$(grep -c -E "^MARK $number begin\$" /tmp/pipe)"
same 'its mappings' "$(grep -c '^MAP' /tmp/pipe)" "$(grep -c -E "^MAP $number [0-9]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x0 $$\$" /tmp/pipe)"
echo 8 > buffer_size_kb
echo 5000 > $D/write
piped
grep -q -E '^MARK 0\.000000 Lost [0-9]+ events\.$' /tmp/pipe || fail "no line of what is lost: $(head -n 3 /tmp/pipe)"
same 'losses in the log' 1 "$(dmesg | grep -c 'mmiotrace has lost events')"

# Another tracer shows the state of an access: interrupts on, and off.
echo 1408 > buffer_size_kb
echo nop > current_tracer
echo mmiotrace > current_tracer
echo 1 > $D/write
echo 3 > $D/irqs_off # the third has four bytes
echo 1 > snapshot
echo nop > current_tracer
same 'interrupts off' '. d d' "$(echo $(grep -E " [RW] 4 $number $map " snapshot | sed 's/.*\] //' | cut -c 1))"
echo 0 > snapshot

# In an instance it is not to be had.
mkdir instances/one
{ echo mmiotrace > instances/one/current_tracer; } 2> /dev/null && fail 'an instance took it'
rmdir instances/one
echo nop > current_tracer
dmesg | grep -E 'Oops|WARNING|BUG' && fail 'the kernel complained'
finish
