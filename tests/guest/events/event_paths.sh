#!/bin/sh
# description: events stand on each way that leads to what they tell of, also on the short ones: signals that are ignored, threads of the kernel, idle tasks
# requires: smp=3 icount append="trace_event=task:task_newtask,sched:sched_process_fork"
# requires: rooms="module noise instances"
. /run/prelude
cat $T/trace > /tmp/boot
tracing_reset

# -- of the boot: idle tasks and kthreadd are new tasks, too
for cpu in 1 2; do
	same "the idle task of CPU $cpu" 1 "$(grep -c "task_newtask: pid=0 comm=swapper/$cpu " /tmp/boot)"
done
same kthreadd 1 "$(grep -c 'sched_process_fork: comm=swapper/0 pid=0 child_comm=.* child_pid=2$' /tmp/boot)"

# recorded EVENTS COMMAND...: what the command does of these events, in /tmp/trace
recorded() {
	echo "$1" > set_event
	shift
	echo > trace
	"$@" > /tmp/output 2>&1
	echo > set_event
	cat trace > /tmp/trace
}
# of_shell: what the shell that said its number got
of_shell() {
	grep -o "signal_generate: .* pid=$(head -n 1 /tmp/output) .*" /tmp/trace | sed 's/.*\(sig=[0-9]*\) errno=0 \(code=[0-9]*\) comm=\([a-z]*\) .* \(grp=.*\)/\1 \2 \3 \4/'
}

# -- the end of children, for a parent without a handler (CLD_EXITED, CLD_KILLED), and for one that ignores it, which is no signal
recorded signal:signal_generate sh -c 'echo $$; ls /; ls /; sh -c "kill -9 \$\$"; true'
same 'ends of children' 'sig=17 code=1 sh grp=1 res=1
sig=17 code=1 sh grp=1 res=1
sig=17 code=2 sh grp=1 res=1' "$(of_shell)"
recorded signal:signal_generate sh -c 'echo $$; trap : CHLD; ls /; true'
same 'with a handler' 'sig=17 code=1 sh grp=1 res=0' "$(of_shell)"
recorded signal:signal_generate sh -c 'echo $$; trap "" CHLD; ls /; true'
same 'ignored' '' "$(of_shell)"

# -- a thread of the kernel that waits for a program gets the signal as well
mknod /tmp/nodevice c 201 7
recorded 'signal:signal_generate sched:sched_process_exit' cat /tmp/nodevice
ends=$(grep -c 'sched_process_exit: comm=modprobe' /tmp/trace)
test $ends -gt 0 || fail 'modprobe was not asked'
same 'programs of the kernel' $ends "$(grep -c 'modprobe-.*signal_generate: sig=17 errno=0 code=1 comm=umh//sbin/modpr pid=[0-9]* grp=1 res=1$' /tmp/trace)"

# -- threads of the kernel: who makes them, under which name
mkdir instances/threads # to select a tracer empties its own array
echo 'task:task_newtask sched:sched_process_fork' > instances/threads/set_event
echo hwlat > current_tracer
echo nop > current_tracer
cat instances/threads/trace > /tmp/trace
rmdir instances/threads
same 'a new thread' 'comm=hwlatd
comm=kthreadd pid=2 child_comm=hwlatd' "$(grep -o 'task_newtask: .*hwlatd\|sched_process_fork: .*hwlatd' /tmp/trace | sed 's/task_newtask: pid=[0-9]* //; s/sched_process_fork: //')"
finish
