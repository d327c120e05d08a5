#!/bin/sh
# description: what is set aside is read to its end while each call of a function, or each section, sets aside a newer one
# requires: smp=4;2 icount mem=96M timeout=120
# requires: rooms="procfs commands"
. /run/prelude
tracing_reset

# read_ends WHAT FILE STOP...: FILE is read, four times, within five seconds of the guest each; else STOP ends the storm
read_ends() {
	what=$1 file=$2
	shift 2
	for round in 1 2 3 4; do
		cat $file > /tmp/read &
		reader=$!
		i=0
		while [ -d /proc/$reader/fd ] && grep -q '^State:.[RSD]' /proc/$reader/status && [ $i -lt 100 ]; do
			sleep 0.05
			i=$((i + 1))
		done
		if [ $i = 100 ]; then
			fail "$what: reading $file does not end"
			"$@"
			break
		fi
		wait $reader || fail "$what: reading $file ended with status $?"
		grep -q '^# tracer: ' /tmp/read || fail "$what: $file has no head"
	done
}

calm() {
	echo '!*:snapshot' > set_ftrace_filter
}

echo '*:snapshot' > set_ftrace_filter
read_ends 'a snapshot at each call' snapshot calm
read_ends 'a snapshot at each call' per_cpu/cpu1/snapshot calm
calm

# The reader has let go: the next one is taken.
echo 'do_nanosleep:snapshot:1' > set_ftrace_filter
echo word > trace_marker
sleep 0.01
same 'a snapshot after the storm' 1 "$(grep -c 'tracing_mark_write: word' snapshot)"
same 'in the buffer after it' 0 "$(grep -c 'tracing_mark_write: word' trace)"
echo '!do_nanosleep:snapshot:0' > set_ftrace_filter
echo 0 > snapshot

echo irqsoff > current_tracer
echo 1 > tracing_thresh
read_ends 'sections from 1 us on' trace eval 'echo 0 > tracing_thresh'
same 'the end of what is shown' 1 "$(grep -c '^# *=> ended at: ' /tmp/read)"
echo 0 > tracing_thresh
echo nop > current_tracer
finish
