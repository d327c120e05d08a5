#!/bin/sh
# description: instances: each trace array has everything of its own; made and freed under load, busy while in use, nothing lost
# requires: smp=4 timeout=240
# requires: rooms="historic noise procfs samples instances trace_stat"
. /run/prelude
tracing_reset
cd $T/instances

# refused WHAT TEXT COMMAND...: it fails, and says why
refused() {
	what=$1
	wanted=$2
	shift 2
	said=$("$@" 2>&1) && fail "$what: $* succeeded"
	case $said in
	*"$wanted"*) ;;
	*) fail "$what: wanted '$wanted', got '$said'" ;;
	esac
}

put() {
	echo "$1" > "$2"
}

# has COUNT PATTERN FILE: so many lines of the file match ("some": at least one)
has() {
	n=$(grep -c "$2" "$3")
	test "$1" = some && test "$n" -gt 0 || same "$3: $2" "$1" "$n"
}

# -- names
same 'at first' '' "$(ls)"
runs 'mkdir' mkdir a b
same 'two' 'a b' "$(echo $(ls))"
refused 'the same name' 'File exists' mkdir a
refused 'not there' 'No such file' rmdir c
refused 'in an instance' 'not permitted' mkdir a/x
refused 'in its options' 'not permitted' mkdir a/options/x
refused 'a part' 'not permitted' rmdir a/options
refused 'a file' 'not permitted' rm a/trace
refused 'at the top' 'not permitted' mkdir $T/x
refused 'itself' 'not permitted' rmdir $T/instances
refused 'a long name' 'too long' mkdir $(printf '%0300d' 0)
for file in README available_events available_filter_functions enabled_functions instances saved_cmdlines set_graph_function \
	trace_stat tracing_thresh max_graph_depth options/record-cmd options/trace_printk; do
	test -e a/$file && fail "a/$file is there, though it is the top's"
done
for file in $(ls); do
	test -e $T/$file || continue
	test $file = instances || test -e a/$file || fail "a/$file is not there"
done
same 'tracers' 'function function_graph hwlat initcall nop osnoise sched_switch timerlat' "$(tr ' ' '\n' < a/available_tracers | sort | xargs)"
for tracer in irqsoff wakeup; do
	refused 'of the top only' 'Invalid' put $tracer a/current_tracer
done
refused 'of the top only' 'Invalid' put norecord-cmd a/trace_options

# -- each has its own
put 'sched_switch' a/current_tracer
put 'sched:sched_waking' b/set_event
put 1234 a/buffer_size_kb
put sym-addr a/trace_options
put counter b/trace_clock
put 5 b/set_ftrace_pid
put vfs_read a/set_ftrace_filter
put vfs_write b/set_ftrace_notrace
sleep 0.05
put 0 b/tracing_on
echo 'for a' > a/trace_marker
holds 'tracer' current_tracer 'cat: current_tracer: No such file or directory'
holds 'tracer' $T/current_tracer nop
holds 'tracer' b/current_tracer nop
has some '==>' a/trace
has 0 '==>' b/trace
has some 'sched_waking: comm=' b/trace
has 0 'sched_waking' a/trace
has 1 'for a' a/trace
has 0 '^[^#]' $T/trace
holds 'switch' a/tracing_on 1
holds 'switch' $T/tracing_on 1
holds 'switch' b/tracing_on 0
holds 'events' a/set_event ''
holds 'events' $T/set_event ''
holds 'events' b/events/enable X
holds 'option' a/options/sym-addr 1
holds 'option' b/options/sym-addr 0
holds 'option' $T/options/sym-addr 0
has 1 '\[counter\]' b/trace_clock
has 1 '\[local\]' a/trace_clock
has 1 '\[local\]' $T/trace_clock
holds 'pids' a/set_ftrace_pid 'no pid'
holds 'pids' b/set_ftrace_pid 5
holds 'filter' a/set_ftrace_filter vfs_read
holds 'filter' b/set_ftrace_filter '#### all functions enabled ####'
holds 'filter' $T/set_ftrace_notrace '#### no functions disabled ####'
test "$(cat a/buffer_size_kb)" != "$(cat b/buffer_size_kb)" || fail 'one size for both'
put 1 a/snapshot
has some '==>' a/snapshot
has 0 '==>' $T/snapshot
test "$(cat a/per_cpu/cpu*/snapshot | grep -c 'for a')" = 1 || fail 'the marker is not in one CPU of the snapshot'

