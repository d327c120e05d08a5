#!/bin/sh
# description: capabilities, mlock, fallocate and seals, inotify, adjtimex, openat2, bind mounts: all but the last as on Linux
# requires: smp=1,4 timeout=240 progs="captest locktest sealtest inotest clocktest opentest bindtest"
# requires: rooms="adjust bind fallocate inotify memfd procfs ranges"
. /run/prelude
mkdir -p /tmp/calls
cd /tmp/calls
for program in captest locktest sealtest inotest clocktest opentest bindtest; do
	$program || fail $program
done
settled
remember_memory
for program in captest locktest sealtest inotest opentest bindtest; do
	$program > /tmp/out || fail "$program again: $(cat /tmp/out)"
done
settled
left_over
[ -z "$left" ] || fail "memory is lost: $left"

# A file system that is unmounted ends its watches, and a watch keeps nobody from unmounting it.
mkdir -p /tmp/fs
mount -t tmpfs tmpfs /tmp/fs || fail 'tmpfs'
inotest unmount /tmp/fs || fail 'unmount'
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
