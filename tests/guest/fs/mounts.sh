#!/bin/sh
# description: a file system that is in use stays mounted, with all that is mounted inside it; a tmpfs holds what size= says, the root half of memory
# requires: smp=1 mem=96M timeout=120 progs="sizetest traceowner"
# requires: rooms="bind procfs statfs"
. /run/prelude
D=/tmp/debug
same 'nothing is mounted there' 'umount: /mnt: not mounted' "$(umount /mnt 2>&1)"
same 'nothing is there' 'umount: /nosuch: No such file or directory' "$(umount /nosuch 2>&1)"
umount /sys/kernel/debug # its first mount is what brings tracing
mkdir $D
runs 'mounted' mount -t debugfs debugfs $D
cd $D
umount $D 2> /dev/null && fail 'a busy file system was unmounted'
test -f $D/tracing/current_tracer || fail 'debugfs lost its tracing'
cd /
exec 7< $D/tracing/trace_clock # tracing is in use, debugfs itself is not
umount $D 2> /dev/null && fail 'a file system was unmounted below an open file'
test -f $D/tracing/current_tracer || fail 'debugfs lost its tracing to an open file'
exec 7<&-
mount -t tmpfs none $D/sched
umount $D 2> /dev/null && fail 'a file system with a mount inside was unmounted'
umount $D/tracing
umount $D 2> /dev/null && fail 'the same without its own mount'
grep -q "^none $D/sched tmpfs" /proc/mounts || fail 'a mount of ours went with debugfs'
umount $D/sched
runs 'not busy any more' umount $D
test ! -e $D/tracing || fail 'debugfs stays'
runs 'mounted again' mount -t debugfs debugfs $D
test -f $D/tracing/current_tracer || fail 'tracing was not mounted again'
runs 'not busy' umount $D
test -e $D/tracing && fail 'debugfs is still there'
runs 'and back' mount -t debugfs debugfs $D
test -f $D/tracing/current_tracer || fail 'tracing did not come back'

# -- what was mistyped is named
same 'a type' 'mount: no file system type tracfs; /proc/filesystems has those there are' "$(mount -t tracfs nodev /tmp 2>&1)"
same 'a place' 'mount: no directory /tmp/nowhere to mount nodev on' "$(mount -t tracefs nodev /tmp/nowhere 2>&1)"
same 'a file for a place' 'mount: mounting nodev on /bin/sh failed: Not a directory' "$(mount -t tracefs nodev /bin/sh 2>&1)"

# -- whose the files of tracefs are; /proc/mounts has the options
umount /sys/kernel/tracing 2> /dev/null
runs 'a group that may trace' mount -t tracefs -o gid=1234 nodev /sys/kernel/tracing
grep -q ' /sys/kernel/tracing tracefs .*,gid=1234 ' /proc/mounts || fail "in /proc/mounts: $(grep tracefs /proc/mounts)"
same 'its directory' 1234 "$(stat -c %g /sys/kernel/tracing/events)"
cd /sys/kernel/tracing/events
runs 'a place by a relative name' mount -o remount,gid=4321 ..
same 'there' 4321 "$(stat -c %g /sys/kernel/tracing)"
cd /
mount -o remount,gid=0 /sys/kernel/tracing
traceowner || fail traceowner

# -- a mount that has left the tree lives on by its users, and takes no mounts: nobody could unmount them
mkdir /tmp/left
mount -t tmpfs none /tmp/left
cd /tmp/left
runs 'out of the tree, though in use' umount -l /tmp/left
mount -t tmpfs none . 2> /tmp/said && fail 'a mount on what is not in the tree'
grep -q 'Invalid argument' /tmp/said || fail "mount: $(cat /tmp/said)"
runs 'it lives on' sh -c 'echo x > file && cat file > /dev/null'
cd /
grep -q '^none ' /proc/mounts && fail "left behind: $(grep '^none ' /proc/mounts)"
rmdir /tmp/left || fail 'its place is in use'

