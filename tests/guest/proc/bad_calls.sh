#!/bin/sh
# description: wrong pointers, sizes and descriptors to every system call; programs cut short or with bits flipped
# requires: smp=2 timeout=240 progs="badcalls badelf" soak
# requires: rooms="procfs"
. /run/prelude
badcalls 1 $1 || fail badcalls
badelf || fail badelf
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
