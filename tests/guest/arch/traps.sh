#!/bin/sh
# description: exceptions of the CPU become the signals that Linux sends for them; odd states of a program are not the kernel's
# requires: smp=2;1 cpu=all timeout=60 progs="traptest"
. /run/prelude
traptest || fail traptest
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
