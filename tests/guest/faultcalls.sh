#!/bin/sh
# description: each allocation of a system call fails once: ENOMEM, nothing is changed or left behind, and the next call passes
# requires: timeout=300 progs="faultcalls"
. /run/prelude
runs 'calls with faults' faultcalls
dmesg | grep -E 'Oops|BUG|WARNING|Unable|failure|unable' && fail 'the kernel complained'
finish
