# Each CPU writes to the console and to a port while all accesses to devices are traced.
cd /sys/kernel/tracing
cpus=$(grep -c ^processor /proc/cpuinfo)
echo 16384 > buffer_size_kb
echo mmiotrace > current_tracer
echo everything is traced > trace_marker
cpu=0
while test $cpu -lt $cpus; do
	taskset $((1 << cpu)) sh -c 'for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "words of one CPU on the console"
		sleep 0.01
		echo more > /dev/virtio-ports/load 2> /dev/null
		ls /bin > /dev/null
	done' &
	cpu=$((cpu + 1))
done
wait
echo 0 > tracing_on
{
	grep MARK trace
	cpu=0
	while test $cpu -lt $cpus; do
		echo "@$cpu"
		cat per_cpu/cpu$cpu/trace
		cpu=$((cpu + 1))
	done
} > /dev/virtio-ports/out
echo nop > current_tracer
grep -h -E 'overrun|dropped' per_cpu/cpu*/stats
