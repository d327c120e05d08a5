# What tools/bench has its guests run, in its order. `say LABEL COMMAND` prints @LABEL: and then what the command says.

#: operations: Calls, switches, a boot: what is measured on every kernel.
say boot bench clock
say getpid bench getpid 2000
say pipe bench pipe 500
say yield bench yield 1000
say open bench open 500
say fork bench fork 40

#: function: The function tracer's cost for a call is the slope between two runs of different length: what surrounds them
# cancels out.
say site dmesg
cd /sys/kernel/tracing
say sites wc -l available_filter_functions
say enable bench write current_tracer function
say few cat per_cpu/cpu0/stats
say short bench getpid @SHORT@
say middle cat per_cpu/cpu0/stats
say long bench getpid @LONG@
say many cat per_cpu/cpu0/stats
echo 0 > tracing_on
say trace bench read trace
say disable bench write current_tracer nop
echo 1 > tracing_on

#: modules: A module's load, and calls, works and allocations in it, traced and not.
say module bench module /bench_module.ko
@MODULE@
@WORK_COUNTED@
echo 0 > workqueue_profile_enabled
@WORK@
echo 1 > workqueue_profile_enabled
@ALLOC@
echo kmemtrace > current_tracer
@ALLOC_TRACED@
echo nop > current_tracer
echo > trace
echo called > set_ftrace_filter
echo function > current_tracer
@MODULE_TRACED@
echo nop > current_tracer
echo > set_ftrace_filter
rmmod bench_module
say initcall_off bench module /bench_module.ko
rmmod bench_module
echo initcall > current_tracer
say initcall_on bench module /bench_module.ko
rmmod bench_module
echo nop > current_tracer
echo > trace

#: ksym: Accesses of a variable, each a store: not watched, and then each is reported by a hardware breakpoint.
echo ksym_tracer > current_tracer
say stores_few sh -c "@FEW@"
say stores_many sh -c "@MANY@"
echo ksym_target:-w- > ksym_trace_filter
say watched_few sh -c "@FEW@"
say watched_many sh -c "@MANY@"
echo nop > current_tracer

#: sysprof: The same work with and without samples of it: a loop of the kernel, one of a program.
say spin bench spin 200
say stores @WORK@
echo @PERIOD@ > sysprof_sample_period
echo sysprof > current_tracer
say spin_sampled bench spin 200
say stores_sampled @WORK@
echo nop > current_tracer
echo 1000 > sysprof_sample_period

#: mmio: Accesses of a device, which is a page of memory here, so that an access is as dear as its instruction.
say mmio_few sh -c "@FEW@"
say mmio_many sh -c "@MANY@"
echo mmiotrace > current_tracer
say mmio_traced_few sh -c "@FEW@"
say mmio_traced_many sh -c "@MANY@"
echo nop > current_tracer

#: step: A loop of the kernel whose first instructions are stepped through, a branch in four of them.
echo text_file_write > set_graph_function
echo @STEPS@ > hw_branch_window
echo hw-branch-tracer > current_tracer
say stepped_few bench write /sys/kernel/debug/hw_breakpoint/write 100000
echo nop > current_tracer
echo @MORE_STEPS@ > hw_branch_window
echo hw-branch-tracer > current_tracer
say stepped_many bench write /sys/kernel/debug/hw_breakpoint/write 100000
echo nop > current_tracer
echo > set_graph_function

#: noise: osnoise's hooks without its threads; and timerlat's threads beside a program.
echo NO_OSNOISE_WORKLOAD > osnoise/options
echo osnoise > current_tracer
say pipe_osnoise bench pipe 500
echo nop > current_tracer
echo OSNOISE_WORKLOAD > osnoise/options
echo timerlat > current_tracer
say spin_timerlat bench spin 200
echo nop > current_tracer

#: tracing: Once function_graph has been used, tasks have a shadow stack, and a call costs the function tracer some more.
echo function_graph > current_tracer
say graph bench getpid @LONG@
echo 1 > function_profile_enabled
say graph_profiled bench getpid @LONG@
echo 0 > function_profile_enabled
echo vfs_rmdir > set_graph_function
say passed bench getpid @LONG@
echo > set_graph_function
echo 1 > max_graph_depth
say depth_few sh -c "@LESS@"
say depth_many sh -c "@MORE@"
echo 0 > max_graph_depth
echo 1 > set_ftrace_pid
say other_task bench getpid @LONG@
echo > set_ftrace_pid
echo vfs_rmdir > set_ftrace_filter
say filtered bench getpid @LONG@
echo > set_ftrace_filter
echo nop > current_tracer
mkdir instances/bench
echo function_graph > instances/bench/current_tracer
say graph_instance bench getpid @LONG@
rmdir instances/bench
echo 1 > function_profile_enabled
say profiled bench getpid @LONG@
echo 0 > function_profile_enabled
echo 1 > /proc/sys/kernel/stack_tracer_enabled
say stack bench getpid @LONG@
echo function > current_tracer
say two bench getpid @LONG@
echo nop > current_tracer
echo 0 > /proc/sys/kernel/stack_tracer_enabled
say plain_few sh -c "@LESS@"
say plain_many sh -c "@MORE@"

