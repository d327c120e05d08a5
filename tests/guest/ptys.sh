#!/bin/sh
# description: pseudo terminals: lines, raw bytes, sessions and their end, /dev/pts, as the same program finds them on Linux
# requires: smp=4;1 timeout=180 progs="ptytest"
. /run/prelude
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts || fail mount
ptytest || fail ptytest
[ -z "$(ls /dev/pts)" ] || fail 'a name is left in /dev/pts'
mount -t devpts -o nonsense devpts /mnt 2>/dev/null && fail 'nonsense is an option'
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
