# trace-record to a port without a reader: a signal ends the wait, and settings are back before.
trace-record -qe sched -P live -- true &
until test -e /tmp/trace-record.$!; do usleep 5000; done
until grep -q sched_switch /sys/kernel/tracing/set_event; do usleep 5000; done
while grep -q sched_switch /sys/kernel/tracing/set_event; do usleep 5000; done
until grep -q port_write /proc/$!/stack; do usleep 5000; done
kill -INT $!
wait $!
echo $? $(ls /tmp | sed s/[0-9][0-9]*/N/) $(cat /sys/kernel/tracing/set_event)
