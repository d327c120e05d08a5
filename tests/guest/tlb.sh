#!/bin/sh
# description: a change of an address space holds for its threads on all CPUs at once
# requires: smp=4;2 timeout=120 progs="tlbtest"
. /run/prelude
tlbtest || fail tlbtest
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
