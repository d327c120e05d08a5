#!/bin/sh
# description: deadline tasks on one CPU: parameters, budgets and periods to the microsecond, order, admission
# requires: icount timeout=240 progs="dltest dlcalls"
. /run/prelude
dlcalls || fail dlcalls
dltest || fail dltest
grep -q '^dl_total_bw *: 0$' /proc/sched_debug || fail 'bandwidth was lost'
finish
