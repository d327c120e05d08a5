#!/bin/sh
# description: nosmp starts one CPU, and debug lets the console show lines of all levels
# requires: smp=2 append="nosmp debug"
# requires: rooms="procfs"
. /run/prelude
same 'one CPU' 0 "$(cat /sys/devices/system/cpu/online)"
same 'of two' 0-1 "$(cat /sys/devices/system/cpu/possible)"
same 'the level of debug' 10 "$(cut -f 1 /proc/sys/kernel/printk)"
finish
