# A kernel without optional rooms traces itself, and lacks what these have.
cd /sys/kernel/tracing
echo function > current_tracer
ls / > /dev/null
grep -q 'schedule <-' trace && echo functions
echo function_graph > current_tracer
ls / > /dev/null
grep -q ' schedule() {' trace && echo graph
echo nop > current_tracer
echo 1 > events/sched/sched_switch/enable
ls / > /dev/null
grep -q ' sched_switch: ' trace && echo events
cat available_tracers
ls . events/sched events/sched/sched_switch events/raw_syscalls > /tmp/names
wc -l < /tmp/names
grep -E '^sys_enter|^kprobe_events$|^synthetic_events$|^dynamic_events$|^hist$|^trigger$|^instances$' /tmp/names
ls -d events/syscalls
ls /proc
mount -t 9p x /tmp
cat /sys/kernel/debug/latency/irqs_off
lsmod
rmmod none
ls -d events/module
# Memory becomes full: the program that needs a page dies of it, and the rest goes on.
m=40 status=0
while test $status = 0; do
	dd if=/dev/zero of=/dev/null bs=${m}M count=1 2> /dev/null
	status=$? m=$((m + 2))
done
echo full $status
dmesg | grep -o 'Out of memory: .*(dd), which needed a page' | tr -d 0-9
(echo 'schedule:traceoff' > set_ftrace_filter) 2>&1 | grep -o 'Invalid argument'
grep -c traceoff set_ftrace_filter
(echo '*:mod:none' > set_ftrace_filter) 2>&1 | grep -o 'Invalid argument'
cat error_log
dmesg | grep -c mod:none
(echo 'nofield > 1' > events/sched/sched_switch/filter) 2> /dev/null || grep -c 'error: Field not found' error_log
