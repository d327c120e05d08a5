#!/bin/sh
# description: boots on every machine that we name, all of it traced, with the usual file systems in place
# requires: smp=1,4 irqchip=all cpu=all append="ftrace=function_graph trace_event=*:* stacktrace"
# requires: rooms="procfs"
fail() { echo "boots: $1"; exit 1; }
grep -q '^Vitrine version' /proc/version || fail '/proc/version does not say who we are'
test -c /dev/null || fail '/dev/null is no character device'
test -f /sys/kernel/tracing/available_tracers || fail 'no tracefs'
test -f /sys/kernel/debug/tracing/available_tracers || fail 'no tracefs in its old place'
cd /sys/kernel/tracing
echo 0 > tracing_on
echo > set_event # what the next lines do is not recorded
for cpu in per_cpu/*; do
	grep -q '^entries: [1-9]' $cpu/stats || fail "$cpu: nothing was recorded"
done
test "$(cat current_tracer)" = function_graph || fail 'no tracer'
grep -q '[1-9]' stack_max_size || fail 'no stack was measured'
test "$(cat /proc/self/comm)" = cat || fail '/proc/self is somebody else'
