#!/bin/sh
# description: a storm of fork, exec, stop and kill on all CPUs: every child is reaped, with a status it can have
# requires: smp=4;2 timeout=120 progs="killstorm"
# requires: rooms="procfs"
. /run/prelude
killstorm 6 3000 || fail killstorm
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
