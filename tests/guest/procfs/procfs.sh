#!/bin/sh
# description: the files of /proc and /sys say what other sources of the same truth say; /dev is writable; mounts cover each other
# requires: smp=2 timeout=60 progs="proctasks madeup mapfiles"
# requires: rooms="anon memfd ranges"
. /run/prelude
for program in proctasks madeup mapfiles; do
	$program || fail $program
done

# -- counters against the trace: each softirq that is served leaves a record
served() {
	total=0
	for n in $(grep SCHED: /proc/softirqs | cut -d: -f2); do
		total=$((total + n))
	done
	echo $total
}
cd $T
echo 'vec == 5' > events/irq/softirq_entry/filter
echo 0 > tracing_on
echo > trace
echo 1 > events/irq/softirq_entry/enable
# Looked at on either side of both switches, the counters bracket the records; one softirq a CPU may be in between.
before=$(served)
echo 1 > tracing_on
on=$(served)
while test $(($(served) - on)) -le 20; do
	for n in 1 2 3 4; do
		seq 20000 > /dev/null &
	done
	wait
done
off=$(served)
echo 0 > tracing_on
after=$(served)
echo 0 > events/irq/softirq_entry/enable
echo 1 > tracing_on
records=$(grep -c 'softirq_entry: vec=5' trace)
test $((after - before + 2)) -ge $records || fail "softirqs: $before then $after, but $records records"
test $((off - on)) -le $((records + 2)) || fail "softirqs: $on then $off, for $records records"
same 'the names' 'HI TIMER TTY TRACE TASKLET SCHED HRTIMER RCU NET_RX' "$(echo $(grep : /proc/softirqs | cut -d: -f1))"
same 'columns' 'CPU0 CPU1' "$(echo $(head -1 /proc/softirqs))"
test "$(grep '^softirq ' /proc/stat | cut -d' ' -f2)" -ge $after || fail 'the sum in /proc/stat'

# -- the sum of all interrupts: between what the lines of /proc/interrupts add up to before and afterwards
interrupts() {
	total=0
	for n in $(grep -v -e UNK: -e CPU0 /proc/interrupts | cut -d: -f2 | tr -s ' ' | cut -d' ' -f2,3); do
		total=$((total + n))
	done
	echo $total
}
for turn in 1 2 3 4 5 6 7 8; do
	before=$(interrupts)
	sum=$(grep '^intr ' /proc/stat | cut -d' ' -f2)
	after=$(interrupts)
	test $before -gt 0 -a $sum -ge $before -a $sum -le $after || fail "interrupts: $before, then a sum of $sum, then $after"
done
cd /

# -- user time is user time
user() {
	grep '^cpu ' /proc/stat | tr -s ' ' | cut -d' ' -f2
}
before=$(user)
i=0
while [ $(user) -le $((before + 2)) ] && [ $i -lt 300 ]; do
	seq 3000 > /dev/null
	i=$((i + 1))
done
test $i -lt 300 || fail 'user time of /proc/stat stands still'

