#!/bin/sh
# description: epoll, eventfd, timerfd, signalfd, pidfds, flock and memfd_create, as the same programs find them on Linux
# requires: smp=4;1 timeout=120 progs="eventtest timerfds pidfdtest flocktest filelocks"
# requires: rooms="anon locks memfd pidfd procfs"
. /run/prelude
for program in eventtest timerfds pidfdtest flocktest filelocks; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
