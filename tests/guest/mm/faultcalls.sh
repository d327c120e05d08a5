#!/bin/sh
# description: each allocation of a system call fails once: ENOMEM, nothing is changed or left behind, and the next call passes
# requires: timeout=300 progs="faultfiles faultfds faulttasks"
# requires: rooms="anon fallocate fault_inject memfd net pidfd posix_timers procfs ptrace ranges splice"
. /run/prelude
for program in faultfiles faultfds faulttasks; do
	runs 'calls with faults' $program
done
dmesg | grep -E 'Oops|BUG|WARNING|Unable|failure|unable' && fail 'the kernel complained'
finish