# -- noatime: a read leaves no trace
mkdir /tmp/quiet
runs 'a mount with noatime' mount -t tmpfs -o noatime none /tmp/quiet
echo x > /tmp/quiet/file
accessed=$(stat -c %x /tmp/quiet/file)
cat /tmp/quiet/file > /dev/null
same 'not accessed' "$accessed" "$(stat -c %x /tmp/quiet/file)"
runs 'the usual way' mount -o remount,atime /tmp/quiet
cat /tmp/quiet/file > /dev/null
test "$(stat -c %x /tmp/quiet/file)" != "$accessed" || fail "a read does not move the access time, $accessed"
umount /tmp/quiet
rmdir /tmp/quiet

# -- tmpfs: so many bytes of files, rounded up to pages, and no more; what is freed can be had again
mkdir /tmp/small
runs 'a size' mount -t tmpfs -o mode=700,size=10k none /tmp/small
grep -q '^none /tmp/small tmpfs .*,size=12k,mode=700 ' /proc/mounts || fail "in /proc/mounts: $(grep small /proc/mounts)"
dd if=/dev/zero of=/tmp/small/a bs=1k count=100 2> /tmp/said && fail 'more than there is room for was written'
grep -q 'No space left on device' /tmp/said || fail "dd: $(cat /tmp/said)"
same 'written' 12288 "$(wc -c < /tmp/small/a)"
echo x 2> /dev/null > /tmp/small/b && fail 'a full file system took a byte'
rm /tmp/small/a
runs 'room again' sh -c 'echo x > /tmp/small/b'
runs 'and again' dd if=/dev/zero of=/tmp/small/a bs=1k count=8 2> /dev/null
rm /tmp/small/a
dd if=/dev/zero of=/tmp/small/holes bs=1 count=1 seek=60000 2> /dev/null
tohost -m /tmp/small/holes > /dev/null 2>&1
same 'a mapped hole that has no room ends with SIGBUS' 135 $?
runs 'a share of memory' mount -t tmpfs -o size=50% none /tmp/small
umount /tmp/small
umount /tmp/small

# -- 0 is no limit but the machine's
mount -t tmpfs -o size=0,nr_inodes=0 none /tmp/small
grep -q ',size=0k,nr_inodes=0 ' /proc/mounts || fail "unlimited: $(grep small /proc/mounts)"
dd if=/dev/zero of=/tmp/small/a bs=32k count=1048576 2> /dev/null
half=$(grep '^MemTotal:' /proc/meminfo | tr -dc 0-9)
test $(($(wc -c < /tmp/small/a) / 1024)) -gt $((half / 2)) || fail "no more than half of memory: $(wc -c < /tmp/small/a)"
rm /tmp/small/a
runs 'limited afterwards' mount -t tmpfs -o remount,size=4k none /tmp/small
dd if=/dev/zero of=/tmp/small/a bs=1k count=8 2> /dev/null && fail 'limited afterwards, and 8 KiB fit'
umount /tmp/small

# -- what statfs says is exact, whatever happens to the files; a remount changes the limits, but not below what is there
mount -t tmpfs -o size=256k,nr_inodes=20 none /tmp/small
grep -q ',size=256k,nr_inodes=20 ' /proc/mounts || fail "in /proc/mounts: $(grep small /proc/mounts)"
cd /tmp/small
sizetest || fail sizetest
cd /
dd if=/dev/zero of=/tmp/small/a bs=1k count=100 2> /dev/null
mount -t tmpfs -o remount,size=96k none /tmp/small 2> /dev/null && fail 'made smaller than what is in it'
mount -t tmpfs -o remount,size=x none /tmp/small 2> /dev/null && fail 'remount takes anything'
grep -q ',size=256k,nr_inodes=20 ' /proc/mounts || fail "after a refusal: $(grep small /proc/mounts)"
runs 'a smaller size' mount -t tmpfs -o remount,size=100k none /tmp/small
grep -q ',size=100k,nr_inodes=20 ' /proc/mounts || fail "remounted: $(grep small /proc/mounts)"
echo x 2> /dev/null >> /tmp/small/a && fail 'more than the new size'
umount /tmp/small

