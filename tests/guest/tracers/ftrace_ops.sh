#!/bin/sh
# description: users of function tracing as kernel code registers them: flags, filters, registers, replacement, errors
# requires: smp=4;1 timeout=120
# requires: rooms="procfs samples trace_stat"
. /run/prelude
D=/sys/kernel/debug/ftrace_sample
tracing_reset

u() {
	echo "$*" > $D/users
}

# ok COMMAND...: users takes it. refused ERROR COMMAND...: it does not, and says why
ok() {
	u "$@" || fail "users: $*"
}
refused() {
	error=$1
	shift
	same "$*" "$error" "$(u "$@" 2>&1 | sed 's/.*: //')"
}

# count N NAME: that number of user N
count() {
	case $2 in
	calls) column=6 ;;
	away) column=8 ;;
	regs) column=10 ;;
	late) column=12 ;;
	esac
	grep "^user$1" $D/users | cut -d ' ' -f $column
}

# sites WHAT LINES: what enabled_functions says of the sample's functions, without who it is
sites() {
	same "$1: enabled_functions" "$2" "$(cut -f 1 enabled_functions | grep -e '^users_' -e '^sample_' | sed 's/ *$//')"
}

word() {
	sed -n 's/^word //p' $D/users
}

# -- filters: by name, glob, address, the set of what not, together
for how in 'filter users_target' 'filter *sers_targe?' 'ip users_target'; do
	ok 0 $how
	ok 0 on
	sites "$how" 'users_target (1)'
	ok 0 call
	ok 1 call
	same "$how: calls" 2 $(count 0 calls)
	same "$how: registers" 0 $(count 0 regs)
	grep -q '^user0 .* last users_target <-users_store$' $D/users || fail "$how: $(grep user0 $D/users)"
	ok 0 off
	sites "$how: off" ''
	ok 0 call
	same "$how: calls when off" 2 $(count 0 calls)
	ok 0 reset
done
ok 0 filter 'users_*'
ok 0 notrace users_target
ok 0 on
sites 'less one' "$(grep '^users_' available_filter_functions | grep -v users_target | sed 's/$/ (1)/')"
ok 0 notrace '!users_target'
sites 'and with it' "$(grep '^users_' available_filter_functions | sed 's/$/ (1)/')"
ok 0 filter '!users_[^t]*'
sites 'less the others' 'users_target (1)'
ok 0 ip users_inner
ok 0 ip '!users_target'
sites 'by address' 'users_inner (1)'
refused 'No such file or directory' 0 ip '!users_target'
refused 'Invalid argument' 0 ip trace_printk
refused 'Invalid argument' 0 filter no_such_function
refused 'Invalid argument' 0 ip no_such_function
sites 'as before' 'users_inner (1)'
refused 'Device or resource busy' 0 on
ok 0 off
refused 'Device or resource busy' 0 off
ok 0 reset
echo users_target > set_ftrace_filter
ok 3 global
ok 3 on
sites 'the global filter' 'users_target (1)'
echo users_inner > set_ftrace_filter
sites 'the global filter follows' 'users_inner (1)'
ok 3 off
echo > set_ftrace_filter

# -- flags: unknown ones, some without others (1 regs, 2 if supported, 4 recursion, 8 ipmodify, 16 permanent)
for flags in 0x20 0x40 0x1000 0x80000000; do
	ok 0 flags $flags
	refused 'Invalid argument' 0 on
done
ok 0 flags 8
ok 0 filter users_target
refused 'Invalid argument' 0 on
ok 0 reset
ok 0 flags 9
refused 'Invalid argument' 0 on
sites 'refused' ''

# -- recursion: the user calls what it traces
ok 0 filter users_target
ok 0 filter users_inner
ok 0 flags 0
ok 0 does inner
ok 0 on
ok 0 call
same 'protected by the core: calls' 1 $(count 0 calls)
ok 0 off
ok 0 does guarded
ok 0 on
ok 0 call
same 'protected by the core and by itself: calls, and turned away' '1 0' "$(count 0 calls) $(count 0 away)"
ok 0 call
same 'the same once more' '2 0' "$(count 0 calls) $(count 0 away)"
ok 0 off
# What the first one has taken, another one that protects itself does not get below it.
ok 0 reset
ok 0 filter users_target
ok 1 filter users_inner
ok 1 flags 4
ok 1 does guarded
ok 0 on
ok 1 on
ok 0 call
same 'one below the other: calls, and turned away' '1 0 0 1' \
	"$(count 0 calls) $(count 0 away) $(count 1 calls) $(count 1 away)"
ok 0 off
ok 1 off
ok 1 does count
ok 1 flags 0
ok 1 reset
ok 0 filter users_inner
ok 0 flags 4
ok 0 on
ok 0 call
same 'protecting itself: calls, and turned away' '1 1' "$(count 0 calls) $(count 0 away)"
ok 0 off
# In an interrupt the lock is another bit; a wrong one given back would stay, and turn away the calls that follow.
ok 0 reset
ok 0 filter hrtimer_interrupt
ok 0 filter users_inner
ok 0 on
tries=0
while test $(count 0 calls) -le 5 && test $tries -lt 500; do
	sleep 0.02
	tries=$((tries + 1))
done
ok 0 off
test $(count 0 calls) -gt 5 || fail "of hrtimer_interrupt: $(count 0 calls) calls"
same 'protecting itself in an interrupt: calls, and turned away' $(count 0 calls) $(count 0 away)
ok 0 reset
ok 0 filter users_target
ok 0 does count
ok 0 flags 0
ok 0 reset