# -- function tracers beside each other, each with its filter
put nop a/current_tracer
put '!sched:*' b/set_event
put 'local' b/trace_clock
put '' b/set_ftrace_notrace
put '' b/set_ftrace_pid
put 1 b/tracing_on
put nosym-addr a/trace_options
put vfs_read a/set_ftrace_filter
put 'vfs_read vfs_write' b/set_ftrace_filter
put vfs_write $T/set_ftrace_filter
for array in a b $T; do
	put function $array/current_tracer
done
cat /proc/uptime > /dev/null
for array in a b $T; do
	put 0 $array/tracing_on
done
has some ': vfs_read <-' a/trace
has 0 ': vfs_write <-' a/trace
has some ': vfs_read <-' b/trace
has some ': vfs_write <-' b/trace
has 0 ': vfs_read <-' $T/trace
has some ': vfs_write <-' $T/trace
for array in a b $T; do
	has 0 ' [d.][^ ]*[1-9][^ ]*  *[0-9.]*: vfs_[a-z]* <-ksys' $array/trace # a shared site's preemption depth is the function's
done
grep '^vfs_read (2)' $T/enabled_functions > /dev/null || fail 'vfs_read has not two users'
put func_stack_trace a/trace_options
put 1 a/tracing_on
cat /proc/uptime > /dev/null
put 0 a/tracing_on
has some '^ => ' a/trace
has 0 '^ => ' b/trace
put nofunc_stack_trace a/trace_options
put $$ a/set_ftrace_pid
put 1 a/tracing_on
cat /proc/uptime > /dev/null
put 0 a/tracing_on
has 0 ' cat-' a/trace
put nop $T/current_tracer
put 1 $T/tracing_on

# -- function_graph: each its functions, its tasks, its clock; the options are the tracer's, depth and the like all arrays'
put '' a/set_ftrace_pid
put 'ksys_read vfs_read' a/set_ftrace_filter
put 'ksys_* vfs_write' b/set_ftrace_filter
put counter b/trace_clock
for array in a b; do
	put nop $array/current_tracer
	put 1 $array/tracing_on
	put function_graph $array/current_tracer
done
put 1 $T/options/funcgraph-tail
put $$ b/set_ftrace_pid
cat /proc/uptime > /dev/null
put 0 a/tracing_on
put 0 b/tracing_on
has some '^ [0-9])  *|  ksys_read() {' a/trace
has some '^ [0-9]) .* us *|    vfs_read();' a/trace
has some '^ [0-9]) .* us *|  } /\* ksys_read \*/' a/trace
has 0 'write' a/trace
has some '|    vfs_write();' b/trace
has 0 'vfs_read' b/trace
holds 'option' a/options/funcgraph-tail 1
has 1 '^funcgraph-tail' b/trace_options
put nofuncgraph-tail a/trace_options
holds 'option' $T/options/funcgraph-tail 0
put funcgraph-proc b/trace_options
has some ' cat-[0-9]* *|.*ksys_read' a/trace
has 0 ' cat-' b/trace
put nofuncgraph-proc b/trace_options
put 1 $T/max_graph_depth
put 1 a/tracing_on
cat /proc/uptime > /dev/null
put 0 a/tracing_on
put 0 $T/max_graph_depth
tail -1 a/trace | grep -q '|  ksys_read();' || fail "max_graph_depth does not concern an instance: $(tail -3 a/trace)"
put '' b/set_ftrace_pid
put nop a/current_tracer
put 1 a/tracing_on
put 1 b/tracing_on

put function_graph a/current_tracer
mkdir quiet
cat quiet/trace_pipe > /dev/null & # who waits in read() stands in calls that are hooked for a
reader=$!
until grep -q "^$reader " /sys/kernel/debug/fgraph/tasks; do sleep 0.01; done
put 0 a/tracing_on

# -- trace_printk() in its three ways, a hundred times each; it goes where the option trace_printk_dest is set: to one of them
hello=/sys/kernel/debug/trace_printk/hello
said() {
	echo $(grep -c 'hello from a task' $T/trace) $(grep -c 'hello from a task' a/trace) $(grep -c 'hello from a task' b/trace)
}
for array in a b $T; do
	put 1 $array/tracing_on
	put '' $array/trace
