#!/bin/sh
# description: when memory is full the largest process goes, by its pages and oom_score_adj; init and a process with -1000 stay
# requires: smp=2 mem=64M timeout=180 progs="oomtest"
# requires: rooms="oom procfs samples instances"
. /run/prelude
free_kib() { grep '^MemFree:' /proc/meminfo | tr -dc 0-9; }
total=$(grep '^MemTotal:' /proc/meminfo | tr -dc 0-9)
killed() { dmesg | grep -c 'Out of memory: Killed process'; }
# adj PID VALUE: and what it reads afterwards
adj() {
	echo $2 > /proc/$1/oom_score_adj
	same "oom_score_adj of $1" $2 "$(cat /proc/$1/oom_score_adj)"
}
# hold KIB: in the background, and wait until it has its memory
hold() {
	want=$(($(wc -l < /tmp/held) + 1))
	oomtest hold $1 &
	until test $(wc -l < /tmp/held) = $want; do usleep 1000; done
}
: > /tmp/held

# -- the files: what is taken, what is refused, who inherits, the old scale
same 'a fresh one' 0 "$(cat /proc/self/oom_score_adj)"
same "init's score" 0 "$(cat /proc/1/oom_score)"
for bad in 1001 -1001 x 5x '5 5' ''; do
	echo "$bad" 2> /dev/null > /proc/$$/oom_score_adj && fail "oom_score_adj takes '$bad'"
done
for bad in 16 -18 x; do
	echo "$bad" 2> /dev/null > /proc/$$/oom_adj && fail "oom_adj takes '$bad'"
done
adj $$ 300
same 'inherited' 300 "$(sh -c 'cat /proc/self/oom_score_adj')"
same 'in the old scale' 5 "$(cat /proc/$$/oom_adj)"
for pair in '-17 -1000' '15 1000' '8 470' '0 0'; do
	set -- $pair
	echo $1 > /proc/$$/oom_adj
	same "oom_adj $1" $2 "$(cat /proc/$$/oom_score_adj)"
	same "oom_adj $1, read" $1 "$(echo $(($(cat /proc/$$/oom_adj) - ($1 == 8 ? -1 : 0))))"
done
dmesg | grep -q 'oom_adj is deprecated, please use /proc/' || fail 'nobody was told that oom_adj is old'
runs 'rights' oomtest rights
runs 'a child of vfork' oomtest vforked
runs 'names' oomtest names
runs 'pipes' oomtest pipes
same 'nobody had to go' 0 $(killed)

# -- scores: pages, and thousandths of memory
hold 4096
small=$!
hold 8192
large=$!
hold 6144
safe=$!
adj $safe -1000
same 'never' 0 "$(cat /proc/$safe/oom_score)"
for pid in $small $large; do
	set -- $(cat /proc/$pid/statm)
	score=$(cat /proc/$pid/oom_score)
	want=$(((1000 + $2 * 4 * 1000 / total) * 2 / 3))
	test $score -ge $want && test $score -le $((want + 4)) || fail "$2 pages have a score of $score, not $want"
done
adj $small 950
score=$(cat /proc/$small/oom_score)
test $score -ge 1280 && test $score -le 1360 || fail "with 950 thousandths: $score"

# -- the choice: first the process with most points, then the one that eats; those that hold less or must not go are still there
T=/sys/kernel/tracing
echo mmput > $T/set_ftrace_filter
echo 1 > $T/options/func_stack_trace
echo function > $T/current_tracer
before=$(free_kib)
oomtest eat
same 'who eats' 137 $?
echo 0 > $T/tracing_on
# Whoever chooses holds a lock: it must not be the one who frees the memory of somebody who ends meanwhile.
grep -q 'mmput <-do_exit' $T/trace || fail 'the trace lacks the ends of processes'
grep -E 'out_of_memory|oom_' $T/trace && fail 'memory is given back under oom_mutex'
echo nop > $T/current_tracer
echo 0 > $T/options/func_stack_trace
wait $small
same 'who was offered' 137 $?
same 'how many went' 2 $(killed)
dmesg | grep 'Out of memory: Killed process' > /tmp/said
head -n 1 /tmp/said | grep -q "Killed process $small (oomtest) total-vm:[0-9]*kB, anon-rss:[0-9]*kB, file-rss:[0-9]*kB, shmem-rss:0kB, UID:0 pgtables:[0-9]*kB oom_score_adj:950$" ||
	fail "the first: $(head -n 1 /tmp/said)"