# -- registers, for the site that one asks for them at, and no other
ok 0 filter users_target
ok 0 flags 2
ok 1 filter users_target
ok 1 filter users_inner
ok 0 on
ok 1 on
sites 'registers' 'users_inner (1)
users_target (2) R'
ok 0 call
same 'with registers' '1 1' "$(count 0 regs) $(count 1 regs)"
ok 0 off
sites 'no registers' 'users_inner (1)
users_target (1)'
ok 0 call
same 'without registers' '2 1' "$(count 1 calls) $(count 1 regs)"
ok 1 off

echo sample_add > $D/watch
echo 11 -22 33 > $D/call
echo 14 25 36 > $D/call
same 'what it returned' 75 $(cat $D/call)
same 'calls seen' 'calls 2' "$(grep calls $D/watch)"
grep -q '^ip sample_add+' $D/watch || fail "watch: $(cat $D/watch)"
grep -q '^parent_ip sample_call+' $D/watch || fail "watch: $(cat $D/watch)"
grep -q '^pc sample_add+' $D/watch || fail "watch: $(cat $D/watch)"
if test "$(uname -m)" = x86_64; then
	same 'arguments' '14 25 36' "$(echo $(sed -n 's/^argument .: //p' $D/watch))"
fi

# -- replacement, with everybody else at the same site
echo 1 > $D/replace
sites 'replaced' 'sample_add (2) R I'
echo sample_add > set_ftrace_filter
echo function > current_tracer
echo 1 > function_profile_enabled
echo 2 3 4 > $D/call
same 'it multiplies' 24 $(cat $D/call)
same 'the function tracer saw it' 1 $(grep -c ': sample_add <-sample_call$' trace)
grep -q '^ *sample_add  *1 ' trace_stat/function* || fail "not profiled: $(cat trace_stat/function*)"
same 'the watcher did' 'calls 3' "$(grep calls $D/watch)"
echo 0 > function_profile_enabled
echo function_graph > current_tracer
echo 4 5 6 > $D/call
same 'it multiplies under function_graph' 120 $(cat $D/call)
same 'which saw it come and go' 1 $(grep -c '| *sample_add();$' trace)
echo nop > current_tracer
echo 0 > $D/replace
echo > set_ftrace_filter
echo 4 5 6 > $D/call
same 'it adds' 15 $(cat $D/call)
echo > $D/watch
sites 'all gone' ''

# -- two that replace: neither by registering nor by a filter, and nothing changes
ok 0 reset
ok 1 reset
ok 0 flags 13
ok 0 does replace
ok 0 filter users_target
ok 1 flags 9
ok 1 filter users_inner
ok 0 on
ok 1 on
before=$(cut -f 1 enabled_functions)
refused 'Device or resource busy' 1 filter users_target
refused 'Device or resource busy' 1 ip users_target
refused 'Invalid argument' 1 reset
refused 'Invalid argument' 1 filter '!users_inner'
same 'refused' "$before" "$(cut -f 1 enabled_functions)"
ok 2 flags 9
ok 2 filter 'users_*'
refused 'Device or resource busy' 2 on
same 'refused' "$before" "$(cut -f 1 enabled_functions)"
ok 0 call
same 'replaced: the word, calls of 0, 1 and 2' '-1 1 0 0' "$(word) $(count 0 calls) $(count 1 calls) $(count 2 calls)"
ok 1 off
ok 1 reset
ok 1 filter users_target
ok 1 filter users_inner
refused 'Device or resource busy' 1 on
ok 0 off
ok 1 on
ok 0 call
same 'one that may, and does not' 1 "$(word)"
ok 1 off
for i in 0 1 2 3; do
	ok $i reset
	ok $i does count
done

# -- permanent
ok 0 flags 16
ok 0 filter users_target
ok 0 on
same 'ftrace_enabled' 'Device or resource busy' "$( (echo 0 > /proc/sys/kernel/ftrace_enabled) 2>&1 | sed 's/.*: //')"
holds 'it stays' /proc/sys/kernel/ftrace_enabled 1
ok 0 call
same 'and calls' 1 $(count 0 calls)
ok 0 off
echo 0 > /proc/sys/kernel/ftrace_enabled
refused 'Device or resource busy' 0 on
ok 0 flags 0
ok 0 on
ok 0 call
same 'none while it is off' 0 $(count 0 calls)
echo 1 > /proc/sys/kernel/ftrace_enabled
ok 0 call
same 'they come back' 1 $(count 0 calls)
ok 0 off

# -- users come and go under load, by every way there is: alone, several, with registers, with tracers
for i in 0 1 2 3; do
	ok $i reset
	ok $i filter sys_getpid
done
echo sys_getpid > set_ftrace_filter
jobs="1 2"
test -d per_cpu/cpu1 || jobs=1
for i in $jobs; do
	bench getpid 100000000 > /dev/null &
	pids="$pids $!"
done
called() {
	test $(count $1 calls) -gt 0
}
for round in $(seq 3); do
	for i in 0 1 2 3; do
		ok $i flags $(((round + i) % 3 * 2 + round % 2))
		ok $i on
		case $i$((round % 4)) in
		20) echo function > current_tracer ;;
		21) echo function_graph > current_tracer ;;
		esac
	done
	ok 0 off
	ok 0 on
	for i in 2 0 3 1; do
		await "round $round: user $i is called" called $i
		ok $i off
	done
	echo nop > current_tracer
	for i in 0 1 2 3; do
		same "round $round: calls of user $i when it was off" 0 $(count $i late)
	done
done
kill $pids
wait
same 'returns without a call' 0 $(field mismatches /sys/kernel/debug/fgraph/stats)
tracing_reset
finish
