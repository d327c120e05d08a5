#!/bin/sh
# description: pseudo terminals: lines, raw bytes, sessions and their end, /dev/pts, as the same program finds them on Linux
# requires: smp=4;1 timeout=180 progs="ptytest ptysize"
# requires: rooms="procfs"
. /run/prelude
same 'init has mounted it' 'devpts /dev/pts devpts rw,nosuid,noexec 0 0' "$(grep ' /dev/pts ' /proc/mounts)"
ptytest || fail ptytest

# -- a shell in a window tells the kernel the window's size, also when it is the one that programs guess
for size in '24 80' '50 132'; do
	ptysize $size || fail "ptysize $size"
	same 'the size that the kernel knows' "$size" "$(cat /tmp/ptysize)"
done
[ -z "$(ls /dev/pts)" ] || fail 'a name is left in /dev/pts'
mount -t devpts -o nonsense devpts /mnt 2>/dev/null && fail 'nonsense is an option'

# -- options of another mount, or of a remount, are those of the one tree: for terminals that come
runs 'the same options again' mount -t devpts -o gid=5,mode=620 devpts /mnt
umount /mnt
runs 'another mode' mount -o remount,nosuid,noexec,mode=600 /dev/pts
exec 3<> /dev/ptmx
same 'the mode of a terminal' 600 "$(stat -c %a /dev/pts/0)"
exec 3>&-
runs 'as it was' mount -o remount,nosuid,noexec,mode=620 /dev/pts
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
