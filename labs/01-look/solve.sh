# What a student might type, with the answers at its end: `tools/lab solve look --seed N` runs it on each machine.
# $1 is the seed.
cd /sys/kernel/tracing
most() { sort | uniq -c | sort -rn | head -n 1 | sed 's/^ *\([0-9]*\) \(.*\)/\2 \1/'; }
answer() { echo "$1 = \"$2\""; }
begin() { echo 0 > tracing_on; echo nop > current_tracer; echo 0 > events/enable; echo > set_ftrace_filter; echo > trace; echo 1 > tracing_on; }

begin
echo 'pipe_*' > set_ftrace_filter
echo function > current_tracer
lab_look calls $1
echo 0 > tracing_on
answer calls "$(grep ' look-calls-' trace | sed 's/.*: \(.*\) <-.*/\1/' | most)"

begin
echo 1 > events/sched/sched_waking/enable
lab_look wakes $1
echo 0 > tracing_on
answer wakes "$(grep 'sched_waking: comm=look-c ' trace | sed 's/^ *\(.*\)-[0-9]* .*/\1/' | most)"

begin
echo 1 > events/syscalls/enable
lab_look fails $1
echo 0 > tracing_on
answer fails "$(grep ' look-fails-.* -> 0xf' trace | sed 's/.*: sys_\(.*\) -> .*/\1/' | most)"

begin
echo 1 > events/kmem/kmalloc/enable
echo 1 > events/kmem/kmem_cache_alloc/enable
lab_look allocs $1
echo 0 > tracing_on
grep ' look-allocs-' trace | sed -n 's/.*call_site=\([^+]*\)+.* bytes_alloc=\([0-9]*\) .*/\1 \2/p' | sort > /tmp/sites
sum=0 name= best=0 of=
{ cat /tmp/sites; echo END 0; } | {
	while read site bytes; do
		if [ "$site" != "$name" ]; then
			[ $sum -gt $best ] && best=$sum of=$name
			sum=0 name=$site
		fi
		sum=$((sum + bytes))
	done
	answer allocs "$of $best"
}

begin
echo irqsoff > current_tracer
echo 0 > tracing_max_latency
lab_look sections $1
echo 0 > tracing_on
answer sections "$(sed -n 's/^#  => started at: //p' trace) $(cat tracing_max_latency)"

begin
echo look_call look_check look_find look_copy look_notify > set_ftrace_filter
echo function_graph > current_tracer
lab_look slow $1
echo 0 > tracing_on
# Five lines of a call have a name in them: its own, and those of its four steps.
line=$(grep 'look_.*()' trace | grep -n '! .*look_.*();')
begin
answer slow "$(echo "$line" | sed 's/.* \(look_[a-z]*\)();.*/\1/') $(( (${line%%:*} - 1) / 5 + 1 ))"