# -- memory
kb() {
	grep "^$1:" /proc/meminfo | tr -dc 0-9
}
same 'zoneinfo, managed' $(kb MemTotal) $(($(grep managed /proc/zoneinfo | tr -dc 0-9) * 4))
near() {
	test $(($2 - $3)) -lt 2000 -a $(($3 - $2)) -lt 2000 || fail "$1: $2 and $3"
}
near 'zoneinfo, free' $(kb MemFree) $(($(grep 'pages free' /proc/zoneinfo | tr -dc 0-9) * 4))
near 'vmstat, free' $(kb MemFree) $(($(grep nr_free_pages /proc/vmstat | tr -dc 0-9) * 4))
faults=$(grep pgfault /proc/vmstat | tr -dc 0-9)
ls / > /dev/null
test $(($(grep pgfault /proc/vmstat | tr -dc 0-9) - faults)) -gt 20 || fail 'a program ran without a page fault'
grep -q 'System RAM' /proc/iomem || fail 'no RAM in iomem'
ram=0
for range in $(sed -n 's/ : System RAM$//p' /proc/iomem); do
	ram=$((ram + 0x${range#*-} + 1 - 0x${range%-*}))
done
same 'RAM in the log' $((ram / 1024))K "$(dmesg | grep 'Memory: ' | cut -d/ -f2 | cut -d' ' -f1)"
grep -q '^  [0-9a-f]*-[0-9a-f]* : Kernel code' /proc/iomem || fail 'the kernel is not in RAM'

# -- tables of what there is none of are as Linux shows them
for table in modules partitions diskstats locks; do
	same $table 0 $(wc -c < /proc/$table)
done
same swaps 'Filename Type Size Used Priority' "$(echo $(cat /proc/swaps))"

# -- devices and consoles
for node in null tty; do
	major=$(stat /dev/$node | tr ' ' '\n' | grep -A1 type: | tail -1 | cut -d, -f1)
	test -n "$major" || major=$(ls -l /dev/$node | tr -s ' ' | cut -d' ' -f5 | tr -d ,)
	grep -q "^ *$major " /proc/devices || fail "/proc/devices has no major $major of $node"
done
# Only 5 stands there under two names. Each has one line, also those that devices.c has no name for.
same 'majors that stand there twice' 5 "$(sed -n 's/^ *\([0-9]*\) .*/\1/p' /proc/devices | sort | uniq -d)"
console=$(grep 'EC' /proc/consoles | cut -d' ' -f1)
test -c /dev/$console || fail "/proc/consoles: $(cat /proc/consoles)"
same 'consoles that are on' 1 $(wc -l < /proc/consoles)

# -- timers: a sleeper's is among them
sleep 100 &
sleeper=$!
i=0
while ! grep -q hrtimer_wakeup /proc/timer_list && [ $i -lt 1000 ]; do
	i=$((i + 1))
done
grep -q hrtimer_wakeup /proc/timer_list || fail "no timer of a sleeper: $(cat /proc/timer_list)"
grep -q '^nr_voluntary_switches *: *[0-9]' /proc/$sleeper/sched || fail 'sched of a sleeper'
kill $sleeper

# -- the log
first=$(head -1 /proc/kmsg)
test "${first#<}" != "$first" || fail "kmsg: $first"
dmesg | head -40 | grep -qF "${first#<?>}" || fail "kmsg and dmesg differ: $first"

# Five bytes of a line are read, then new lines overwrite the rest: the next read begins with a whole line.
echo 'a line' > /dev/kmsg
same 'the beginning of a line' 5 $(dd if=/proc/kmsg bs=5 count=1 2> /dev/null | wc -c)
line=$(printf '%0500d' 0)
i=0
while [ $i -lt 1000 ]; do
	echo "<7>$line"
	i=$((i + 1))
done > /dev/kmsg
same 'a line that was half read is gone' '<' "$(dd if=/proc/kmsg bs=1 count=1 2> /dev/null)"
runs 'everything on the console' dmesg -n 8
runs 'and less again' dmesg -n 7

# -- numbers: a load has two decimals, a stopper comes before every priority
grep -qE '^([0-9]+[.][0-9]{2} ){3}[0-9]+/[0-9]+ [0-9]+$' /proc/loadavg || fail "loadavg: $(cat /proc/loadavg)"
for task in /proc/[0-9]*; do
	test "$(cat $task/comm)" = migration/0 && break
done
same "a stopper's priority" -100 $(cut -d' ' -f18 $task/stat)

# -- the scheduler's view of the shell, which sleeps meanwhile
cat /proc/$$/sched > /tmp/sched
names='se.exec_start se.vruntime se.sum_exec_runtime se.nr_migrations nr_switches nr_voluntary_switches nr_involuntary_switches se.load.weight policy prio'
same 'names of sched' "$names" "$(echo $(tail -n +3 /tmp/sched | sed 's/ *:.*//'))"
of() {
	grep "^$1 " /tmp/sched | sed 's/.*: *//'
}
same 'switches' $(of nr_switches) $(($(of nr_voluntary_switches) + $(of nr_involuntary_switches)))

# -- what can be set has its effect, what has none is refused
is_uuid() {
	grep -qE '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' $1 || fail "$1: $(cat $1)"
	same "$1: 36 characters and a line's end" 37 $(cat $1 | wc -c)
}
K=/proc/sys/kernel
is_uuid $K/random/uuid
is_uuid $K/random/boot_id
same 'boot_id stays' "$(cat $K/random/boot_id)" "$(cat $K/random/boot_id)"
test "$(cat $K/random/uuid)" != "$(cat $K/random/uuid)" || fail 'uuid is the same twice'
holds 'CAP_CHECKPOINT_RESTORE is the last' $K/cap_last_cap 40
echo 7 > $K/panic
holds 'set' $K/panic 7
echo -1 > $K/panic
was=$(cat $K/panic_on_oops)
for on in 0 1 0; do
	echo $on > $K/panic_on_oops || fail "panic_on_oops takes no $on"
	holds 'set' $K/panic_on_oops $on
done
for pair in panic:x dmesg_restrict:1x dmesg_restrict:x dmesg_restrict:2 panic_on_oops:2 randomize_va_space:3; do
	echo ${pair#*:} 2> /dev/null > $K/${pair%:*} && fail "$pair was taken"
done
holds 'as it was' $K/dmesg_restrict 0
holds 'as it was' $K/panic_on_oops 0
echo $was > $K/panic_on_oops
holds 'as Linux begins' $K/randomize_va_space 2
echo 0 > $K/randomize_va_space
holds 'set' $K/randomize_va_space 0
echo 2 > $K/randomize_va_space
holds 'memory is promised' /proc/sys/vm/overcommit_memory 1
echo 2 2> /dev/null > /proc/sys/vm/overcommit_memory && fail 'overcommit_memory takes what is not there'
holds 'no fault so far' $K/tainted 0

# -- mounts: each of proc is its own, one covers the other, what is there already is no failure
same 'mounts and mountinfo' "$(cut -d' ' -f2 /proc/mounts)" "$(cut -d' ' -f5 /proc/self/mountinfo)"
mkdir /tmp/p
runs 'proc again' mount -t proc second /tmp/p
test "$(stat /proc/version | grep Device | cut -d, -f2)" != "$(stat /tmp/p/version | grep Device | cut -d, -f2)" ||
	fail 'two mounts of proc have one device number'
runs 'proc over proc' mount -t proc proc /proc
same 'three of them' 3 $(grep -c ' proc ' /proc/mounts)
umount /proc
test -e /proc/self || fail '/proc is gone with what was over it'
runs 'one goes' umount /tmp/p
test -e /proc/self || fail '/proc is gone with another mount'
mount -t proc -o hidepid=2 proc /tmp/p 2> /dev/null && fail 'proc takes an option that it does not have'
runs 'a tutorial begins' mount -t tracefs nodev $T > /dev/null
runs 'and another' mount -t debugfs nodev /sys/kernel/debug > /dev/null
runs 'sysfs too' mount -t sysfs sysfs /sys > /dev/null
mount -t tmpfs over $T
test -e $T/trace && fail 'what covers tracefs does not cover it'
test -e /sys/kernel/debug/tracing/trace || fail 'covering tracefs here covered it there'
umount $T
test -e $T/trace || fail 'tracefs did not come out again'
umount $T
runs 'all of fstab' mount -a
test -e $T/trace || fail 'mount -a did not mount tracefs'
umount $T
runs 'one by fstab' mount $T
mount /nowhere 2> /dev/null && fail 'mount of what fstab does not know'

# -- /dev takes what root makes, and sysfs has the CPUs
runs 'a folder' mkdir /dev/own
runs 'a link' ln -s null /dev/nil
echo gone > /dev/nil
rm /dev/nil
rmdir /dev/own
test -d /dev/pts || fail 'no /dev/pts'
grep -q '^tmpfs /dev/shm tmpfs rw,nosuid,nodev' /proc/mounts || fail "/dev/shm: $(grep shm /proc/mounts)"
cp /bin/true /dev/shm/true && /dev/shm/true || fail '/dev/shm does not hold files'
holds 'CPUs' /sys/devices/system/cpu/online 0-1
same 'their folders' "$(grep -c ^processor /proc/cpuinfo)" "$(ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l)"
mount -t sysfs other /tmp/p
test -d /tmp/p/kernel/tracing || fail 'no place for tracefs in sysfs'
test -e /tmp/p/kernel/tracing/trace && fail 'what is mounted in one place is seen in another'
umount /tmp/p
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
# -- names that Linux has on the same ways: a write to /proc, and the end of the console's lock
cd $T
echo proc_reg_write console_unlock > set_ftrace_filter
echo 1 > options/funcgraph-retval
echo function_graph > current_tracer
sh -c 'echo text > /proc/interrupts' 2> /tmp/said && fail 'a file of /proc without a use for text took one'
grep -q 'Input/output error' /tmp/said || fail "a text for /proc/interrupts: $(cat /tmp/said)"
runs 'a setting' sysctl kernel.panic=0
cat /proc/consoles > /dev/null
echo 0 > tracing_on
grep -q 'proc_reg_write(); /\* = -5 \*/' trace || fail 'the write that was refused'
grep -q 'proc_reg_write(); /\* = 0x[1-9a-f]' trace || grep -q 'proc_reg_write(); /\* = [1-9]' trace || fail 'the write that was taken'
grep -q 'console_unlock();' trace || fail 'the lock of the console'
same 'a setting that is not shown' '' "$(sysctl -qw kernel.panic=0)"
same 'and one that is' 'kernel.panic = 0' "$(sysctl -w kernel.panic=0)"
echo nop > current_tracer
echo > set_ftrace_filter
echo 0 > options/funcgraph-retval
echo 1 > tracing_on
finish
