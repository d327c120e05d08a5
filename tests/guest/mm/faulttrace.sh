#!/bin/sh
# description: each allocation of an operation of tracefs fails once: ENOMEM, the file is as it was, nothing is left behind
# requires: timeout=300 progs="faulttrace"
# requires: rooms="fault_inject procfs"
. /run/prelude
runs 'tracing with faults' faulttrace
dmesg | grep -E 'Oops|BUG|WARNING|Unable|failure|unable' && fail 'the kernel complained'
finish
