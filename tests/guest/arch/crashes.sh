#!/bin/sh
# description: programs that go wrong end alone, each with its signal; the shell goes on
# requires: smp=2 mem=128M timeout=120 progs="crash"
# requires: rooms="procfs"
. /run/prelude
crash list > /tmp/ways
test $(wc -l < /tmp/ways) = 9 || fail "crash knows other ways: $(cat /tmp/ways)"
while read way signal; do
	crash $way
	same "crash $way" $((128 + signal)) $?
done < /tmp/ways
before=$(grep MemFree: /proc/meminfo | tr -dc 0-9)
for round in 1 2; do
	# Out of memory: either the call says so, or the process is killed.
	crash hog
	status=$?
	test $status = 0 || test $status = 137 || fail "crash hog: status $status"
	crash fork-bomb || fail "crash fork-bomb: status $?"
done
is_back 'memory' 1025 $before
test "$(echo still here)" = 'still here' || fail 'the shell does not work any more'
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
