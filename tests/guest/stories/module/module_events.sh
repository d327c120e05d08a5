# The guests of tests/guest/module/test_module_events.py run these parts.

#: recorded: Events of a module are recorded and filtered as those of the kernel.
insmod /trace_events_sample.ko; echo == ls; ls events/sample; echo == format
cat events/sample/foo_bar/format; echo 1 > events/sample/enable
echo 'length > 4' > events/sample/sample_any/filter; mkdir instances/x
echo sample:sample_any > instances/x/set_event; echo abc > /sys/module/trace_events_sample/parameters/say; echo abcde > /sys/module/trace_events_sample/parameters/say
echo == trace; cat trace; echo == x; cat instances/x/trace; echo == set; cat set_event; rmdir instances/x
echo == map; cat eval_map; rmmod trace_events_sample; echo == later; cat eval_map

#: gone: A module that goes takes its events along: from buffers, open files and triggers. $CRASH: what the log must not have.
insmod /trace_events_sample.ko; echo 1 > events/sample/enable; mkdir instances/x
echo sched_switch > instances/x/set_event; echo 'stacktrace' > events/sample/sample_any/trigger
echo abc > /sys/module/trace_events_sample/parameters/say; exec 4< events/sample/foo_bar/format; exec 5> events/sample/sample_any/enable
exec 6> events/sample/sample_any/filter; exec 7> events/sample/sample_any/trigger
echo 'enable_event:sample:foo_bar' > events/sched/sched_switch/trigger
rmmod trace_events_sample 2>&1; echo busy $?; echo '!enable_event:sample:foo_bar' > events/sched/sched_switch/trigger
echo 'schedule:enable_event:sample:sample_any' > set_ftrace_filter; rmmod trace_events_sample 2>&1; echo busy $?
echo '!schedule:enable_event:sample:sample_any' > set_ftrace_filter
rmmod trace_events_sample; echo gone $?; cat <&4; echo 1 >&5; echo 'length > 4' >&6
echo 'traceoff if length > 4' >&7; ls -d events/sample
dmesg | grep -o "enable: '1'.*"; echo sample > set_event; grep -vc '^#' trace
grep -c sched_switch: instances/x/trace | sed 's/[1-9].*/some/'
insmod /trace_events_sample.ko; cat events/sample/sample_any/enable events/sample/sample_any/trigger
mkdir instances/y; cat instances/y/events/sample/enable; exec 8< instances/y/events/sample/enable; rmdir instances/x
rmmod trace_events_sample; ls -d instances/y/events/sample; exec 8<&-; rmdir instances/y; ls instances
insmod /trace_events_sample.ko; echo 1 > events/sample/sample_any/enable; echo abc > /sys/module/trace_events_sample/parameters/say
grep -c sample_any: trace; rmmod trace_events_sample; grep -vc '^#' trace; dmesg | grep -cE "$CRASH"; true

#: life: The life of modules is recorded, and an oops says which there are.
insmod /tracepoint_sample.ko; echo 1 > events/module/enable; insmod /tracepoint_probe_sample.ko
rmmod tracepoint_probe_sample; echo 0 > events/module/enable; echo == trace; cat trace; echo == format
grep -h 'print fmt' events/module/*/format; echo == oops; insmod /oops.ko; { sh -c 'echo > /proc/oops'; } > /dev/null 2>&1
dmesg | grep -o 'Modules linked in.*'

#: probes: Probes on tracepoints of another module and of the kernel.
insmod /tracepoint_probe_sample.ko 2>/dev/null; echo $?; insmod /tracepoint_sample.ko; cat /proc/tracepoint-sample
insmod /tracepoint_probe_sample.ko; cat /proc/tracepoint-sample; rmmod tracepoint_sample 2>&1 | cut -c1-50
rmmod tracepoint_probe_sample; cat /proc/tracepoint-sample; rmmod tracepoint_sample
dmesg | grep -o 'Unknown symbol .*\|probe: .*'
