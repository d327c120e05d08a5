# The guests of tools/latency-record run these parts.

#: tracers: Each tracer in turn, while all kinds of work run.
# Beside the workers a real-time thread and a deadline thread wake up every millisecond. Where there are several CPUs,
# each is followed by one that idles: QEMU 7.2 passes over the CPU after a busy one, turn after turn, when the other CPUs
# had nothing to do. (The deadline thread may run on all: admission wants that.)
cd /sys/kernel/tracing
echo @FUNCTIONS@ > options/function-trace
echo latency-format > trace_options
echo @MASK@ > tracing_cpumask
all=$(taskset -p $$ | sed 's/.*: //')
for tracer in @TRACERS@; do
	echo 0 > tracing_on
	echo $tracer > current_tracer || exit 1
	echo 0 > tracing_max_latency
	echo "@tracer $tracer"
	taskset -p $all $$ > /dev/null
	test $tracer = wakeup_dl && echo @EVERY@ > tracing_cpumask
	latency -q -P deadline > /dev/null & dl=$!
	taskset -p @MASK@ $$ > /dev/null
	latency -q -p 99 > /dev/null & rt=$!
	last=0
	@MIXES@
	kill $rt $dl
	wait $rt $dl
	cat trace
	echo nop > current_tracer
done
echo "@end"

#: mix: One kind of work. @mix comes whenever the maximum has grown.
echo 1 > tracing_on
	stress @MIX@ --timeout @SECONDS@ || exit 1
	echo 0 > tracing_on
	read now < tracing_max_latency
	test $now = $last || echo "@mix @MIX@"
	last=$now
