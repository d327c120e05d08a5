#!/bin/sh
# description: the wakeup tracers are selected and left, again and again, in a storm of wake-ups, moves and ends of tasks
# requires: smp=4 timeout=300 progs="waketest" soak
. /run/prelude
tracing_reset
minutes=${1:-0}

# header TEXT: what follows it in the header
header() {
	sed -n "s/^# *$1 *//p" /tmp/trace
}

# whole: /tmp/trace is empty, or one wake-up from its head to its end
whole() {
	sed -n '/^[^#]/{/^ =>/d;p}' /tmp/trace > /tmp/records
	test -s /tmp/records || return
	pid=$(header '| task:' | sed 's/ (.*//; s/.*-//')
	head -n 1 /tmp/records | grep -q " + \[00[0-3]\]  *$pid:" || fail "$what: of $pid, but begins with '$(head -n 1 /tmp/records)'"
	tail -n 2 /tmp/records | head -n 1 | grep -q " ==> \[00[0-3]\]  *$pid:" || fail "$what: of $pid, but ends with '$(tail -n 2 /tmp/records)'"
	tail -n 1 /tmp/records | grep -q ': <stack trace>$' || fail "$what: ends with '$(tail -n 1 /tmp/records)'"
	same "$what: one wake-up and one end" '1 1' "$(grep -c ' + \[' /tmp/records) $(grep -c ' ==> \[' /tmp/records)"
	header latency: | grep -q "#$(wc -l < /tmp/records)/" || fail "$what: $(wc -l < /tmp/records) records, $(header latency:)"
	sed 's/us.: .*//; s/.* //' /tmp/records > /tmp/times # a name may begin with us, too
	same "$what: times rise" "$(cat /tmp/times)" "$(sort -n /tmp/times)"
}

waketest storm > /tmp/storm &
storm=$!
round=0
# Ten rounds of three, which are each case twice, or as many as twenty seconds hold; selecting takes long where the host has fewer CPUs than we have, or little time.
rounds=$((minutes ? 1000000 : 10))
end=$((minutes * 60 + $(date +%s)))
test $minutes = 0 && end=$((end + 20))
while test $round -lt $rounds -a $(date +%s) -lt $end; do
	round=$((round + 1))
	for tracer in wakeup wakeup_rt wakeup_dl; do
		what="round $round, $tracer"
		echo $tracer > current_tracer || fail "$what: cannot be selected"
		case $((round % 5)) in
		0) echo 0 > tracing_max_latency ;;
		1) echo $((round / 5 % 2)) > options/function-trace ;;
		2) echo 0 > tracing_on; usleep 1000; echo 1 > tracing_on ;;
		3) usleep 3000 ;;
		esac
		if test $tracer = wakeup_rt; then
			cat trace > /tmp/trace
			whole
		fi
	done
	test $failures = 0 || break
	test $((round % 7)) = 0 && echo nop > current_tracer
done
kill -TERM $storm
wait $storm || fail "the storm: $(cat /tmp/storm)"
tracing_reset
echo 1 > options/function-trace
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
echo "$round rounds"
finish
