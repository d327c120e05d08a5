#!/bin/sh
# description: the bounds of times, of clocks and of what a process may use are Linux's
# requires: smp=2 timeout=120 progs="timelimits rlimits"
# requires: rooms="pidfd procfs ranges rseq select"
. /run/prelude
timelimits || fail timelimits
rlimits || fail rlimits
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