#: hooks: What the hooks of interrupts and preemption cost, without a tracer and under those that want them.
say hooks cat /sys/kernel/debug/latency/hook_cost
echo irqsoff > current_tracer
say irqsoff cat /sys/kernel/debug/latency/hook_cost
say getpid_irqsoff bench getpid 2000
echo preemptoff > current_tracer
say preemptoff cat /sys/kernel/debug/latency/hook_cost
echo nop > current_tracer

#: wakeups: A wake-up that is followed and one that is not: the difference of two kinds of pipe rounds, and what both become.
say wakeup bench wakeup 500
echo 0 > options/function-trace
echo wakeup > current_tracer
say wakeup_on bench wakeup 500
echo 1 > options/function-trace
say pipe_wakeup bench pipe 500
say wakeup_functions bench wakeup 500
echo nop > current_tracer

#: events: A pipe round has two switches, getpid is one call.
echo > trace
echo 1 > events/sched/sched_switch/enable
say switches bench pipe 500
say event_trace bench read trace
echo 'next_pid == 99999' > events/sched/sched_switch/filter
say refused bench pipe 500
echo 0 > events/sched/sched_switch/filter
echo 0 > events/sched/sched_switch/enable
echo 1 > events/raw_syscalls/sys_enter/enable
say sys_enter bench getpid 2000
echo 0 > events/raw_syscalls/sys_enter/enable

#: probes: Kprobe events with an argument: at a function's first instruction (on x86_64 a call site of ftrace), at one behind
# it by a jump and by a breakpoint, and at its return. On aarch64 the probe of the first instruction is a jump, too. Then
# the other kinds of dynamic events, each with one argument.
at=8; test $(uname -m) = x86_64 && at=5
probe() {
	echo "$2" > kprobe_events
	echo 1 > events/kprobes/enable
	say $1 bench getpid 2000
	echo 0 > events/kprobes/enable
}
probe kprobe_entry 'p:bench sys_getpid $stack'
probe kprobe_jump "p:bench sys_getpid+$at \$stack"
echo 0 > /proc/sys/debug/kprobes-optimization
probe kprobe_break "p:bench sys_getpid+$at \$stack"
echo 1 > /proc/sys/debug/kprobes-optimization
probe kretprobe 'r:bench sys_getpid $retval'
echo > kprobe_events
dynamic() {
	echo "$3" > dynamic_events
	echo 1 > events/$2/bench/enable
	say $1 bench getpid 2000
	echo 0 > events/$2/bench/enable
	echo > dynamic_events
}
dynamic fprobe fprobes 'f:bench sys_getpid $arg1'
dynamic fprobe_exit fprobes 'f:bench sys_getpid%return $retval'
dynamic tprobe tracepoints 't:bench sys_enter $arg2'
dynamic eprobe eprobes 'e:bench raw_syscalls.sys_enter id=$id'

#: hists: Histograms beside the record of an event: a hit of a key that is there, and of one that is new each time. Then a
# latency from the begin of a call to its end, which makes a synthetic event: off, and recorded.
cd events/raw_syscalls
hist() {
	echo "hist:$2" > sys_enter/trigger
	say $1 bench getpid 2000
	echo "!hist:$2" > sys_enter/trigger
}
echo 1 > sys_enter/enable
hist hist_hit keys=id
hist hist_new keys=common_timestamp:size=131072
echo 0 > sys_enter/enable
cd ../..
echo 'bench_latency u64 lat' > synthetic_events
echo 'hist:keys=common_pid:ts0=common_timestamp' > events/raw_syscalls/sys_enter/trigger
echo 'hist:keys=common_pid:lat=common_timestamp-$ts0:onmatch(raw_syscalls.sys_enter).bench_latency($lat)' 	> events/raw_syscalls/sys_exit/trigger
say synth_off bench getpid 2000
echo 1 > events/synthetic/bench_latency/enable
say synth_on bench getpid 2000
echo 0 > events/synthetic/bench_latency/enable
echo '!hist:keys=common_pid:lat=common_timestamp-$ts0:onmatch(raw_syscalls.sys_enter).bench_latency($lat)' 	> events/raw_syscalls/sys_exit/trigger
echo '!hist:keys=common_pid:ts0=common_timestamp' > events/raw_syscalls/sys_enter/trigger
echo > synthetic_events

#: messages: The stamps of messages of three kinds, a hundred each: of the fifth and the fifth but last.
echo 200 > buffer_size_kb
echo > trace
echo 1 > options/raw
echo many > /sys/kernel/debug/trace_printk/hello
say messages sh -c "grep many trace | cut -d' ' -f3 | sed -n '5p;95p;105p;195p;205p;295p'"
echo 0 > options/raw

#: branches: On the kernel whose hints count and can be traced.
say branch_getpid bench getpid @LONG@
cd /sys/kernel/tracing
echo branch > current_tracer
say branch_few cat per_cpu/cpu0/stats
say branch_short bench getpid @SHORT@
say branch_middle cat per_cpu/cpu0/stats
say branch_long bench getpid @LONG@
say branch_many cat per_cpu/cpu0/stats

#: glibc: Processes of a program of glibc, linked in two ways, and its clock.
say fork_static /bin/glibc-static fork 10
say fork_dynamic /bin/glibc-dynamic fork 10
say exec_static /bin/glibc-static exec 10
say exec_dynamic /bin/glibc-dynamic exec 10
say clock /bin/glibc-static clock 1000
