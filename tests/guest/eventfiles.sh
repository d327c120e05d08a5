#!/bin/sh
# description: epoll, eventfd, timerfd, signalfd and pidfds, as the same programs find them on Linux
# requires: smp=1,4 timeout=120 progs="eventtest pidfdtest"
. /run/prelude
for program in eventtest pidfdtest; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
