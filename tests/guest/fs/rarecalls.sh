#!/bin/sh
# description: signals of files, what fdinfo tells, and bits and limits of calls that few programs make, as on Linux
# requires: smp=2 timeout=120 progs="sigiotest fdinfos rarecalls"
# requires: rooms="anon fasync inotify pidfd procfs ranges splice"
. /run/prelude
cd /tmp
for program in sigiotest fdinfos rarecalls; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
