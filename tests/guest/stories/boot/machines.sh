# As many CPUs as $1 says are there and work, of the model $2.
test $(grep -c ^processor /proc/cpuinfo) = $1 || { echo "/proc/cpuinfo: not $1 processors"; exit 1; }
test $(ls -d /sys/kernel/tracing/per_cpu/cpu* | wc -l) = $1 || { echo "per_cpu: not $1 CPUs"; exit 1; }
test -z "$2" -o $(grep -c "^model name[[:space:]]*: $2$" /proc/cpuinfo) = $1 || { cat /proc/cpuinfo; exit 1; }
cd /sys/kernel/tracing
echo function > current_tracer
cpu=0
while test $cpu -lt $1; do
	taskset $(printf %x $((1 << cpu))) true || { echo "nothing runs on CPU $cpu"; exit 1; }
	cpu=$((cpu + 1))
done
echo nop > current_tracer
