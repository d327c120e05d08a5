#!/bin/sh
# description: files, names and descriptors at their edges, as Linux has them
# requires: smp=2 timeout=120 progs="filetest nametest fdtest edgetest limittest tmpfiles copies unshared"
# requires: rooms="anon fasync inotify memfd pidfd procfs ranges rseq splice unshare"
. /run/prelude
cd /tmp
for program in filetest nametest fdtest edgetest limittest tmpfiles copies unshared; do
	$program || fail $program
done

# Calls that fail leave nothing behind: ten rounds of some 500, of which each kind has one at least.
settled
cp /tmp/slabs /tmp/slabs.before
for round in 1 2 3 4 5 6 7 8 9 10; do
	limittest > /tmp/said || fail "limittest, round $round: $(cat /tmp/said)"
done
# grown_caches: those with eight objects more than before
grown_caches() {
	slabs > /tmp/slabs
	while read -r name active; do
		was=$(sed -n "s/^$name //p" /tmp/slabs.before)
		[ $((active - was)) -lt 8 ] || echo "$name: $((active - was)) objects"
	done < /tmp/slabs
}
becomes 'what ten rounds of calls that fail leave' '' grown_caches
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
