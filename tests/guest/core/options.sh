#!/bin/sh
# description: each of trace_options in effect, where no format of `trace` is concerned
# requires: smp=2 timeout=120 progs="calls errno pollfile"
# requires: rooms="procfs"
. /run/prelude
tracing_reset

# -- the list: Linux's order, every name in options/ too
same 'a name twice' '' "$(sed 's/^no//' trace_options | sort | uniq -d)"
for name in $(sed 's/^no//' trace_options); do
	test -f options/$name || fail "options/$name is missing"
done
holds 'nop accepts' options/test_nop_accept 0
echo test_nop_accept > trace_options
holds 'nop accepts' options/test_nop_accept 1
echo function > current_tracer
grep -q test_nop trace_options && fail 'the options of nop are listed under another tracer'
echo test_nop_accept > trace_options 2> /dev/null && fail "another tracer's option is taken"
echo 0 > options/test_nop_accept
holds 'its file remains' options/test_nop_accept 0
echo nop > current_tracer
before=$(cat trace_options)
for text in test_nop_refuse no 'no no' nosuch nonosuch 'raw hex' Raw 'raw=1'; do
	echo "$text" > trace_options 2> /dev/null && fail "trace_options takes '$text'"
done
echo 1 > options/test_nop_refuse 2> /dev/null && fail 'the refusing option was set by its file'
for text in 2 -1 x '' 0x1 '1 1' 99999999999999999999; do
	echo "$text" > options/raw 2> /dev/null && fail "options/raw takes '$text'"
done
same 'nothing has changed' "$before" "$(cat trace_options)"

# -- latency_trace: the latency format, whatever the option says
echo hello > trace_marker
for option in nolatency-format latency-format; do
	echo $option > trace_options
	grep -q '^# nop latency trace v1.1.5 on ' latency_trace || fail "latency_trace has no latency header with $option"
	same "a line with $option" 1 $(grep -c 'us : tracing_mark_write: hello$' latency_trace)
done
same 'with latency-format' "$(cat trace)" "$(cat latency_trace)"
echo x > latency_trace 2> /dev/null && fail 'latency_trace can be written'
grep -q hello trace || fail 'writing latency_trace has cleared the buffer'
echo nolatency-format > trace_options
echo > trace
same 'an empty buffer has no latency header' "# tracer: nop
#" "$(cat latency_trace)"

# -- block: poll says that there is something, and it is read that waits
same 'poll of an empty trace_pipe' 0 $(pollfile trace_pipe 50)
echo block > trace_options
same 'poll with block' 1 $(pollfile trace_pipe 0)
echo noblock > trace_options
exec 7< trace_pipe
for n in 1 2; do
	pollfile - 60000 <&7 > /tmp/poll.$n &
done
exec 7<&-
sleep 0.05
test -s /tmp/poll.1 && fail 'poll came back with nothing to read'
echo something > trace_marker
wait
same 'two are woken' '1 1' "$(echo $(cat /tmp/poll.1 /tmp/poll.2))"
same 'poll does not consume' 1 $(sum entries)
echo 0 > tracing_on # then trace_pipe ends
cat trace_pipe > /tmp/read
echo 1 > tracing_on
same 'what poll promised' 1 $(grep -c something /tmp/read)
same 'and nothing is left' 0 $(pollfile trace_pipe 0)

# -- function-fork: who is made by a task in set_ftrace_pid joins it, who ends leaves it
echo sys_getppid > set_ftrace_filter
echo $$ > set_ftrace_pid
echo function > current_tracer
recorded() {
	echo > trace
	calls 40 4
	sum entries
}
same 'children without function-fork' 0 $(recorded)
echo function-fork > trace_options
same 'children and their children' 40 $(recorded)
echo nofunction-fork > trace_options
holds 'all of them have left' set_ftrace_pid $$
same 'children after function-fork' 0 $(recorded)
holds 'and nobody joined' set_ftrace_pid $$
echo $$ > set_ftrace_notrace_pid
echo > set_ftrace_pid
same 'children of one who is not traced' 40 $(recorded)
echo function-fork > trace_options
same 'nor are they, with function-fork' 0 $(recorded)
sh -c 'echo $$ > set_ftrace_pid; echo > set_ftrace_notrace_pid'
holds 'who has ended has left, and nobody is traced' set_ftrace_pid ''
same 'nobody' 0 $(recorded)
echo > set_ftrace_pid
echo nofunction-fork > trace_options
same 'everybody' 40 $(recorded)
echo nop > current_tracer

# -- irq-info: a task that an interrupt takes the CPU from has been asked to give it up
echo preempt_schedule_irq > set_ftrace_filter
echo > trace
echo function > current_tracer
for n in 1 2; do
	taskset 1 dd if=/dev/zero of=/dev/null bs=1048576 count=300 2> /dev/null &
done
wait
echo 0 > tracing_on
test $(grep -c 'preempt_schedule_irq <-' trace) -gt 3 || fail "nobody is preempted: $(cat trace)"
grep 'preempt_schedule_irq <-' trace | grep -v '\] dN\.\.\. ' && fail 'preempted, and nobody has asked for it'
echo nop > current_tracer
echo > set_ftrace_filter
echo 1 > tracing_on
finish
