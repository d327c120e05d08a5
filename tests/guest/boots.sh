#!/bin/sh
# description: boots on every machine that we name, with all CPUs online and the usual file systems in place
# requires: smp=1,4 gic=2,3 cpu=cortex-a57,max
set -e
grep -q '^Vitrine\|^Linux' /proc/version
test -c /dev/null
test -f /sys/kernel/tracing/available_tracers
test -f /sys/kernel/debug/tracing/available_tracers
test "$(cat /proc/self/comm)" = cat
