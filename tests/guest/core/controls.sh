#!/bin/sh
# description: what the control files of tracing do, each seen in effect
# requires: smp=4 timeout=240 progs="calls tracecheck storm"
# requires: rooms="historic procfs dump"
. /run/prelude
tracing_reset
echo sys_getppid > set_ftrace_filter

# entries COMMAND...: how many are recorded while it runs
entries() {
	echo > trace
	echo 1 > tracing_on
	"$@"
	echo 0 > tracing_on
	sum entries
}
echo function > current_tracer
same 'all are recorded' 400 $(entries calls 400 4)

# -- filters
echo nop > current_tracer
echo schedule > set_ftrace_filter
echo 'vfs_r*' >> set_ftrace_filter
grep -qx schedule set_ftrace_filter || fail '>> took away what was there'
grep -qx vfs_read set_ftrace_filter || fail '>> did not add'
echo '!vfs_*' >> set_ftrace_filter
holds 'after !' set_ftrace_filter schedule
echo 'vfs_write schedule vfs_read' > set_ftrace_filter
same 'several in one write' 3 $(wc -l < set_ftrace_filter)
for glob in 'sys_get*' '*_getppid' '*getpp*' 'sys_?etppid' 'sys_[f-h]etppid'; do
	echo "$glob" > set_ftrace_filter
	grep -qx sys_getppid set_ftrace_filter || fail "$glob does not match sys_getppid"
	grep -qv getp set_ftrace_filter && test "$glob" = '*getpp*' && fail "$glob matches others"
done
echo '*lock*' > set_ftrace_filter
same 'a glob in the middle' $(grep -c lock available_filter_functions) $(wc -l < set_ftrace_filter)
echo > set_ftrace_filter
holds 'emptied' set_ftrace_filter '#### all functions enabled ####'
echo 'sys_get*' > set_ftrace_filter
echo sys_getppid > set_ftrace_notrace
holds 'notrace' set_ftrace_notrace sys_getppid
echo function > current_tracer
same 'notrace wins' 0 $(entries calls 400 4)
echo > set_ftrace_notrace
same 'notrace emptied' 400 $(entries calls 400 4)
# A filter that changes under the tracer takes effect.
echo schedule > set_ftrace_filter
entries calls 40 4 > /dev/null
grep -q sys_getppid trace && fail 'a function that left the filter is still traced'
echo sys_getppid > set_ftrace_filter
same 'and back' 400 $(entries calls 400 4)
same 'enabled_functions' "sys_getppid (1)" "$(cut -d ' ' -f 1,2 enabled_functions)"
grep -q '^sys_getppid ' touched_functions || fail 'sys_getppid is not in touched_functions'
grep -q '^schedule ' touched_functions || fail 'schedule is not in touched_functions'

# -- tasks
echo 1 > set_ftrace_pid
holds 'one pid' set_ftrace_pid 1
same 'another task is not traced' 0 $(entries calls 400 4)
echo > set_ftrace_pid
holds 'emptied' set_ftrace_pid 'no pid'
sh -c 'echo $$ > set_ftrace_pid; echo $$ > /tmp/pid; echo > trace; echo 1 > tracing_on; exec calls 100 1'
echo 0 > tracing_on
# The calls are made by a child of the task named: it is another one.
same 'the child of the task' 0 $(sum entries)
sh -c 'echo > set_ftrace_filter; echo $$ > set_ftrace_pid; echo $$ > /tmp/pid; echo > trace; echo 1 > tracing_on; exec ls / > /dev/null'
echo 0 > tracing_on
test $(sum entries) -gt 100 || fail 'set_ftrace_pid: the task itself is not traced'
tracecheck -p $(cat /tmp/pid) < trace > /dev/null || fail 'set_ftrace_pid: others were traced'
echo > set_ftrace_pid
sh -c 'echo $$ > set_ftrace_notrace_pid; echo $$ > /tmp/pid; echo > trace; echo 1 > tracing_on; exec ls / > /dev/null'
echo 0 > tracing_on
grep -q -e "-$(cat /tmp/pid) " trace && fail 'set_ftrace_notrace_pid: the task was traced'
test $(sum entries) -gt 0 || fail 'set_ftrace_notrace_pid: nobody was traced'
echo > set_ftrace_notrace_pid
holds 'emptied' set_ftrace_notrace_pid 'no pid'
echo sys_getppid > set_ftrace_filter