done
put many $hello
same 'many' 300 $(grep -c ': one of many' $T/trace)
put task $hello
same 'the top one' '1 0 0' "$(said)"
put 1 a/options/trace_printk_dest
put task $hello
same 'one' '1 1 0' "$(said)"
put trace_printk_dest b/trace_options
put task $hello
same 'the other' '1 1 1' "$(said)"
same 'one has it' '0 0 1' "$(echo $(cat $T/options/trace_printk_dest a/options/trace_printk_dest b/options/trace_printk_dest))"
put 0 $T/options/trace_printk_dest # is 0
put 0 b/options/trace_printk_dest
put task $hello
same 'it falls back' '2 1 1' "$(said)"
refused 'the last' 'Invalid' put 0 $T/options/trace_printk_dest
put 1 b/options/trace_printk_dest
put 0 a/tracing_on
put 0 b/tracing_on

# -- busy
for file in trace trace_pipe events/sched/sched_switch/enable events/enable options/raw per_cpu/cpu1/stats set_ftrace_filter set_event; do
	exec 5< a/$file
	refused "open $file" busy rmdir a
	test -e a/trace -a -e a/events/sched/sched_switch/format || fail 'something is gone of what was busy'
	exec 5<&-
done
exec 5> a/trace_marker
refused 'open for writing' busy rmdir a
echo still there >&5 2> /dev/null
has 0 'still there' a/trace # tracing_on is 0
exec 5>&-
(cd a/events && refused 'a current directory' busy rmdir $T/instances/a; exit $failures) || failures=$((failures + 1))
(cd a && runs 'an empty current directory' rmdir $T/instances/a; ls; refused 'in what is gone' 'No such' cat trace; exit $failures) ||
	failures=$((failures + 1))
runs 'while it traces' rmdir b
holds 'fallen back' $T/options/trace_printk_dest 1
kill $reader
wait
rmdir quiet
returns_are_whole
same 'none is left' '' "$(ls)"
grep -c vfs_read $T/enabled_functions | grep -q '^0$' || fail 'vfs_read is traced still'

# -- nothing is lost: the first rounds leave caches filled
rounds() {
	i=0
	while [ $i -lt $1 ]; do
		mkdir x || fail 'mkdir in a round'
		echo sched_switch > x/set_event
		echo vfs_read > x/set_ftrace_filter
		test $((i % 2)) = 0 && tracer=function || tracer=function_graph
		echo $tracer > x/current_tracer
		echo 1 > x/set_ftrace_pid
		echo function-fork > x/trace_options
		echo record-tgid > x/trace_options
		echo 1 > x/snapshot
		cat x/trace x/snapshot x/events/sched/sched_switch/format > /dev/null
		rmdir x || fail 'rmdir in a round'
		i=$((i + 1))
	done
}
rounds 4
settled
before=$(meminfo MemFree)
objects=$(objects)
rounds 10
few_more '10 rounds' 12 $objects # an ending process may still have some
is_back '10 rounds' 400 $before # one instance is 5 MiB and more

# -- a storm: made and removed while others use whatever is there
end=/tmp/storm-over # there when the first of them has made its rounds
rm -f $end
while [ ! -e $end ]; do rmdir x; mkdir y; mkdir x; rmdir y; done 2> /dev/null &
while [ ! -e $end ]; do echo 'vfs_*' > y/set_ftrace_filter; echo function_graph > y/current_tracer; head -c 10000 y/trace; done > /dev/null 2>&1 &
while [ ! -e $end ]; do cat x/trace y/per_cpu/cpu*/stats x/set_ftrace_filter; done > /dev/null 2>&1 &
while [ ! -e $end ]; do echo 1 > x/events/sched/enable; echo 0 > y/events/enable; cat x/events/sched/*/format; done > /dev/null 2>&1 &
while [ ! -e $end ]; do echo sched_switch > x/current_tracer; echo function > y/current_tracer; echo hallo > x/trace_marker; done 2> /dev/null &
while [ ! -e $end ]; do ls -lR .; (cd x && cat options/raw); done > /dev/null 2>&1 &
while [ ! -e $end ]; do echo nop > $T/current_tracer; echo function > $T/current_tracer; done 2> /dev/null &
for round in $(seq 15); do mkdir x; rmdir x; done 2> /dev/null
touch $end
wait
for array in *; do
	test -d $array && runs 'after the storm' rmdir $array
done
same 'after the storm' '' "$(ls)"
tracing_reset
has 0 . $T/enabled_functions
returns_are_whole
finish
