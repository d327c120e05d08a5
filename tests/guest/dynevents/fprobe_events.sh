#!/bin/sh
# description: fprobe events and tracepoint probes: values of arguments and results, patterns, exact counts, refusals, and all of it under load
# requires: smp=4 timeout=240 append="quiet loglevel=4" progs="calls errno dynevents"
# requires: rooms="hist procfs samples triggers instances"
. /run/prelude
tracing_reset
echo > dynamic_events

# refused ERRNO LINE ERROR: as probe_refused
refused() {
	probe_refused trace_fprobe "$@"
}

# -- values
cat > dynamic_events << END
f:opened do_sys_openat2 dfd=\$arg1:s32 text=+0(\$arg2):ustring comm=\$comm c=\\7:u8
f:plain do_sys_openat2 \$comm
f:answer do_sys_openat2%return fd=\$retval:s32
f64:both do_sys_openat2 text=+0(\$arg2):ustring fd=\$retval:s32 text2=+0(\$arg2):ustring
f sys_getppid
f sys_getppid \$retval
f:some sys_get*pid
t:raw sched_wakeup comm=\$comm task=\$arg1:x64
t sched_switch prev=\$arg2:x64 next=\$arg3:x64 preempt=\$arg1:u8 sp=\$stack
END
same 'as they are shown' 'f:fprobes/opened do_sys_openat2 dfd=$arg1:s32 text=+0($arg2):ustring comm=$comm c=\7:u8
f:fprobes/plain do_sys_openat2 arg1=$comm
f:fprobes/answer do_sys_openat2%return fd=$retval:s32
f64:fprobes/both do_sys_openat2%return text=+0($arg2):ustring fd=$retval:s32 text2=+0($arg2):ustring
f:fprobes/sys_getppid__entry sys_getppid
f:fprobes/sys_getppid__exit sys_getppid%return arg1=$retval
f:fprobes/some sys_get*pid
t:tracepoints/raw sched_wakeup comm=$comm task=$arg1:x64
t:tracepoints/sched_switch sched_switch prev=$arg2:x64 next=$arg3:x64 preempt=$arg1:u8 sp=$stack' "$(cat dynamic_events)"
same 'nothing is hooked before' 0 "$(wc -l < enabled_functions)"
echo 1 > events/fprobes/enable
cat /proc/version > /dev/null
calls 1 1
echo 0 > events/fprobes/enable
grep -q 'cat-.*opened: (do_sys_openat2+0x0/0x[0-9a-f]*) dfd=-100 text="/proc/version" comm="cat" c=7$' trace || fail "opened: $(probe_values opened)"
grep -q 'cat-.*plain: (do_sys_openat2+0x0/0x[0-9a-f]*) arg1="cat"$' trace || fail "plain: $(probe_values plain)"
grep -q 'cat-.*answer: (.*+0x[0-9a-f]*/0x[0-9a-f]* <- do_sys_openat2) fd=3$' trace || fail "answer: $(probe_values answer)"
grep -q 'cat-.*both: (.*+0x[0-9a-f]*/0x[0-9a-f]* <- do_sys_openat2) text="/proc/version" fd=3 text2="/proc/version"$' trace || fail "both: $(probe_values both)"
same 'one call' 1 "$(grep -c ' sys_getppid__entry: (sys_getppid+0x0/0x[0-9a-f]*)$' trace)"
same 'the function of a pattern' 1 "$(grep -c ' some: (sys_getppid+0x0/0x[0-9a-f]*)$' trace)"
probe_values sys_getppid__exit | grep -q '^arg1=0x[1-9a-f][0-9a-f]*$' || fail "the parent: $(probe_values sys_getppid__exit)"
same 'print fmt' 'print fmt: "(%lx) dfd=%d text=\"%s\" comm=\"%s\" c=%u", REC->__probe_ip, REC->dfd, __get_str(text), __get_str(comm), REC->c' "$(tail -n 1 events/fprobes/opened/format)"
same 'print fmt of a return' 'print fmt: "(%lx <- %lx) fd=%d", REC->__probe_func, REC->__probe_ret_ip, REC->fd' "$(tail -n 1 events/fprobes/answer/format)"

# a tracepoint's arguments are those of its event, whose record tells the same
echo > trace
echo 1 > events/tracepoints/sched_switch/enable
# twenty switches, however long a busy computer takes for them
until test "$(grep -c ' sched_switch: ' trace)" -ge 20; do
	usleep 1000
done
echo 0 > events/tracepoints/sched_switch/enable
grep -q ' sched_switch: (__traceiter_sched_switch+0x0/0x[0-9a-f]*) prev=0x[0-9a-f]* next=0x[0-9a-f]* preempt=[01] sp=0x[0-9a-f]*$' trace || fail "sched_switch: $(probe_values sched_switch)"
# The task that a switch leads to is the one that the next switch on this CPU comes from.
for cpu in 0 1 2 3; do
	last=
	while read -r prev next; do
		test -z "$last" || same "CPU $cpu" "$last" "$prev"
		last=$next
	done << END
$(sed -n 's/.* sched_switch: ([^)]*) prev=\(0x[0-9a-f]*\) next=\(0x[0-9a-f]*\) .*/\1 \2/p' per_cpu/cpu$cpu/trace)
END
done

# the stack pointer alone: a probe of a tracepoint has no registers to take it from
echo 't:alone sched_switch $stack' >> dynamic_events
echo > trace
echo 1 > events/tracepoints/alone/enable
await 'the stack pointer' grep -q ' alone: (__traceiter_sched_switch+0x0/0x[0-9a-f]*) arg1=0x[0-9a-f]*$' trace
echo 0 > events/tracepoints/alone/enable

