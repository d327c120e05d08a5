#!/bin/sh
# description: files, names and descriptors at their edges, as Linux has them
# requires: smp=2 timeout=120 progs="filetest nametest fdtest edgetest limittest"
. /run/prelude
cd /tmp
for program in filetest nametest fdtest edgetest limittest; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
