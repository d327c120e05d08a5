#!/bin/sh
# description: boots on every machine that we name, with the usual file systems in place
# requires: smp=1,4 irqchip=all cpu=all
fail() { echo "boots: $1"; exit 1; }
grep -q '^Vitrine version' /proc/version || fail '/proc/version does not say who we are'
test -c /dev/null || fail '/dev/null is no character device'
test -f /sys/kernel/tracing/available_tracers || fail 'no tracefs'
test -f /sys/kernel/debug/tracing/available_tracers || fail 'no tracefs in its old place'
test "$(cat /proc/self/comm)" = cat || fail '/proc/self is somebody else'
