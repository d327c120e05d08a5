#!/bin/sh
# description: signals, interrupted calls, threads, jobs, terminals, usage and interval timers, as the same programs find them on Linux
# requires: smp=4;1 timeout=180 progs="sigcalls sigmask sigorder sigstack sigthread sigexec childtest jobtest usagetest cputimers ttyjobs"
# requires: rooms="anon pidfd posix_timers procfs select"
. /run/prelude
for program in sigcalls sigmask sigorder sigstack sigthread sigexec childtest jobtest usagetest cputimers ttyjobs; do
	$program || fail $program
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