# -- the root file system has half of memory: then a write fails, programs start, and a removal gives all of it back
free_kib() { grep '^MemFree:' /proc/meminfo | tr -dc 0-9; }
# What was removed is given back after a grace period, which a busy host draws out: wait for it, at most 20 s.
comes_back() { # what, KiB free before, KiB that may be missing
	for look in $(seq 200); do
		test $(free_kib) -ge $(($2 - $3)) && return
		sleep 0.1
	done
	fail "$1 did not come back: $2 KiB free before, $(free_kib) after"
}
total=$(grep '^MemTotal:' /proc/meminfo | tr -dc 0-9)
before=$(free_kib)
said=$(dd if=/dev/zero of=/tmp/test bs=32k count=1048576 2>&1) && fail 'a file of 32 GiB fits'
test "${said#*No space left on device}" != "$said" || fail "dd: $said"
left=$((total / 2 - $(wc -c < /tmp/test) / 1024))
test $left -ge 0 && test $left -lt 16384 || fail "of half of $total KiB $left are left"
test $(free_kib) -gt $((total * 2 / 5)) || fail "only $(free_kib) KiB of $total are free"
# As many file systems as one likes: the last sixteenth of memory is not for files.
for i in 1 2 3; do
	mkdir -p /mnt/$i
	mount -t tmpfs none /mnt/$i
	dd if=/dev/zero of=/mnt/$i/test bs=32k count=1048576 2> /dev/null
done
test $(free_kib) -gt $((total / 17)) || fail "only $(free_kib) KiB of $total are free"
same 'a program still starts' 'still here' "$(sh -c 'echo still here | cat')"
for i in 1 2 3; do
	umount /mnt/$i
	rmdir /mnt/$i
done
rm /tmp/test
comes_back memory $before 256
# -- umount -l takes what is mounted inside along: it is seen no more, and its memory comes back
mkdir /tmp/outer
before=$(free_kib)
mount -t tmpfs none /tmp/outer
mkdir /tmp/outer/inner
mount -t tmpfs none /tmp/outer/inner
mkdir /tmp/outer/inner/deep
mount -t tmpfs none /tmp/outer/inner/deep
dd if=/dev/zero of=/tmp/outer/inner/deep/file bs=32k count=512 2> /dev/null
test $(free_kib) -lt $((before - 8192)) || fail 'a file of 16 MiB takes no memory'
cd /tmp/outer/inner
runs 'the whole tree' umount -l /tmp/outer
test -e deep/file && fail 'a mount is still seen inside one that was unmounted'
test -d deep || fail 'the place of the inner mount is gone'
test -d ../inner && fail 'a mount that was around is still seen from inside'
same 'the top of a mount that has left' "$(stat -c %i .)" "$(stat -c %i ..)"
grep -q '^none ' /proc/mounts && fail "left behind: $(grep '^none ' /proc/mounts)"
cd /
comes_back 'memory of an inner mount' $before 1024
# -- and that of the outer one comes back though the inner one is in use still
mount -t tmpfs none /tmp/outer
mkdir /tmp/outer/inner
mount -t tmpfs none /tmp/outer/inner
dd if=/dev/zero of=/tmp/outer/file bs=32k count=512 2> /dev/null
cd /tmp/outer/inner
runs 'both' umount -l /tmp/outer
comes_back 'memory of an outer mount' $before 1024
cd /
rmdir /tmp/outer || fail 'its place is in use'
for bad in size= size=0x size=x size=5q size=101% size=1k1 size size=4k,mode=9 size=17179869185g nr_inodes= nr_inodes=x uid=x gid= huge=always nonsense; do
	mount -t tmpfs -o $bad none /tmp/small 2> /dev/null && fail "mount -o $bad"
