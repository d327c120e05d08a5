# perf-tools' scripts, each with one line that says what it saw of a program that starts, opens a file or calls a function.
cd /tmp || exit 1
# What a script prints, while a file is read now and then: the script needs some seconds before it looks.
during() {
	rm -f ended
	(until [ -e ended ]; do sleep 0.5 && cat /etc/hostname > /dev/null; done) &
	"$@" > seen 2>&1
	status=$?
	: > ended
	wait
	return $status
}
during funccount-perf -d 3 'vfs_rea*'
echo "funccount $(grep -c '^vfs_read ' seen)"
during functrace-perf -d 3 vfs_open
echo "functrace $(($(grep -c 'cat-.*vfs_open' seen) > 0))"
during funcgraph-perf -d 3 vfs_read
echo "funcgraph $(($(grep -c 'vfs_read() {' seen) > 0))"
during funcslower-perf -d 3 vfs_read 1
echo "funcslower $(($(grep -c 'vfs_read' seen) > 0))"
during tpoint-perf -d 3 sched:sched_process_exec
echo "tpoint $(($(grep -c 'filename=/usr/bin/cat' seen) > 0))"
reset-ftrace-perf > seen 2>&1
echo "reset $(cat /sys/kernel/tracing/current_tracer) $(cat /sys/kernel/tracing/set_event | wc -l)"
