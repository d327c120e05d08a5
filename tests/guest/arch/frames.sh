#!/bin/sh
# description: signal frames and vector registers on every CPU, as handlers find, change and spoil them
# requires: smp=2 cpu=all timeout=120 progs="frametest regtest"
# requires: rooms="procfs"
. /run/prelude
frametest || fail frametest
regtest || fail regtest
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
