# Noise of each of $KINDS is planted: $PLANTED times $PLANTED_US microseconds.
cd /sys/kernel/tracing
say() { echo "@$1"; shift; "$@"; }
counts() {
	echo mark > trace_marker
	cat /proc/interrupts /proc/softirqs
	echo mark > trace_marker
}
for event in irq_noise nmi_noise sample_threshold softirq_noise thread_noise; do
	cat events/osnoise/$event/format
done > /tmp/formats
say formats cat /tmp/formats
say record cat events/ftrace/osnoise/format
echo $RUNTIME_US > osnoise/runtime_us
echo $RUNTIME_US > osnoise/period_us
echo 1 > events/osnoise/enable
for kind in $KINDS; do
	echo > trace
	echo osnoise > current_tracer
	sleep 0.02
	echo $PLANTED_US $PLANTED > /sys/kernel/debug/busy/$kind
	sleep 0.7
	echo 0 > tracing_on
	say $kind cat trace
	echo raw > trace_options
	say raw_$kind grep -v '[a-z]_' trace
	echo noraw > trace_options
	echo nop > current_tracer
	echo 1 > tracing_on
done
echo > trace
echo NO_OSNOISE_WORKLOAD > osnoise/options
echo osnoise > current_tracer
say threads ps
say before counts
echo 50 20 > /sys/kernel/debug/busy/softirq
sleep 0.5
say after counts
echo 0 > tracing_on
say idle cat trace