# -- lines that delete; several probes of one event
echo '-:answer do_sys_openat2%return' >> dynamic_events || fail 'not deleted by its function'
echo '-:fprobes/both do_sys_openat2 text=+0($arg2):ustring' >> dynamic_events || fail 'not deleted by its first argument'
echo '-:raw nosuch' >> dynamic_events 2> /dev/null && fail 'deleted by another tracepoint'
echo '-:tracepoints/' >> dynamic_events || fail 'a group was not deleted'
echo > dynamic_events || fail busy
test -d events/fprobes && fail 'a group is left'
echo 'f:two sys_getppid c=$comm' > dynamic_events
echo 1 > events/fprobes/two/enable
echo 'f:two sys_getpid c=$comm' >> dynamic_events || fail 'a second probe while the event is on'
same 'both are hooked' 2 "$(grep -c 'sys_getppid\|sys_getpid' enabled_functions)"
echo '-:two sys_getppid' >> dynamic_events || fail 'one of two'
same 'one is hooked' 1 "$(grep -c 'sys_getppid\|sys_getpid' enabled_functions)"
echo '-:two' 2> /dev/null >> dynamic_events && fail 'an event that is on was deleted'
echo 0 > events/fprobes/two/enable
echo > dynamic_events

# -- refusals
refused 2 'f ^non_exist_func' 'Invalid probed address or symbol'
refused 2 'f ^vfs_read+10' 'Invalid probed address or symbol'
refused 22 'f ^linux_proc_banner' 'Failed to register probe event'
refused 22 'f^1a1 vfs_read' 'Invalid maxactive number'
refused 22 'f^100 vfs_read' 'Maxactive is only for function exit'
refused 22 'f^4097 vfs_read%return' 'Maxactive is too big'
refused 22 'f vfs_read^%hoge' 'Invalid probed address suffix'
refused 22 'f vfs_read ^%sp' 'Invalid $-valiable specified'
refused 22 'f vfs_read ^hoge' 'BTF is not available or not supported'
refused 22 't kfree ^$retval' '$retval is not available on probe'
refused 22 't kfree ^$arg13' 'Invalid argument number'
refused 22 't kfree^-1' 'Invalid character in tracepoint name'
refused 22 't^1 kfree' 'Maxactive is only for function exit'
echo 't:tracepoints/one kfree a=$comm' > dynamic_events
refused 17 '^f:tracepoints/one vfs_read' 'Probe type is different from existing probe'
refused 17 't:tracepoints/one kfree ^b=$comm' 'Argument type or name is different from existing probe'
refused 17 't:tracepoints/one kfree b=$comm ^c=$comm' 'Argument type or name is different from existing probe'
refused 17 't:tracepoints/one kfree ^' 'Argument type or name is different from existing probe'
refused 17 '^t:tracepoints/one kfree a=$comm' 'There is already the exact same probe event'
echo > dynamic_events

# -- counts: N calls from 4 CPUs
N=100000
cat > dynamic_events << END
f:plain sys_getppid c=\\1:u8
f:arg sys_getppid a=\$arg1
f:pattern sys_getpp*d c=\\1:u8
f:ret sys_getppid%return r=\$retval:s32
f:both sys_getppid a=\$arg1 r=\$retval:s32
END
for e in plain arg pattern ret both; do
	echo 'hist:keys=common_type' > events/fprobes/$e/trigger || fail "hist of $e"
done
echo 1 > events/fprobes/enable
calls $N 4
echo 0 > events/fprobes/enable
for e in plain arg pattern ret both; do
	same "hits of $e" $N "$(grep '^    Hits: ' events/fprobes/$e/hist | tr -dc 0-9)"
	echo '!hist:keys=common_type' > events/fprobes/$e/trigger
done
echo > dynamic_events || fail 'something is busy'

# as often as the tracepoint's own event, by histograms of both
echo 't:point sched_switch n=$arg3:x64' > dynamic_events
mkdir instances/t
for e in tracepoints/point sched/sched_switch; do
	echo 'hist:keys=common_cpu' > instances/t/events/$e/trigger || fail "hist of $e"
done
calls 4000 4
echo 0 > instances/t/tracing_on
first=$(grep '^    Hits: ' instances/t/events/tracepoints/point/hist | tr -dc 0-9)
second=$(grep '^    Hits: ' instances/t/events/sched/sched_switch/hist | tr -dc 0-9)
test $first -gt 4 || fail "only $first hits of a tracepoint"
test $((second - first)) -lt 200 -a $((first - second)) -lt 200 || fail "$first hits of a tracepoint, $second of its event"
rmdir instances/t
echo > dynamic_events || fail 'something is busy'

# -- many changes under load
(while :; do calls 2000 4; cat /proc/version > /dev/null; done) &
load=$!
remember_memory
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	echo "f:a$i sys_getppid \$arg1" >> dynamic_events
	echo "f:b$i vfs_*%return \$retval" >> dynamic_events
	echo "f:c$i do_sys_openat2 +0(\$arg2):ustring \$retval" >> dynamic_events
	echo "t:d$i sys_enter \$arg2" >> dynamic_events
	echo "e:e$i fprobes.a$i ip=\$__probe_ip" >> dynamic_events
	echo 1 > events/fprobes/enable
	echo 1 > events/tracepoints/enable
	echo 1 > events/eprobes/enable
	usleep 2000
	echo 0 > events/enable
	echo '-:eprobes/' >> dynamic_events
	echo > dynamic_events || fail "round $i: busy"
done
kill $load
wait $load 2> /dev/null
left_over
same 'memory' '' "$left"
same 'no call site is left' 0 "$(wc -l < enabled_functions)"
same 'no kprobe is left' 0 "$(wc -l < /sys/kernel/debug/kprobes/list)"
returns_are_whole
finish