done
mount -t ramfs -o mode=9 none /tmp/small 2> /dev/null && fail 'ramfs takes a wrong mode'

# -- ramfs passes over what it does not know, which may be options of tmpfs: it has no limit
runs 'options of tmpfs' mount -t ramfs -o size=4k,nr_inodes=2,nonsense,mode=750 none /tmp/small
same 'the mode of a ramfs' '750 0 0' "$(stat -c '%a %u %g' /tmp/small)"
grep -q '^none /tmp/small ramfs rw,[a-z,]*mode=750 ' /proc/mounts || fail "in /proc/mounts: $(grep small /proc/mounts)"
runs 'more than the size' dd if=/dev/zero of=/tmp/small/a bs=4k count=4 2> /dev/null
runs 'remounted' mount -t ramfs -o remount,size=1k none /tmp/small
umount /tmp/small

# -- a tmpfs belongs to whom it is mounted for, and is open to everybody without mode=
runs 'an owner' mount -t tmpfs -o uid=1000,gid=5,nr_blocks=3,huge=never,inode64 none /tmp/small
same 'the root of a tmpfs' '1777 1000 5' "$(stat -c '%a %u %g' /tmp/small)"
grep -q ',size=12k,uid=1000,gid=5 ' /proc/mounts || fail "in /proc/mounts: $(grep small /proc/mounts)"
umount /tmp/small

# -- mv and cp from one file system to another: an empty folder of that name gives way to a folder, a file to a file, nothing else
# does; nodes are made once more
rm -rf /tmp/from /tmp/to
mkdir -p /tmp/from/d /tmp/from/full /tmp/to
mount -t tmpfs none /tmp/to
cd /tmp/from
echo a > d/f
ln -s f d/l
mknod d/n c 1 3
echo b > x
ln -s x link
mkdir /tmp/to/d /tmp/to/full /tmp/to/x
echo c > /tmp/to/full/kept
echo d > /tmp/to/link
mv d /tmp/to 2> /tmp/said || fail "mv: $(cat /tmp/said)"
same 'a folder that was moved' "a l" "$(cat /tmp/to/d/l) $(ls -l /tmp/to/d | grep -o '^l')"
same 'a node that was moved' 'character special file 1 3' "$(stat -c '%F %t %T' /tmp/to/d/n)"
test -e d && fail 'what was moved is still there'
mv link /tmp/to || fail 'mv of a link'
same 'a link that was moved over a file' 'b x' "$(cat x) $(stat -c %N /tmp/to/link | grep -o "x'" | tr -d "'")"
mv full /tmp/to 2> /tmp/said && fail 'a folder gave way that was not empty'
same 'why' "mv: cannot move 'full' to '/tmp/to/full': Directory not empty" "$(cat /tmp/said)"
mv x /tmp/to 2> /tmp/said && fail 'a folder gave way to a file'
same 'why' "mv: cannot move 'x' to '/tmp/to/x': Is a directory" "$(cat /tmp/said)"
echo e > /tmp/to/file
mkdir file
mv file /tmp/to 2> /tmp/said && fail 'a file gave way to a folder'
same 'why' "mv: cannot move 'file' to '/tmp/to/file': Not a directory" "$(cat /tmp/said)"
same 'what stays' 'c b e file' "$(echo $(cat /tmp/to/full/kept x /tmp/to/file) $(ls -d file))"
cd /
umount /tmp/to
rm -r /tmp/from /tmp/to

# -- df: what covers another file system is shown, once
mkdir /tmp/twice
mount -t tmpfs below /tmp/twice
mount -t tmpfs -o size=1m above /tmp/twice
same 'two mounts on one folder' 'above 1024' "$(df | grep ' /tmp/twice$' | tr -s ' ' | cut -d ' ' -f 1,2)"
same 'with -a' 2 "$(df -a | grep -c ' /tmp/twice$')"
umount /tmp/twice
umount /tmp/twice
rmdir /tmp/twice
finish
