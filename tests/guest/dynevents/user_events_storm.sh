#!/bin/sh
# description: programs register events, write, fork, unmap, exec and exit, while others switch the event on and off
# requires: smp=2;4 timeout=200 append="slab_debug loglevel=4" progs="uevents" soak
# requires: rooms="instances procfs slab_debug user_events"
. /run/prelude
tracing_reset
mkdir instances/storm
before=$(objects)
rounds=$((${1:-0} * 4 + 2))
toggle() {
	while test -e /tmp/go; do
		for file in "$@"; do
			echo 1 2> /dev/null > $file
			echo 0 2> /dev/null > $file
		done
	done
}
for round in $(seq $rounds); do
	touch /tmp/go
	toggle events/user_events/t_storm/enable instances/storm/events/user_events/t_storm/enable 2> /dev/null &
	toggle events/user_events/enable 2> /dev/null &
	uevents storm 200 $((round * 2)) &
	first=$!
	runs 'a storm' uevents storm 200 $((round * 2 + 1))
	wait $first || fail 'the other storm'
	rm /tmp/go
	wait
done
echo 0 > events/enable
echo 0 > instances/storm/events/enable
await 'the event is gone' test ! -e events/user_events/t_storm
holds 'no events' user_events_status '
Active: 0
Busy: 0'
rmdir instances/storm
few_more 'objects' 150 $before
dmesg | grep -E 'Oops|BUG|WARNING|panic|Redzone|Poison' && fail 'the kernel complained'
finish
