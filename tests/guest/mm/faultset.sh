#!/bin/sh
# description: the settings of fault injection: which allocation fails, whose, how often, with which message
# requires: timeout=100 progs="faultset"
# requires: rooms="fault_inject procfs"
. /run/prelude
runs 'settings' faultset
dmesg | sed 's/^\[[^]]*\] //' > /tmp/said
same 'messages' 2 "$(grep -c '^FAULT_INJECTION: forcing a failure\.$' /tmp/said)"
same 'what they say' 2 "$(grep -c '^name failslab, interval 1, probability 0, space 0, times -1$' /tmp/said)"
same 'stacks' 1 "$(grep -c '^Call trace:$' /tmp/said)"
grep -q ' alloc_empty_file+0x' /tmp/said || fail 'the stack does not say who wanted the memory'

# As long as nothing can fail, the allocators do not ask.
echo 'should_fail_*' > $T/set_ftrace_filter
echo function > $T/current_tracer
cat /proc/version > /tmp/version
same 'questions, nobody counts' 0 "$(grep -c 'should_fail_slab <-' $T/trace)"
echo 1000000 > /proc/$$/fail-nth
cat /proc/version > /tmp/version
grep -q 'should_fail_slab <-kmem_cache_alloc' $T/trace || fail 'no question although a task counts'
echo 0 > /proc/$$/fail-nth
echo > $T/trace
cat /proc/version > /tmp/version
same 'questions, nobody counts any more' 0 "$(grep -c 'should_fail_slab <-' $T/trace)"
echo nop > $T/current_tracer
dmesg | grep -E 'Oops|BUG|WARNING|Unable' && fail 'the kernel complained'
finish
