#!/bin/sh
# description: a program whose file was overwritten in place is made coherent with instruction fetch before it runs again
# requires: smp=1 timeout=60
. /run/prelude
cd $T
# Only on a machine where this is more than nothing can it be counted.
grep -q '^arch_sync_icache$' available_filter_functions || finish

# How many pages are synchronised while the copy runs.
syncs() {
	echo > trace
	/tmp/copy || fail "the copy does not run"
	grep -c ': arch_sync_icache' trace
}

cp /bin/true /tmp/copy
echo arch_sync_icache > set_ftrace_filter
echo function > current_tracer
test "$(syncs)" -gt 0 || fail "new pages are not synchronised"
same "once is enough" 0 "$(syncs)"
cat /bin/true 1<> /tmp/copy
test "$(syncs)" -gt 0 || fail "pages that were written to are not synchronised"
same "once is enough again" 0 "$(syncs)"
tracing_reset
rm /tmp/copy
finish
