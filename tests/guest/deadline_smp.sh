#!/bin/sh
# description: deadline tasks on four CPUs: affinity, admission, no deadline missed that global EDF promises
# requires: smp=4 icount timeout=300 progs="dlsmp"
. /run/prelude
dlsmp affinity admission feasible || fail dlsmp
grep -q '^dl_total_bw *: 0$' /proc/sched_debug || fail 'bandwidth was lost'
finish
