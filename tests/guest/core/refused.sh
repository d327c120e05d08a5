#!/bin/sh
# description: a refused write says in error_log and in one line of the kernel log what was wrong and what would be right
# requires: smp=2 mem=128M icount append="loglevel=5" progs="errno" timeout=240
# requires: rooms="historic noise procfs triggers commands instances trace_stat raw refusals"
. /run/prelude
tracing_reset

# The last line of the log that is not older than what we have begun.
last() {
	dmesg | tail -n 1 | sed 's/^\[[^]]*\] //'
}

# says FILE TEXT LINE: writing TEXT fails, and the log and error_log end with "FILE: LINE" (a pattern)
wait=0
says() {
	wait=$((wait + 1))
	test $((wait % 8)) = 0 && sleep 6 # ten lines in five seconds
	case $1 in
	instances/i/*) error_log=instances/i/error_log ;;
	*) error_log=error_log ;;
	esac
	echo > $error_log
	echo "$2" 2> /dev/null > "$1" && fail "$1 takes '$2'"
	case $(last) in
	"$1: "$3) ;;
	*) fail "$1, '$2': the log says '$(last)', not '$3'" ;;
	esac
	case $(head -n 1 $error_log) in
	*"] $1: error: "$3) ;;
	*) fail "$1, '$2': error_log says '$(head -n 1 $error_log)', not '$3'" ;;
	esac
	same "$1: command" "  Command: $(echo "$2" | tr -s ' ')" "$(sed -n 2p $error_log)"
}

# logs FILE TEXT LINE: likewise, of files whose errors error_log has in Linux's words
logs() {
	wait=$((wait + 1))
	test $((wait % 8)) = 0 && sleep 6
	echo "$2" 2> /dev/null > "$1" && fail "$1 takes '$2'"
	case $(last) in
	"$1: "$3) ;;
	*) fail "$1, '$2': the log says '$(last)', not '$3'" ;;
	esac
}

# -- tracers
tracers=$(cat available_tracers)
says current_tracer foo "no tracer 'foo'; there are: $tracers"
says current_tracer syscall "no tracer 'syscall'; in its place: events/syscalls *"
says current_tracer branch "no tracer 'branch'; in its place: a kernel that \`make branch-arm64\` or \`make branch-x86_64\` builds *"
says current_tracer blk "no tracer 'blk'; in its place: nothing, because there is no block layer *"
says ksym_trace_filter jiffies "'jiffies' is not symbol:rw-*"
says ksym_trace_filter no_such_name:rw- "the kernel has no variable or function 'no_such_name' (/proc/kallsyms)"
says ksym_trace_filter panic_timeout:--- "'panic_timeout' is not watched"
echo panic_timeout:rw- > ksym_trace_filter
says ksym_trace_filter panic_timeout:rw- "'panic_timeout' is watched in this way already"
echo 0 > ksym_trace_filter
sleep 6
wait=2
runs 'what stands in their place is there' ls -d \
	events/initcall events/syscalls events/raw_syscalls events/workqueue trace_stat/workqueues > /dev/null
same 'each name is listed once' '' "$(tr ' ' '\n' < available_tracers | sort | uniq -d)"
for name in $tracers; do
	echo $name > current_tracer || fail "available_tracers has $name, and current_tracer refuses it"
	holds 'a name of the list is the one that is read back' current_tracer $name
done
for name in ftrace:function none:nop; do # names of 2.6.27
	echo ${name%:*} > current_tracer || fail "current_tracer refuses the former name ${name%:*}"
	holds 'its name of today' current_tracer ${name#*:}
	echo "$tracers" | grep -qw "${name%:*}" && fail "available_tracers lists the former name ${name%:*}"
done
echo nop > current_tracer
mkdir instances/i
says instances/i/current_tracer wakeup "the tracer 'wakeup' is for the top directory alone; there are: function*"
says instances/i/trace_clock sundial "no clock 'sundial'; there are: local global counter uptime perf mono mono_raw boot tai *"
grep -q sundial error_log && fail "an instance's error is in the top array's log"
(exec 3< trace_pipe; errno current_tracer function) | grep -q errno=16 || fail 'not busy'
case $(last) in "current_tracer: trace_pipe is being read"*) ;; *) fail "busy: $(last)" ;; esac
# Without a reader it is the tracer that cannot begin beside another, and says so.
echo timerlat > current_tracer
says instances/i/current_tracer osnoise 'another array has timerlat, and only one of the two runs at a time'
echo 0 > instances/i/tracing_enabled
echo osnoise > instances/i/current_tracer
says instances/i/tracing_enabled 1 'another array has timerlat, and only one of the two runs at a time'
echo nop > instances/i/current_tracer
echo 1 > instances/i/tracing_enabled
echo osnoise > current_tracer
says instances/i/current_tracer timerlat 'another array has osnoise, and only one of the two runs at a time'
echo hwlat > current_tracer
says instances/i/current_tracer hwlat 'another array has hwlat, and only one can have it'
echo nop > current_tracer
sleep 6
(exec 3< instances/i/trace; rmdir instances/i) 2> /dev/null && fail 'rmdir of what is in use'
same 'rmdir' 'instances/i: it is in use: somebody has a file of it open or stands in it' "$(last)"
rmdir instances/i

# -- trace_pipe, when it cannot be opened
(exec 3< trace_pipe; cat per_cpu/cpu1/trace_pipe) 2> /dev/null && fail 'two readers of trace_pipe'
same 'a second reader' 'per_cpu/cpu1/trace_pipe: cannot be opened: somebody reads trace_pipe already' "$(last)"
echo > error_log
echo irqsoff > current_tracer
cat trace_pipe 2> /dev/null && fail 'trace_pipe opens under a latency tracer'
case $(last) in "trace_pipe: cannot be opened while the latency tracer irqsoff is set: "*) ;; *) fail "latency: $(last)" ;; esac
cat per_cpu/cpu0/trace_pipe_raw 2> /dev/null && fail 'trace_pipe_raw opens under a latency tracer'
case $(last) in "per_cpu/cpu0/trace_pipe_raw: cannot be opened while"*) ;; *) fail "latency: $(last)" ;; esac
holds 'no write was refused' error_log ''
echo nop > current_tracer
sleep 6

echo counter > trace_clock
says current_tracer irqsoff "a latency tracer needs a trace_clock that measures time, such as local"
echo local > trace_clock

# -- functions
says set_ftrace_filter shcedule "nothing matches 'shcedule'; close: schedule"
says set_ftrace_filter '*shcedule*' "nothing matches '*shcedule*'; close: schedule"
says set_ftrace_filter 'vfs_raedd*' "nothing matches 'vfs_raedd\*'; close: vfs_read*"
says set_ftrace_filter __x64_sys_nanosleep "nothing matches '__x64_sys_nanosleep'; close: sys_nanosleep*"
says set_graph_function __arm64_sys_nanosleep "nothing matches '__arm64_sys_nanosleep'; close: sys_nanosleep*"
says set_ftrace_notrace vfs_raed "nothing matches 'vfs_raed'; close: vfs_read"
says set_ftrace_filter sched_switch "nothing matches 'sched_switch'; it is an event, which set_event takes"
says set_ftrace_filter sched:sched_switch "'sched:sched_switch' is an event, which set_event takes"
says set_event vfs_read "no event 'vfs_read'; it is a function, which set_ftrace_filter takes"
says set_graph_function qqqqqqq "nothing matches 'qqqqqqq'; available_filter_functions has the names"
says set_graph_notrace '!vfs_read' "'vfs_read' is not in the file, so it cannot be taken away"
says stack_trace_filter find_tracer "'find_tracer' is in the kernel, but cannot be traced: it has no site that calls a tracer"
says set_graph_function '!find_tracer' "'find_tracer' is in the kernel, but cannot be traced: it has no site that calls a tracer"
says set_ftrace_filter schedule:tracof "no command 'tracof'; there are: mod traceon traceoff snapshot stacktrace dump cpudump enable_event disable_event"
says set_ftrace_filter shcedule:traceoff "nothing matches 'shcedule'; close: schedule"
says set_ftrace_filter schedule:traceoff:x "a count is a number*"
says set_ftrace_filter schedule:enable_event:sched "enable_event needs an event: FUNCTION:enable_event:SYSTEM:EVENT*"
says set_ftrace_filter schedule:enable_event:sched:sched_swich "no event 'sched_swich' in 'sched'; close: sched:sched_switch"
says set_ftrace_filter '!schedule:traceoff' "no such command is there to be taken away; the file shows*"
echo schedule:traceoff:2 >> set_ftrace_filter
says set_ftrace_filter '!schedule:traceoff' "the command has a count, and ':0' behind it takes it away"
echo '!schedule:traceoff:0' >> set_ftrace_filter || fail 'a command with a count is not taken away'
echo schedule:traceoff >> set_ftrace_filter
says set_ftrace_filter schedule:traceoff "the functions have this command already*"
echo '!schedule:traceoff' >> set_ftrace_filter
echo 1 > tracing_on
says set_ftrace_notrace schedule:traceoff "'schedule:traceoff' is a command, and only set_ftrace_filter takes commands"

# -- events
says set_event sched:sched_swich "no event 'sched:sched_swich'; close: sched:sched_switch"
says set_event sched_swich "no event 'sched_swich'; close: sched_switch"
says set_event -sched_switch "no event '-sched_switch'; to switch it off write '!sched_switch'"
says set_event schd "no event 'schd'; close: sched"
says events/sched/sched_switch/enable 2 "'2' is not 0 (off) or 1 (on)"
says events/sched/enable x "'x' is not 0 (off) or 1 (on)"
says events/enable x "'x' is not 0 (off) or 1 (on)"
says events/sched/sched_switch/trigger tracof "no trigger 'tracof'; there are: traceon *"
says events/sched/sched_switch/trigger enable_event:sched:sched_wakup "no event 'sched_wakup' in 'sched'; close: sched:sched_wakeup*"
says events/sched/sched_switch/trigger traceoff:x "'traceoff:x' is not TRIGGER*"
echo > error_log
logs events/sched/sched_switch/filter 'next_pdi == 1' "'next_pdi == 1', column 9: Field not found; close: next_pid, next_prio"
logs events/sched/sched_switch/filter 'qqqqqq == 1' "'qqqqqq == 1', column 7: Field not found; the fields are: prev_comm *"
logs events/sched/sched_switch/filter 'next_pdi is 1' "'next_pdi is 1', column 9: Field not found; close: next_pid, next_prio"
logs events/sched/sched_switch/trigger 'traceoff if next_pdi == 1' "'next_pdi == 1', column 9: Field not found; close: next_pid, next_prio"
logs events/sched/filter 'qqqqqq == 1' "'qqqqqq == 1' is not a filter for the fields of any event of this system*"
same 'in the words of Linux' 'event filter parse error' "$(grep error: error_log | sed 's/^[^]]*\] //; s/: .*//' | sort -u)"

# -- options, numbers, masks
says trace_options print-paren "no option 'print-paren'; close: print-parent*"
says trace_options stacktrac "no option 'stacktrac'; close: stacktrace"
says trace_options funcgraph-cpu "'funcgraph-cpu' is an option of a tracer that is not selected: function_graph"
says options/raw 2 "'2' is not 0 (off) or 1 (on)"
says options/test_nop_refuse 1 'the tracer does not allow this change now'
says trace_options test_nop_refuse 'the tracer does not allow this change now'
says buffer_size_kb abc "'abc' is not a number of KiB for each CPU, 1 or more"
says buffer_size_kb 99999999 "not enough memory for '99999999' KiB for each of 2 CPUs; * KiB are free in all"
says per_cpu/cpu1/buffer_size_kb 0 "'0' is not a number of KiB for each CPU, 1 or more"
says tracing_cpumask f0 "'f0' has CPUs that this machine has not; all CPUs are 3"
says tracing_cpumask 7 "'7' has CPUs that this machine has not; all CPUs are 3"
says tracing_cpumask xyz "'xyz' is not a hexadecimal mask of CPUs, bit 0 for CPU 0; all CPUs are 3"
says set_event_pid abc "'abc' is not the number of a task, below 32768*"
says set_event_pid 32768 "'32768' is not the number of a task, below 32768*"
says set_ftrace_pid '1 x' "'x' is not the number of a task, below 32768*" 2>&1 | grep -v command
says tracing_thresh 1us "'1us' is not a number of microseconds; 0: no threshold"
says tracing_max_latency x "'x' is not a number of microseconds*"
says tracing_on x "'x' is not a number: 0 stops*"
says tracing_enabled x "'x' is not a number: 0 stops*"
says max_graph_depth x "'x' is not a number of calls*"
says saved_cmdlines_size 0 "'0' is not a number of tasks, 1 to 32768"
says function_profile_enabled x "'x' is not a number: 0 ends*"
says buffer_percent 101 "'101' is not a number from 0 to 100"
says buffer_subbuf_size_kb 513 "'513' is not a number of KiB from 1 to 512"
says stack_max_size x "'x' is not a number of bytes*"
echo irqsoff > current_tracer
says snapshot 1 "the latency tracer in current_tracer uses the second buffer; set nop first"
echo nop > current_tracer
says snapshot x "'x' is not 0 (free it*"
says available_tracers "" 'the file is only read'
says current_tracer "$(printf 'a\033[2Jb')" "no tracer 'a?\[2Jb'*"
says current_tracer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "no tracer 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'*"
# Names in any language stand there as they are, cut between characters; what would move the terminal does not.
says current_tracer '跟踪器é' "no tracer '跟踪器é'; there are*"
says current_tracer "$(printf 'a\302\2332Jb\342\200\256c\300\257d\346\226')" "no tracer 'a[?][?]2Jb[?][?][?]c[?][?]d[?][?]'*"
says current_tracer "$(printf '跟%.0s' $(seq 30))" "no tracer '$(printf '跟%.0s' $(seq 18))...'*"

# -- memory for the second buffer
echo 32000 > buffer_size_kb || fail 'no room for the first buffer'
says current_tracer irqsoff "not enough memory for the second buffer of a latency tracer*; make buffer_size_kb smaller"
says snapshot 1 "not enough memory for a second buffer*"
echo 1408 > buffer_size_kb
grep -q 'Snapshot is freed' snapshot || fail "a refused tracer keeps a second buffer: $(head -n 3 snapshot)"
cp /bin/true /tmp/seen
cp /bin/true /tmp/unknown
echo 1 > events/sched/sched_switch/enable
/tmp/seen
echo 0 > events/sched/sched_switch/enable
/tmp/unknown
grep unknown saved_cmdlines && fail 'a refused tracer goes on recording names'
grep -q seen saved_cmdlines || fail 'names are not recorded at all'

# -- files that are not there
for file in nofile options/nooption events/noevent events/sched/none per_cpu/cpu0/none instances/none; do
	for way in 'cat $file' 'echo 1 > $file' 'echo 1 >> $file'; do
		eval "$way" 2>&1 | grep -q 'No such file or directory' || fail "$way: $file"
	done
	test -e $file && fail "$file was made"
done

# -- tracing_enabled
head_has() {
	grep -qx '# tracing_enabled is 0' trace
}
echo function > current_tracer
echo 0 > tracing_enabled
head_has && fail 'it says so of a trace that is not empty'
echo > trace
head_has || fail 'the head does not say why the trace is empty'
echo 1 > tracing_enabled

# -- tracing_on
off_said() {
	grep -qx '# tracing_on is 0' trace
}
off_said && fail 'tracing_on is said to be 0'
echo 0 > tracing_on
off_said && fail 'it says so of tracing_on, of a trace that is not empty'
echo > trace
off_said || fail 'the head does not say that tracing_on is 0'
echo 1 > tracing_on
echo nop > current_tracer
echo > trace
head_has && fail 'it says so with the switch on'
echo 0 > tracing_enabled
head_has || fail 'it does not say so with nop, though events are kept out as well'
echo 1 > tracing_enabled

# -- what Linux accepts is not talked about
dmesg > /tmp/before
printf shcedule > set_ftrace_filter # dropped at close, as Linux does
echo 5 > tracing_on
echo '*' > set_event
echo > set_event
echo '!sched:*' > set_event
echo '!traceoff' > events/sched/sched_switch/trigger
echo 0 > events/sched/filter
echo noraw > trace_options
same 'nothing is said of good writes' "$(cat /tmp/before)" "$(dmesg)"

# -- whoever writes garbage all the time does not fill the log
sleep 6
dmesg > /tmp/before
for i in $(seq 40); do
	echo x > tracing_on
done 2> /dev/null
same 'ten lines' 10 "$(($(dmesg | grep -c '') - $(grep -c '' /tmp/before)))"
sleep 6
says tracing_on y "'y' is not *"
same 'and how many more' 'tracing: 30 more refused writes were not logged' "$(dmesg | tail -n 2 | head -n 1 | sed 's/^\[[^]]*\] //')"
tracing_reset
# -- a line has room for 95 characters of a path: one that is longer begins with a folder further down
for n in 74 75; do
	name=$(printf "%0${n}d" 0)
	mkdir instances/$name
	echo y 2> /dev/null > instances/$name/tracing_on && fail "tracing_on takes 'y'"
	test $n = 74 && where=instances/$name/tracing_on || where=$name/tracing_on
	same "a name of $n" $where "$(last | cut -d : -f 1)"
	rmdir instances/$name
done
# -- files that are only written
dmesg -c > /dev/null
for file in trace_marker trace_marker_raw free_buffer; do
	cat $file 2>&1 | grep -q 'Invalid argument' || fail "$file can be read"
	dmesg -c | grep -q "$file: is only written, and cannot be read" || fail "$file does not say that it is only written"
done

# -- readers of trace_pipe sleep while there is nothing
tracing_reset
cat trace_pipe > /tmp/text &
pid=$!
usleep 50000
turns() {
	grep '^voluntary_ctxt_switches' /proc/$pid/status | tr -dc 0-9
}
turns=$(turns)
usleep 500000
test $(($(turns) - turns)) -le 2 || fail "a reader of trace_pipe ran $(($(turns) - turns)) times for nothing"
echo 'to be read' > trace_marker
until grep -q 'to be read' /tmp/text; do
	usleep 10000
done
kill $pid
wait $pid
finish
