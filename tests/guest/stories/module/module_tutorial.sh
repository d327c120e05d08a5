# The guests of tests/guest/module/test_module_tutorial.py run these parts.

#: demo: The module of the tutorial under function_graph and the function tracer.
cd /sys/kernel/debug/tracing; pwd
echo 0 > tracing_enabled; echo 1 > /proc/sys/kernel/ftrace_enabled; echo function_graph > current_tracer
insmod /host/first.ko; lsmod | tail -n 1; echo ':mod:ftrace_demo' > set_ftrace_filter; cat set_ftrace_filter
rmmod ftrace_demo; echo 1 > tracing_enabled; insmod /host/first.ko; rmmod ftrace_demo
grep -o '/\* [^C].* \*/\|/\* Can.*' trace; echo nop > current_tracer; echo > set_ftrace_filter
echo 1 > tracing_on; echo function > current_tracer; insmod /host/ftrace_demo.ko; cat tracing_on
grep -o 'ftrace_demo_init.*' trace; echo 1 > tracing_on; rmmod ftrace_demo; cat tracing_on
grep -o 'ftrace_demo_exit.*' trace; cat /proc/modules

#: event: A module counts processes, and has an event for each.
cd /sys/kernel/tracing; set -- /proc/[0-9]*; here=$(($# + 1)); insmod /host/my_module.ko
dmesg | grep -q "There are $here processes" && dmesg | grep -q "There are $here threads" && echo counted
echo 1 > events/my_system/enable; cat events/my_system/my_event/format | tail -n 1; sleep 5.5
sed -n 's/.*my_event: //p' trace > /seen; rmmod my_module; dmesg | grep -c 'hi! '; dmesg | tail -n 1 | cut -d] -f2
cat /seen
