#!/bin/sh
# description: a list of pids that is refused leaves no memory behind
# requires: smp=1 timeout=60
# requires: rooms="procfs"
. /run/prelude
cd $T

# refusals N: so many lists with a word that is no pid
refusals() {
	for i in $(seq $1); do
		echo "$i x" 2> /dev/null > set_event_pid && fail "set_event_pid takes '$i x'"
	done
}
refusals 10
settled
free=$(meminfo MemFree)
refusals 200
is_back '200 lists that were refused' 400 $free # a list is 4 KiB
finish
