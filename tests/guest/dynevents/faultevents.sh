#!/bin/sh
# description: each allocation for a dynamic event or a histogram fails once: ENOMEM, the file is as it was, nothing is left behind
# requires: timeout=300 progs="faultevents"
# requires: rooms="fault_inject hist procfs triggers"
. /run/prelude
tracing_reset
echo 20 > buffer_size_kb
runs 'dynamic events and histograms with faults' faultevents
dmesg | grep -E 'Oops|BUG|WARNING|Unable|failure|unable' && fail 'the kernel complained'
dmesg | grep 'trigger: hist:keys=FIELD' && fail 'the lack of memory is told as a mistake of the command'
finish
