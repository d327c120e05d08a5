#!/bin/sh
# description: what tasks cost does not grow with their number (to 2,000; as a soak to 10,000); pid_max and threads-max
# requires: icount mem=2G timeout=240 progs="manytasks" soak
# requires: rooms="posix_timers procfs"
. /run/prelude
kernel=/proc/sys/kernel
same 'threads-max: an eighth of memory' 1 $(($(cat $kernel/threads-max) > 2147483648 * 9 / 10 / 8 / 16384))
holds pid_max $kernel/pid_max 32768
for bad in 300 0 -1 32769 4194305 x ''; do
	echo "$bad" 2> /dev/null > $kernel/pid_max && fail "pid_max took '$bad'"
done
for bad in 0 -1 1073741824 x; do
	echo "$bad" 2> /dev/null > $kernel/threads-max && fail "threads-max took '$bad'"
done
holds pid_max $kernel/pid_max 32768

# Numbers stay below pid_max, and begin again behind the first 300.
echo 340 > $kernel/pid_max
holds pid_max $kernel/pid_max 340
manytasks numbers || fail 'manytasks numbers'
echo 32768 > $kernel/pid_max
echo 30000 > $kernel/threads-max
holds threads-max $kernel/threads-max 30000
manytasks $((${1:-0} ? 10000 : 2000)) || fail manytasks

# Numbers that have all been in use are given again, when those who had them are gone.
for i in $(seq 600); do
	[ $(ls -d /proc/[0-9]* | wc -l) -lt 60 ] && break
	sleep 0.1
done
echo 512 > $kernel/pid_max
manytasks again || fail 'manytasks again'
echo 32768 > $kernel/pid_max
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
