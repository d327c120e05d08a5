# trace-cmd's commands, each with one line that says what it did. The file of the last record goes to /host.
cd /tmp || exit 1
lines() { grep -c "$1"; }
trace-cmd start -e sched:sched_process_exec > /dev/null
/bin/true
echo "show $(trace-cmd show | lines 'filename=/bin/true')"
echo "stat $(trace-cmd stat | grep -c 'sched_process_exec\|sched/sched_process_exec')"
trace-cmd stop
/bin/true
echo "stopped $(trace-cmd show | lines 'filename=/bin/true')"
trace-cmd extract -o extracted.dat > /dev/null 2>&1
echo "extract $(trace-cmd report -i extracted.dat 2> /dev/null | lines 'filename=/bin/true')"
trace-cmd start -e sched:sched_process_exec > /dev/null
/bin/true
trace-cmd snapshot -s > /dev/null
/bin/true
trace-cmd extract -s -o extracted.dat > /dev/null 2>&1
echo "snapshot $(trace-cmd report -i extracted.dat 2> /dev/null | lines 'filename=/bin/true')"
trace-cmd reset
echo "reset $(cat /sys/kernel/tracing/set_event | wc -l) $(cat /sys/kernel/tracing/current_tracer)"
trace-cmd record -p function -l vfs_read -o function.dat cat /etc/hostname > /dev/null 2>&1
echo "function $(($(trace-cmd report -i function.dat 2> /dev/null | lines 'vfs_read') > 0))"
trace-cmd record -p function_graph -g ksys_read -o graph.dat cat /etc/hostname > /dev/null 2>&1
echo "graph $(($(trace-cmd report -i graph.dat 2> /dev/null | lines 'vfs_read() {') > 0))"
echo "list $(trace-cmd list -t | tr ' ' '\n' | grep -cx 'function\|function_graph\|nop')"
trace-cmd record -e sched -e syscalls -o recorded.dat sh -c 'ls / | sort > /dev/null; exit 3' > said 2>&1
echo "record $?"
trace-cmd report -i recorded.dat 2> /dev/null | grep -c . > /host/lines
cp recorded.dat /host
