# Idle times of CPU 0 before and after some sleeps, as events, as the tracer's lines, and as files count them.
cd /sys/kernel/tracing
say() { echo "@$1"; shift; "$@"; }
taskset -p 1 $$ > /dev/null
idle=/sys/devices/system/cpu/cpu0/cpuidle
look() {
	read -r usage < $idle/state1/usage
	read -r time < $idle/state1/time
	read -r poll < $idle/state0/usage
	while read -r cpu user nice system idling rest; do
		test $cpu = cpu0 && break
	done < /proc/stat
	echo "$usage $time $poll $idling"
}
work() { for n in 1 2 3 4 5 6; do sleep 0.1; done; cat trace_stat/power > /dev/null; }
say states ls $idle
say names grep . $idle/state0/name $idle/state0/desc $idle/state1/name $idle/state1/desc
echo 1 > events/power/enable
say before look
echo mark > trace_marker
work
echo mark > trace_marker
say after look
say events cat trace
echo 0 > events/power/enable
echo > trace
echo power > current_tracer
say tracer_before look
echo mark > trace_marker
work
echo mark > trace_marker
say tracer_after look
say tracer cat trace
echo nop > current_tracer
say stat cat trace_stat/power
say last look
