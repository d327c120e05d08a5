#!/bin/sh
# description: policies of all classes changed at random while tasks wake, migrate and end: none is lost
# requires: smp=4 timeout=200 progs="dlsmp"
# requires: rooms="procfs"
. /run/prelude
dlsmp storm || fail dlsmp
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
grep -q '^dl_total_bw *: 0$' /sys/kernel/debug/sched/debug || fail 'bandwidth was lost'
finish
