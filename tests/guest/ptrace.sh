#!/bin/sh
# description: ptrace and process_vm_readv, as the same programs find them on Linux
# requires: smp=1,4 timeout=120 progs="ptracetest ptracewho ptraceregs ptracestep"
. /run/prelude
for program in ptracetest ptracewho ptraceregs ptracestep; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