tail -n 1 /tmp/said | grep -q "(oomtest) .* oom_score_adj:0$" || fail "the second: $(tail -n 1 /tmp/said)"
dmesg | grep -q 'oomtest invoked oom-killer: gfp_mask=0x21(GFP_USER), order=0, oom_score_adj=0$' || fail 'no header'
dmesg | grep -q "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=oomtest,pid=$small,uid=0$" || fail 'no summary'
dmesg | grep -Eq "\[ +$large\] +0 +$large +[0-9]+ .* 0 oomtest$" || fail 'the table of tasks lacks one'
kill -0 $large || fail 'who holds less went'
kill -0 $safe || fail 'who must not go went'
same 'a program starts' yes "$(echo yes | cat)"

# -- several at once: each of them goes, and nobody else
echo > $T/trace
echo 1 > $T/tracing_on
echo oom:mark_victim > $T/set_event
for i in 1 2 3; do
	oomtest eat &
	eaters="$eaters $!"
done
for pid in $eaters; do
	wait $pid
	same "one of several" 137 $?
done
same 'how many went' 5 $(killed)
echo > $T/set_event
dmesg | grep 'Out of memory: Killed process' | tail -n 3 > /tmp/said
# The event says of each what the log says.
same 'victims' "$(sed 's/.*Killed process \([0-9]*\) (\(.*\)) total-vm:\(.*\), anon-rss:\(.*\), file-rss:\(.*\), shmem-rss:\(.*\), UID:\(.*\) pgtables:\(.*\) oom_score_adj:\(.*\)/pid=\1 comm=\2 total-vm=\3 anon-rss=\4 file-rss:\5 shmem-rss:\6 uid=\7 pgtables=\8 oom_score_adj=\9/' /tmp/said)" \
	"$(sed -n 's/.*mark_victim: //p' $T/trace)"

# -- one that sleeps in the kernel for ever: its memory is taken from it, and nobody else has to go for it
mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null
want=$(($(wc -l < /tmp/held) + 1))
oomtest stuck 16384 &
stuck=$!
until test $(wc -l < /tmp/held) = $want; do usleep 1000; done
await 'it is stuck' grep -q '^State:.D' /proc/$stuck/status
until dmesg | grep -q "Killed process $stuck "; do
	oomtest hold 2048 &
	held="$held $!"
	usleep 20000
done
is_free() { test $(free_kib) -gt $1; }
await 'its memory is back' is_free 8192
same 'how many went' 6 $(killed)
grep -q '^State:.D' /proc/$stuck/status || fail 'it is not stuck any more'
set -- $(cat /proc/$stuck/statm)
test $2 -lt 200 || fail "$2 pages of one that was killed are there"
kill -9 $held $large $safe
wait $held $large $safe
is_back 'all are gone' 1 $((before + 4096))

# -- a large request that memory has become too small for: its process has the fewest pages, and goes first
before=$(killed)
hold 16384
large=$!
mkdir $T/instances/large
size=$(cat $T/instances/large/buffer_size_kb)
hold $(($(meminfo MemAvailable) - 6144))
filler=$!
adj $filler -1000
runs 'a large request' oomtest asks $size $T/instances/large/buffer_size_kb
dmesg | grep 'Out of memory: Killed process' | sed -n $((before + 1))p > /tmp/said
grep -q '(oomtest) .* anon-rss:[0-9][0-9]*kB,.* oom_score_adj:0$' /tmp/said || fail "who asked: $(cat /tmp/said)"
grep -q 'anon-rss:[0-9]\{3\}' /tmp/said && fail "a task with more memory was killed: $(cat /tmp/said)"
kill -9 $large $filler
wait $large $filler
rmdir $T/instances/large
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
