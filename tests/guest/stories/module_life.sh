# A command, a watch and a probe of what goes when init has returned.
enable=events/sched/sched_switch/enable; echo 'f:ev long:long_init' > dynamic_events; echo 1 > events/fprobes/ev/enable
insmod /long.ko & while ! grep -q ' long_init' /proc/kallsyms; do sleep 0.05; done; sleep 0.2
echo long_init:enable_event:sched:sched_switch > set_ftrace_filter; cat $enable; echo long_value:-w- > ksym_trace_filter
wc -l < ksym_trace_filter; wait $!; grep -v '^#' set_ftrace_filter; cat $enable; wc -l < ksym_trace_filter
rmmod long; insmod /long.ko; grep -c ' ev: ' trace; rmmod long
