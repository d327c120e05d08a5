#!/bin/sh
# description: root's large requests look at what is available, fail with ENOMEM, and leave no task killed and no page behind
# requires: smp=2 mem=128M,256M timeout=120
# requires: rooms="hist oom procfs triggers instances"
. /run/prelude
cd $T
sleep 100000 &
sleeper=$!
echo 1408 > buffer_size_kb # it has its size from now on, and not at the first event
settled
before=$(meminfo MemFree)
size=$(cat buffer_size_kb)

# refused WHAT TEXT FILE: the write fails for want of memory, and what it has taken is back
refused() {
	(echo "$2" > $3) 2> /tmp/said && fail "$1: '$2' was taken"
	grep -q 'Cannot allocate memory' /tmp/said || fail "$1: $(cat /tmp/said)"
	is_back "$1" 1024 $before
}

test $(meminfo MemAvailable) -lt $(($(meminfo MemFree) - $(meminfo MemTotal) / 17)) || fail 'the reserve counts as available'
mkdir instances/a
before=$(meminfo MemFree)
for kib in $(meminfo MemAvailable) $(($(meminfo MemTotal) * 2)); do
	refused 'the buffer' $kib buffer_size_kb
	refused 'the buffer of a CPU' $((kib + 1024)) per_cpu/cpu1/buffer_size_kb
	refused 'the buffer of an instance' $kib instances/a/buffer_size_kb
	holds 'the size is what it was' buffer_size_kb $size
done
# A buffer that takes three eighths of what is available, and its snapshot: there is no room for a third one.
echo $(($(meminfo MemAvailable) * 3 / 16)) > buffer_size_kb || fail 'a size that fits is refused'
echo 1 > snapshot || fail 'a snapshot that fits is refused'
mkdir instances/b
before=$(meminfo MemFree)
refused 'the buffer of an instance, beside two' $(cat buffer_size_kb) instances/b/buffer_size_kb
echo 0 > snapshot

# Tables, when a buffer leaves 6 MiB of what is available.
echo $((($(meminfo MemAvailable) - 6144) / 2 + $(cat buffer_size_kb))) > buffer_size_kb || fail 'a size that fits is refused'
echo x > trace_marker
before=$(meminfo MemFree)
for keys in common_pid stacktrace common_stacktrace,common_pid; do
	refused "a histogram by $keys" "hist:keys=$keys:vals=hitcount:size=131072:sort=hitcount" events/sched/sched_switch/trigger
	test -z "$(grep -v '^#' events/sched/sched_switch/trigger)" || fail "the trigger is there"
	grep -q x trace || fail 'the trace is gone'
done
echo 'hist:keys=common_pid:size=128' > events/sched/sched_switch/trigger || fail 'a small table is refused'
echo 32768 > saved_cmdlines_size || fail 'a table of 1 MiB is refused'
test $before -gt $(($(meminfo MemTotal) / 16)) || fail 'the reserve is gone'
kill -0 $sleeper || fail 'a task that sleeps is gone'
dmesg | grep -E 'Killed process|invoked oom-killer|allocation failure|Oops|BUG|WARNING' && fail 'the kernel complained'
finish
