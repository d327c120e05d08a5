# A command, a watch and a probe of what goes when init has returned.
enable=events/sched/sched_switch/enable; echo 'f:ev long:long_init' > dynamic_events; echo 1 > events/fprobes/ev/enable
parameters=/sys/module/long/parameters; insmod /long.ko & until grep -qs 1 $parameters/inside; do usleep 1000; done
echo long_init:enable_event:sched:sched_switch > set_ftrace_filter; cat $enable; echo long_value:-w- > ksym_trace_filter
wc -l < ksym_trace_filter; echo 1 > $parameters/go; wait $!; grep -v '^#' set_ftrace_filter; cat $enable; wc -l < ksym_trace_filter
rmmod long; insmod /long.ko go=1; grep -c ' ev: ' trace; rmmod long
