#!/bin/sh
# description: sysprof samples every CPU at its period, also with interrupts off; the file of the period; what is on a line; nothing interrupts before and afterwards
# requires: smp=2 icount irqchip=all timeout=120 progs="profile"
# requires: rooms="dynevents procfs sampler samples"
. /run/prelude
tracing_reset
echo 4096 > buffer_size_kb
SAMPLE=sysprof_sample_period

# refused TEXT: EINVAL, and the period is what it was
refused() {
	before=$(cat $SAMPLE)
	said=$( { echo "$1" > $SAMPLE; } 2>&1)
	case $said in
	*'nvalid argument'*) ;;
	*) fail "'$1' as a period: '$said'" ;;
	esac
	holds "after '$1'" $SAMPLE "$before"
}

# taken TEXT WANTED
taken() {
	runs "a period of $1" sh -c "echo $1 > $SAMPLE"
	holds "after $1" $SAMPLE $2
}

# samples: how many begin
samples() {
	grep -c ': # 0 0 ' trace
}

# -- the file
holds 'by default' $SAMPLE 1000
for text in x 1x -1 '' 10000001 9999999999999999; do
	refused "$text"
done
taken 10000000 10000000
taken 99 100
taken 0 100
taken 250 250

# -- nobody is interrupted while the tracer is off
off=$(grep '^NMI:' /proc/interrupts)
sleep 0.02
same 'NMIs before' "$off" "$(grep '^NMI:' /proc/interrupts)"

# -- a section with interrupts off is seen, at the period: 30 ms have 120 samples of 250 us, the first perhaps before
echo sysprof > current_tracer
refused 7x
echo 30000 > /sys/kernel/debug/latency/irqs_off
echo 0 > tracing_on
spin=$(grep ' plant_spin$' /proc/kallsyms | cut -d ' ' -f 1)
same 'the function is there' 16 ${#spin}
# The shell's numbers are signed, as the trace's are.
from=$((0x$spin))
inside=0
grep -o ' [dDb.][.nNp]\.[^ ]* .*: # [01] [0-9-]*' trace | tr -s ' ' > /tmp/frames
before=
while read -r flags time mark id pc; do
	# The frame behind the beginning is where the CPU was.
	case $flags$id$before in
	d*10) test $pc -ge $from && test $pc -lt $((from + 256)) && inside=$((inside + 1)) ;;
	esac
	before=$id
done < /tmp/frames
test $inside -ge 117 && test $inside -le 122 || fail "$inside samples in 30 ms with interrupts off"
grep -v '^#' trace | grep -v -E '^ *[^ ]+-[0-9]+ +\[00[01]\] [.dDb][.nNp][.HhsZz][.1-9][.1-9] +[0-9]+\.[0-9]{6}: # (0 0 [0-9]+|1 -[0-9]+ 0|2 [0-9]+ [0-9]+|3 [0-9]+ [0-9]+)$' > /tmp/odd
test -s /tmp/odd && fail "lines of another form: $(head -n 3 /tmp/odd)"
grep -q ': # 2 ' trace || fail 'no address of the program'

# -- the third number of the end is the depth: frames of the kernel and callers of the program
grep -o '# [0-3] [0-9-]* [0-9-]*$' trace | sed '1,/^# 3/d' > /tmp/samples
kernel=0 user=0 wrong=0
while read -r mark id address third; do
	case $id in
	0) kernel=0 user=0 ;;
	1) kernel=$((kernel + 1)) ;;
	2) user=$((user + 1)) ;;
	3) test $user -gt 0 && user=$((user - 1)); test $third = $((kernel + user)) || wrong=$((wrong + 1)) ;;
	esac
done < /tmp/samples
same 'ends with another depth' 0 $wrong

# -- off: nothing comes any more; recording off: the tracer stays
echo > trace
same 'samples while recording is off' 0 $(samples)
echo nop > current_tracer
off=$(grep '^NMI:' /proc/interrupts)
sleep 0.02
same 'NMIs afterwards' "$off" "$(grep '^NMI:' /proc/interrupts)"

# -- both CPUs at once, in user mode: 60 ms of a program each; the period is changed while they run. A busy host lets the virtual
# timers wait, and a CPU then has few samples: that is tried again.
both() {
	echo > trace
	echo 1 > tracing_on
	echo 1000 > $SAMPLE
	echo sysprof > current_tracer
	taskset 1 profile 6000 &
	taskset 2 profile 6000 &
	sleep 0.01
	echo 200 > $SAMPLE
	wait
	echo 0 > tracing_on
}
# sampled CPU: how many samples began in the program there
sampled() {
	grep -c "profile-[0-9]* *\[00$1\] .*: # 0 0 " trace
}
tries=0
both
while test $tries -lt 10 && test $(sampled 0) -lt 40 -o $(sampled 1) -lt 40; do
	echo nop > current_tracer
	both
	tries=$((tries + 1))
done
for cpu in 0 1; do
	n=$(sampled $cpu)
	test $n -ge 40 || fail "CPU $cpu: $n samples"
	grep "profile-[0-9]* *\[00$cpu\]" trace | grep -q ': # 2 ' || fail "CPU $cpu: nothing of the program"
done
echo nop > current_tracer

# -- an exception inside an NMI lets no other one in: breakpoints of kprobes where an NMI is served and a sample is taken,
# while page faults in read() need what the CPU has said about them
entry=do_fiq
test $(uname -m) = x86_64 && entry=default_do_nmi
optimization=$(cat /proc/sys/debug/kprobes-optimization)
echo 0 > /proc/sys/debug/kprobes-optimization
echo "p:served $entry" > kprobe_events
echo 'p:sample sysprof_sample' >> kprobe_events
echo 1 > events/kprobes/enable
echo 1 > tracing_on
echo 100 > $SAMPLE
echo sysprof > current_tracer
runs 'reads' dd if=/dev/zero of=/dev/null bs=4M count=4 2> /dev/null
echo 0 > tracing_on
echo nop > current_tracer
for event in served sample; do
	n=$(grep "^ *$event " kprobe_profile | tr -s ' ' | cut -d ' ' -f 3)
	test $n -gt 10 || fail "$event: $n hits"
done
echo 0 > events/kprobes/enable
echo > kprobe_events
echo $optimization > /proc/sys/debug/kprobes-optimization
same 'NMIs that nobody has sent' 0 "$(dmesg | grep -c Uhhuh)"
dmesg | grep -E 'Oops|WARNING|BUG|panic' && fail 'the kernel complained'
finish
