#!/bin/sh
# description: timers of timer_create: signals, exact overruns, threads, CPU time; clocks with numbers; as the same program finds them on Linux
# requires: smp=4;1 timeout=120 progs="posixtimers"
# requires: rooms="anon pidfd posix_timers procfs"
. /run/prelude
posixtimers || fail posixtimers
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