# -- CPUs
echo 5 > tracing_cpumask
holds 'two of four' tracing_cpumask 5
same 'CPUs 0 and 2' 200 $(entries calls 400 4)
same 'CPUs 0 and 2' "lines 200 lost 0 cpu0 100 cpu2 100" "$(tracecheck < trace)"
echo 0 > tracing_cpumask
holds 'none' tracing_cpumask 0
same 'no CPU' 0 $(entries calls 400 4)
echo 1 > snapshot # exchanges buffers that are all switched off, and they are the same number of times afterwards
echo f > tracing_cpumask
same 'all CPUs again' 400 $(entries calls 400 4)

# -- switches
echo 0 > tracing_on
holds 'off' tracing_on 0
echo > trace
calls 40 4
same 'tracing_on 0' 0 $(sum entries)
echo 1 > tracing_on
echo 0 > tracing_enabled
holds 'off' tracing_enabled 0
calls 40 4
same 'tracing_enabled 0' 0 $(sum entries)
echo 1 > tracing_enabled
calls 40 4
same 'tracing_enabled 1' 40 $(sum entries)
echo 0 > /proc/sys/kernel/ftrace_enabled
holds 'off' /proc/sys/kernel/ftrace_enabled 0
holds 'off' enabled_functions ''
same 'ftrace_enabled 0' 0 $(entries calls 40 4)
echo 1 > /proc/sys/kernel/ftrace_enabled
same 'ftrace_enabled 1' 40 $(entries calls 40 4)

# -- the trace itself
test $(sum entries) -gt 0 || fail 'nothing to truncate'
echo > trace
same 'truncated' 0 $(sum entries)
same 'truncated: header only' 0 $(grep -vc '^#' trace)
echo nop > current_tracer
echo 1 > tracing_on
echo one > trace_marker
echo two > trace_marker
same 'reading does not consume' "$(cat trace)" "$(cat trace)"
echo > per_cpu/cpu3/trace
taskset 8 sh -c 'echo three > trace_marker'
same 'marker on CPU 3' 1 $(grep -c 'three$' per_cpu/cpu3/trace)
taskset 1 sh -c 'echo four > trace_marker'
echo > per_cpu/cpu3/trace
same 'one CPU truncated' 0 $(field entries per_cpu/cpu3/stats)
same 'the others not' 1 $(grep -c 'four$' trace)
echo nomarkers > trace_options
echo five > trace_marker 2> /dev/null && fail 'trace_marker takes text with nomarkers'
echo markers > trace_options

# -- options: the folder and the file are two views of one thing. A tracer's own are in the file while it is selected;
# test_nop_refuse, trace_printk_dest without another array to go to and, on one machine, funcgraph-args say no.
graph='funcgraph-.*|sleep-time|graph-time'
function='func_stack_trace|func-no-repeats'
kmem='kmem_minimalistic'
flip() {
	for name in "$@"; do
		old=$(cat options/$name)
		echo $((1 - old)) > options/$name
		if test $old = 1; then wanted=no$name; else wanted=$name; fi
		grep -qx $wanted trace_options || fail "options/$name and trace_options differ"
		echo $old > options/$name
	done
}
flip $(ls options | grep -vE "^(test_nop_refuse|trace_printk_dest|$graph|$function|$kmem)$")
same 'as many options' $(ls options | grep -cvE "^($graph|$function|$kmem)$") $(wc -l < trace_options)
echo function_graph > current_tracer
flip $(ls options | grep -E "^($graph)$" | grep -v funcgraph-args)
same 'as many options of function_graph' $(ls options | grep -cvE "^(test_nop.*|$function|$kmem)$") $(wc -l < trace_options)
echo kmemtrace > current_tracer
flip $kmem
echo function > current_tracer
flip $(ls options | grep -E "^($function)$")
same 'as many options of function' $(ls options | grep -cvE "^(test_nop.*|$graph|$kmem)$") $(wc -l < trace_options)
echo nop > current_tracer

# -- clocks: each can be chosen; counter counts records
for clock in $(tr -d '[]' < trace_clock); do
	echo $clock > trace_clock
	grep -q "\[$clock\]" trace_clock || fail "trace_clock: $clock was not taken"
done
echo counter > trace_clock
echo a > trace_marker
echo b > trace_marker
grep -q ' [0-9]*: tracing_mark_write: b' trace || fail 'no counter in the trace'
grep '[0-9]\.[0-9]*: tracing_mark_write: b' trace && fail 'counter shows seconds'
case $(uname -m) in
aarch64) counter=cntvct ;;
x86_64) counter=x86-tsc ;;
esac
echo $counter > trace_clock # at its own rate: it goes on, and is not in nanoseconds
echo a > trace_marker
echo b > trace_marker
same 'the counter rises' 'a b' "$(echo $(grep -o '[0-9]*: tracing_mark_write: [ab]' trace | sort -n | grep -o '[ab]$'))"
grep '[0-9]\.[0-9]*: tracing_mark_write: b' trace && fail "$counter shows seconds"
echo local > trace_clock
same 'another clock, an empty buffer' 0 $(sum entries)

