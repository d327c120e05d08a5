#!/bin/sh
# description: a program writes its standard output line by line on a terminal, elsewhere a block at a time
# requires: rooms="procfs syscalls"
. /run/prelude
tracing_reset
echo 'fd == 1 && comm == "seq"' > events/syscalls/sys_enter_write/filter
echo 1 > events/syscalls/sys_enter_write/enable
# What each write has had of bytes, since the last time.
sizes() {
	sed -n 's/.*count: \([0-9a-f]*\).*/\1/p' trace | tr '\n' ' '
	echo > trace
}
seq 100 > /tmp/numbers
same 'a file' '124 ' "$(sizes)"
seq 100 | cat > /dev/null
same 'a pipe' '124 ' "$(sizes)"
seq 3 > /dev/console
same 'a terminal' '2 2 2 ' "$(sizes)"
seq 300 > /tmp/numbers
same 'more than a block' '400 44 ' "$(sizes)"
same 'all of it' 1092 "$(wc -c < /tmp/numbers)"
find /proc/version -print -exec echo found ';' > /tmp/found
same 'in order' '/proc/version found' "$(echo $(cat /tmp/found))"
