#!/bin/sh
# description: a file system that is in use stays mounted, with all that is mounted inside it
# requires: smp=1 timeout=30
. /run/prelude
D=/tmp/debug
umount /sys/kernel/debug # its first mount is what brings tracing
mkdir $D
runs 'mounted' mount -t debugfs debugfs $D
cd $D
umount $D 2> /dev/null && fail 'a busy file system was unmounted'
test -f $D/tracing/current_tracer || fail 'debugfs lost its tracing'
cd /
runs 'not busy any more' umount $D
test -e $D/tracing && fail 'debugfs is still there'
runs 'and back' mount -t debugfs debugfs $D
test -f $D/tracing/current_tracer || fail 'tracing did not come back'
finish
