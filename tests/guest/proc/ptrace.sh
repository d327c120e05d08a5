#!/bin/sh
# description: ptrace and process_vm_readv, as the same programs find them on Linux
# requires: smp=4;1 timeout=120 progs="ptracestep ptracetest ptracewho ptraceregs ptracekill"
# requires: rooms="procfs ptrace"
. /run/prelude
for program in ptracestep ptracetest ptracewho ptraceregs ptracekill; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
