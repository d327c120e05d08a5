#!/bin/sh
# description: deadline tasks on four CPUs: affinity, admission, the four earliest deadlines run and no other
# requires: smp=4 timeout=200 progs="dlsmp"
# requires: rooms="procfs"
. /run/prelude
dlsmp affinity admission earliest || fail dlsmp
grep -q '^dl_total_bw *: 0$' /sys/kernel/debug/sched/debug || fail 'bandwidth was lost'
finish
