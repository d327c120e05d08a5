# The guests of tests/guest/module/test_module_direct.py run these parts.

#: argument: A trampoline gets the argument; other tracers see the function as ever.
insmod /ftrace-direct.ko; grep -A1 wake_up_process enabled_functions; echo == on
echo wake_up_process > set_ftrace_filter; echo function > current_tracer; echo 1 > events/sched/sched_waking/enable
for i in 1 2 3 4 5; do usleep 2000; done; echo 0 > tracing_on; echo 0 > events/enable; cat trace
echo == graph; echo function_graph > current_tracer; echo 1 > tracing_on; usleep 2000; usleep 2000; echo 0 > tracing_on
cat trace; echo nop > current_tracer; echo 1 > tracing_on; usleep 1000; cat trace | grep -c 'waking up'
echo == off; rmmod ftrace_direct; echo > trace; usleep 1000; grep -c waking trace; cat enabled_functions

#: holds: A trampoline of four arguments; the module's end waits for the calls that are inside.
insmod /holds.ko; echo twelve-bytes > /tmp/x; cat /tmp/x; printf three > /tmp/x; cat /tmp/x; echo
grep -o 'count.*' trace; echo 400 > /sys/module/holds/parameters/sleeps; (echo late > /tmp/y) &
until grep -q 'count 5' trace; do usleep 1000; done
[ -s /tmp/y ] && echo early; rmmod holds; [ -s /tmp/y ] && echo written; cat /tmp/y; wait
