# Periods without disturbance, with $PLANTED_US microseconds planted, and with a busy softirq.
cd /sys/kernel/tracing
say() { echo "@$1"; shift; "$@"; }
say record cat events/ftrace/timerlat/format
echo 1 > events/osnoise/enable
echo timerlat > current_tracer
sleep 0.05
echo 0 > tracing_on
say quiet cat trace
echo nop > current_tracer
for kind in irqs_off preempt_off; do
	echo > trace
	echo 1 > tracing_on
	echo timerlat > current_tracer
	sleep 0.02
	echo $PLANTED_US > /sys/kernel/debug/latency/$kind
	sleep 0.01
	echo 0 > tracing_on
	say $kind cat trace
	echo nop > current_tracer
done
echo > trace
echo 1 > tracing_on
echo timerlat > current_tracer
echo 400 5 > /sys/kernel/debug/busy/softirq
sleep 0.1
echo 0 > tracing_on
say busy cat trace
