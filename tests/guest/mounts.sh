#!/bin/sh
# description: a file system that is in use stays mounted, with all that is mounted inside it; a tmpfs holds what size= says
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

# -- tmpfs: so many bytes of files, rounded up to pages, and no more; what is freed can be had again
mkdir /tmp/small
runs 'a size' mount -t tmpfs -o mode=700,size=10k none /tmp/small
grep -q '^none /tmp/small tmpfs .*,size=12k ' /proc/mounts || fail "in /proc/mounts: $(grep small /proc/mounts)"
dd if=/dev/zero of=/tmp/small/a bs=1k count=100 2> /tmp/said && fail 'more than there is room for was written'
grep -q 'No space left on device' /tmp/said || fail "dd: $(cat /tmp/said)"
same 'written' 12288 "$(wc -c < /tmp/small/a)"
echo x 2> /dev/null > /tmp/small/b && fail 'a full file system took a byte'
rm /tmp/small/a
runs 'room again' sh -c 'echo x > /tmp/small/b'
runs 'and again' dd if=/dev/zero of=/tmp/small/a bs=1k count=8 2> /dev/null
rm /tmp/small/a
dd if=/dev/zero of=/tmp/small/holes bs=1 count=1 seek=60000 2> /dev/null
tohost /tmp/small/holes > /dev/null 2>&1
same 'a mapped hole that has no room ends with SIGBUS' 135 $?
runs 'a share of memory' mount -t tmpfs -o size=50% none /tmp/small
umount /tmp/small
umount /tmp/small
for bad in size= size=0 size=x size=5q size=101% size=1k1 size size=4k,mode=9 size=17179869185g nonsense; do
	mount -t tmpfs -o $bad none /tmp/small 2> /dev/null && fail "mount -o $bad"
done
mount -t ramfs -o size=4k none /tmp/small 2> /dev/null && fail 'ramfs has no limit'
finish
