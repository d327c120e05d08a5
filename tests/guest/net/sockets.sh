#!/bin/sh
# description: sockets of AF_UNIX: streams, datagrams, packets, names, files and credentials in messages, garbage, /proc/net/unix, as the same program finds them on Linux
# requires: smp=4;1 timeout=180 progs="unixtest unixfiles unixpeers"
# requires: rooms="procfs ranges"
. /run/prelude
unixtest || fail unixtest
unixfiles || fail unixfiles
unixpeers || fail unixpeers
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
