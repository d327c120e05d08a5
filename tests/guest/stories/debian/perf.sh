# perf of Debian, as far as it goes by tracefs and not by perf_event_open(2): each line says what it saw.
cd /tmp || exit 1
mount | grep -q /sys/kernel/tracing || exit 1
tracefs=/sys/kernel/tracing
perf ftrace -T vfs_read cat /etc/hostname > seen 2>&1
echo "functions $(($(grep -c 'cat-.*: vfs_read <-ksys_read' seen) > 0)) others $(grep '<-' seen | grep -vc ': vfs_read <-')"
perf ftrace -G ksys_read --graph-opts depth=2 cat /etc/hostname > seen 2>&1
echo "graph $(($(grep -c '|  ksys_read() {' seen) > 0)) inside $(($(grep -c '|    vfs_read();' seen) > 0)) deeper $(grep -c '|      [a-z]' seen)"
perf ftrace latency -T sys_getppid perf bench syscall basic -l 1000 > seen 2>&1
echo "latency $(awk -F '|' '/us \|| ms \|/ { sum += $2 } END { print sum }' seen)"
echo 1 > $tracefs/tracing_on # perf ftrace leaves it off
echo "list $(perf list 'sched:*' 2>&1 | grep -c '^  sched:') $(find $tracefs/events/sched -mindepth 1 -type d | wc -l)"
perf probe -q --add 'seen=vfs_read $stack' && perf probe -l 2>&1
cat $tracefs/kprobe_events
echo 1 > $tracefs/events/probe/seen/enable
echo > $tracefs/trace
cat /etc/hostname > /dev/null
echo 0 > $tracefs/events/probe/seen/enable
echo "kprobe $(($(grep -c 'cat-.* seen: (vfs_read+0x0/0x.*) arg1=0x' $tracefs/trace) > 0))"
perf probe -q -x /bin/bash --add main
echo 1 > $tracefs/events/probe_bash/main/enable
echo > $tracefs/trace
bash -c true
bash -c true
echo 0 > $tracefs/events/probe_bash/main/enable
echo "uprobe $(grep -c 'bash-.* main: (0x' $tracefs/trace)"
perf probe -q --del '*'
cat $tracefs/dynamic_events
perf record -o none -e sched:sched_switch true > seen 2>&1
echo "record $? $(grep -c 'Function not implemented' seen)"
