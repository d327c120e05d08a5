# Allocations that are left between two marks, and those of the module /kmt.ko.
cd /sys/kernel/tracing
say() { echo "@$1"; shift; "$@"; }
copy() {
	while read -r line; do
		echo "$line"
	done < /proc/$1 > /tmp/$1$2
}
mark() {
	read -r start rest < /proc/uptime
	now=$start
	until test $(((${now%.*} * 100 + 1${now#*.} - 100) - (${start%.*} * 100 + 1${start#*.} - 100))) -ge 6; do
		read -r now rest < /proc/uptime
	done
	copy slabinfo $1
	copy meminfo $1
	echo mark > trace_marker
}
echo 8000 > buffer_size_kb
mark 1; mark 2
echo kmemtrace > current_tracer
mark 1; mark 2
say plain head -300 trace
echo > trace
echo 1 > options/kmem_minimalistic
mark 1
for n in 1 2 3 4 5 6 7; do mkdir /tmp/dir$n; echo some > /tmp/dir$n/file; done
sleep 1000 &
exec 5< /proc/version
mark 2
say balance cat trace
say slab1 cat /tmp/slabinfo1
say slab2 cat /tmp/slabinfo2
say mem1 cat /tmp/meminfo1
say mem2 cat /tmp/meminfo2
echo nop > current_tracer
echo kmemtrace > current_tracer
insmod /kmt.ko
say slabinfo grep kmt_objects /proc/slabinfo
echo 0 > tracing_on
say module grep -E ' (f|work_fn|timer_fn)$' trace
echo 0 > options/kmem_minimalistic
say full grep '\[kmt\]' trace
echo 1 > options/kmem_minimalistic
say stat cat trace_stat/slab
echo nop > current_tracer
rmmod kmt
say kept grep -c kmt trace_stat/slab
echo 1 > tracing_on
echo kmemtrace > current_tracer
say reset grep -c kmt trace_stat/slab
insmod /kmt.ko
rmmod kmt
say no_room head -n 2 trace_stat/slab
true
