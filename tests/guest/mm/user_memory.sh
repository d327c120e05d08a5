#!/bin/sh
# description: a user who fills memory, by each kind of kernel object, keeps root from nothing, and all of it comes back
# requires: smp=2 mem=128M,256M timeout=240 progs="usermemory"
# requires: rooms="anon inet inotify locks memfd oom posix_timers procfs ranges"
. /run/prelude
mkdir -m 777 /tmp/usermemory
sleep 100000 &
sleeper=$!
total=$(meminfo MemTotal)

# root_works WHAT: what root does at any moment; each starts a program
root_works() {
	ls / > /dev/null || fail "$1: ls"
	kill -0 $sleeper || fail "$1: root's sleeping task is gone"
	same "$1: a program's output" yes "$(echo yes | cat)"
}

# fill KIND: look after root until the kind is refused, or its process is killed; then some more, and take it away
fill() {
	before=$(meminfo MemFree)
	objects=$(objects)
	: > /tmp/full
	usermemory $1 &
	user=$!
	while test ! -s /tmp/full && kill -0 $user 2> /dev/null; do
		root_works $1
	done
	for again in 1 2 3 4 5 6 7 8 9 10; do
		root_works $1
	done
}

# empty KIND: it is gone, and so is what it had
empty() {
	kill -9 -$user 2> /dev/null
	kill -9 $user 2> /dev/null
	wait $user
	is_back "$1" 3072 $before
	few_more "$1" 2500 $objects
}

# -- bounds that root can set
for file in net/core/wmem_default net/core/wmem_max net/core/rmem_default net/core/rmem_max; do
	holds "$file" /proc/sys/$file 212992
	echo 2303 2> /dev/null > /proc/sys/$file && fail "$file takes 2303"
done
holds somaxconn /proc/sys/net/core/somaxconn 4096
holds 'kernel.pty.nr' /proc/sys/kernel/pty/nr 0
echo 65 2> /dev/null > /proc/sys/kernel/pty/max && fail 'kernel.pty.max takes 65'
runs 'bounds' usermemory options

# -- each kind
for kind in pairs backlogs udp texts events small; do
	fill $kind
	holds $kind /tmp/full full
	same "$kind: an eighth of memory, and what belongs to it" 1 $(($(meminfo MemFree) > before - total / 5))
	empty $kind
done
for kind in memfds messages; do
	fill $kind
	holds $kind /tmp/full full
	same "$kind: a sixteenth of memory stays" 1 $(($(meminfo MemFree) > total / 20))
	empty $kind
done
same 'nobody had to go' 0 "$(dmesg | grep -c 'Killed process')"
for kind in shared tables forks areas; do
	fill $kind
	dmesg | grep 'Killed process' | grep -v "UID:1000 " && fail "$kind: a task of root had to go"
	empty $kind
done
kill -0 $sleeper || fail "root's sleeping task is gone"
test $(dmesg | grep -c 'Killed process .* UID:1000 ') -ge 3 || fail 'memory was never full'
dmesg | grep -E 'Oops|BUG|WARNING|allocation failure' && fail 'the kernel complained'
finish