# -- sizes: whole pages of 4,080 bytes of records each
shown() {
	echo $((($1 * 1024 + 4079) / 4080 * 4080 / 1024))
}
echo function > current_tracer
storm 4 > /tmp/storm &
storm=$!
echo > set_ftrace_filter
for kib in 4 16 1408 64 8 512 100; do
	echo $kib > buffer_size_kb
	holds 'all CPUs' buffer_size_kb $(shown $kib)
	holds 'all CPUs together' buffer_total_size_kb $((4 * $(shown $kib)))
	echo 32 > per_cpu/cpu1/buffer_size_kb
	holds 'CPU 1' per_cpu/cpu1/buffer_size_kb $(shown 32)
	holds 'CPU 2' per_cpu/cpu2/buffer_size_kb $(shown $kib)
	holds 'different ones' buffer_size_kb X
	holds 'different ones together' buffer_total_size_kb $((3 * $(shown $kib) + $(shown 32)))
done
kill -TERM $storm
wait $storm || fail "storm while buffers change: $(cat /tmp/storm)"
echo 0 > tracing_on
runs 'the trace after resizing' tracecheck < trace

# -- readers
# The option is undone only by who did it: opened without, closed with, and the other way round.
echo sys_getppid > set_ftrace_filter
for on in 0 1; do
	echo $on > options/pause-on-trace
	exec 5< trace
	echo $((1 - on)) > options/pause-on-trace
	exec 5<&-
	same "after pause-on-trace was $on" 400 $(entries calls 400 4)
done
echo 0 > options/pause-on-trace
# Two read one pipe: who comes too late waits, and together they get all. A second pipe of the same CPUs there is not.
echo nop > current_tracer
echo > trace
echo 1 > tracing_on
exec 6< per_cpu/cpu1/trace_pipe
cat trace_pipe 2> /dev/null && fail 'a trace_pipe of all CPUs, while one has its own'
exec 5< per_cpu/cpu0/trace_pipe 6<&- || fail 'each CPU has its trace_pipe'
exec 5<&-
exec 5< trace_pipe
cat per_cpu/cpu1/trace_pipe 2> /dev/null && fail 'two readers take the same records'
cat <&5 > /tmp/pipe1 &
one=$!
cat <&5 > /tmp/pipe2 &
two=$!
exec 5<&-
for i in $(seq 200); do echo "marker $i" > trace_marker; done
# What a reader has taken out of the buffer it has yet to write.
all_read() {
	test $(cat /tmp/pipe1 /tmp/pipe2 | grep -c 'marker [0-9]') -ge 200
}
await 'both have read all' all_read
same 'entries left' 0 "$(sum entries)"
kill $one && kill $two || fail 'a reader of trace_pipe found the end of the file'
wait $one $two
same 'lines of both readers' 200 $(cat /tmp/pipe1 /tmp/pipe2 | grep -c 'marker [0-9]')
echo 0 > tracing_on

# -- what happens to the trace in trouble
for file in ftrace_dump_on_oops traceoff_on_warning; do
	for value in 1 0; do
		echo $value > /proc/sys/kernel/$file
		holds 'as written' /proc/sys/kernel/$file $value
	done
done
echo x 2> /dev/null > /proc/sys/kernel/traceoff_on_warning && fail 'traceoff_on_warning takes x'
# The other one takes names of instances, which need not be there yet.
asked=/proc/sys/kernel/ftrace_dump_on_oops
for value in 2 orig_cpu 0,one,two=2 $(printf '%099d' 7); do
	echo $value > $asked
	holds 'as written' $asked $value
done
echo 0 > $asked
for bad in '' $(printf '%0100d' 7); do
	echo "$bad" 2> /dev/null > $asked && fail "ftrace_dump_on_oops takes '$bad'"
done
holds 'unchanged' $asked 0
echo > trace
echo 1 > tracing_on
echo '*** the end ***' > trace_marker
echo z > /proc/sysrq-trigger
dmesg | grep -q 'tracing_mark_write: \*\*\* the end \*\*\*$' || fail "sysrq-z: $(dmesg | tail -n 3)"

# -- tasks' names
grep -q "^$$ " saved_cmdlines || grep -q storm saved_cmdlines || fail 'saved_cmdlines knows neither us nor storm'
tracing_reset
# -- a reader whose own reading is traced comes to an end
echo > set_ftrace_filter
echo function > current_tracer
echo 1 > tracing_on
timeout 30 cat trace > /dev/null || fail "cat trace while tracing: status $?"
tracing_reset
finish
