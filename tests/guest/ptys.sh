#!/bin/sh
# description: pseudo terminals: lines, raw bytes, sessions and their end, /dev/pts, as the same program finds them on Linux
# requires: smp=4;1 timeout=180 progs="ptytest"
. /run/prelude
same 'init has mounted it' 'devpts /dev/pts devpts rw,nosuid,noexec 0 0' "$(grep ' /dev/pts ' /proc/mounts)"
ptytest || fail ptytest
[ -z "$(ls /dev/pts)" ] || fail 'a name is left in /dev/pts'
mount -t devpts -o nonsense devpts /mnt 2>/dev/null && fail 'nonsense is an option'
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
