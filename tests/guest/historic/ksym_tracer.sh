#!/bin/sh
# description: hardware breakpoints and ksym_tracer: each access of the kernel to a watched variable is counted once
# requires: smp=4;1 icount timeout=240 progs="ptracestep"
# requires: rooms="procfs ptrace samples"
. /run/prelude
H=/sys/kernel/debug/hw_breakpoint
tracing_reset
machine=$(uname -m)

# count SYMBOL: what ksym_profile says of it
count() {
	grep " $1 " ksym_profile | tr -s ' ' | cut -d ' ' -f 4
}

# counts WHAT TYPE ACCESS N: so many of 1000 accesses of this kind are reported, and each has a line
counts() {
	echo 0 > ksym_trace_filter
	echo > trace
	echo ksym_target:$1 > ksym_trace_filter
	echo 1000 > $H/$2
	same "$1, 1000 times $2" $3 $(count ksym_target)
	same "$1, 1000 times $2: lines" $3 $(grep -c " ksym_$2+" trace)
}

echo ksym_tracer > current_tracer
for access in read write atomic cmpxchg irqs_off; do
	counts rw- $access 1000
done
counts -w- read 0
counts -w- write 1000
counts -w- atomic 1000
counts -w- irqs_off 1000
# A cmpxchg that finds another value: x86_64 writes the old one back. The last of the 1000 finds the 0 that it wants.
if test $machine = x86_64; then
	counts -w- cmpxchg 1000
	echo ksym_target:r-- > ksym_trace_filter 2> /dev/null && fail "x86_64 has no breakpoint for reading alone"
else
	counts -w- cmpxchg 1
	counts r-- read 1000
	counts r-- write 0
	counts r-- atomic 1000
fi

echo 10000001 > $H/read 2> /dev/null && fail 'more accesses than there may be'
# The printed forms of 2.6.33.
counts rw- write 1000
cat > /tmp/wanted << 'END'
# tracer: ksym_tracer
#
#       TASK-PID   CPU#      Symbol                    Type    Function
#          |        |          |                        |         |
END
same header "$(cat /tmp/wanted)" "$(head -n 4 trace)"
grep -v '^#' trace | grep -v -E '^ *[^ ]+-[0-9]+ +\[00[0-9]\] ksym_target\+0x0/0x[0-9a-f]+ RW ksym_write\+0x[0-9a-f]+/0x[0-9a-f]+$' |
	grep -q . && fail "a line: $(grep -v '^#' trace | head -n 1)"
cat > /tmp/wanted << 'END'
  Access Type   Symbol                                       Counter
  -----------   ------                                       -------
END
same "ksym_profile's head" "$(cat /tmp/wanted)" "$(head -n 2 ksym_profile)"
grep -q '^  RW            ksym_target                                     1000$' ksym_profile || fail "$(cat ksym_profile)"
grep -q '^ksym_target+0x0/0x[0-9a-f]*:rw-$' ksym_trace_filter || fail "$(cat ksym_trace_filter)"

# Sizes: all of 8 bytes, and one byte.
echo 0 > ksym_trace_filter
echo ksym_target_wide:rw- > ksym_trace_filter
echo ksym_target_byte:-w- > ksym_trace_filter
echo 500 > $H/wide
echo 300 > $H/byte
same "8 bytes" 500 $(count ksym_target_wide)
same "1 byte" 300 $(count ksym_target_byte)

# A type that changes keeps the count; --- ends one, and what is refused changes nothing.
echo ksym_target_byte:rw- > ksym_trace_filter
echo 10 > $H/byte
same "after a change of type" 310 $(count ksym_target_byte)
refuses() {
	before=$(cat ksym_trace_filter)
	{ echo "$1" > ksym_trace_filter; } 2> /dev/null && fail "'$1' was taken"
	holds "after '$1'" ksym_trace_filter "$before"
}
for text in ksym_target_byte:rw- ksym_target:--- ksym_target ksym_target:rwx ksym_target:--x ksym_target:r ksym_target:wr- \
	no_such_symbol:rw- :rw- ksym_target:rw-- ksym_target:rw-:; do
	refuses $text
done
echo ksym_target_byte:--- > ksym_trace_filter
same "symbols left" 1 $(wc -l < ksym_trace_filter)

# There is an end to the registers; the last one is refused with its own error, and none is lost by that.
echo 0 > ksym_trace_filter
taken=0
for symbol in ksym_target ksym_target_wide ksym_target_byte nr_cpu_ids jiffies_64 init_task init_mm cpu_online_mask \
	cpu_possible_mask swapper_pg_dir global_trace trace_buf_size kimage_voffset boot_info saved_command_line panic_timeout linux_banner; do
	{ echo $symbol:-w- > ksym_trace_filter; } 2> /tmp/error && taken=$((taken + 1))
	grep -q 'No space left' /tmp/error && break
done
grep -q 'No space left' /tmp/error || fail "after $taken symbols: $(cat /tmp/error)"
test $taken -ge 4 || fail "only $taken registers"
echo '*:---' > ksym_trace_filter
same "symbols left by *:---" 0 $(wc -l < ksym_trace_filter)

# Execution, by the kernel's own user.
echo 500 > $H/execute
same "calls of a function" "executed: 500, elsewhere: 0, error: 0" "$(cat $H/execute)"

# What a debug exception itself needs: the count that its end asks for an NMI, and what an entry from user mode reads, while
# a debugger steps a program and sets breakpoints.
echo preempt_count > $H/watch
echo 100 > $H/read
hits=$(cut -d ' ' -f 2 < $H/watch | tr -d ,)
echo 0 > $H/watch
test $hits -gt 50 || fail "$hits accesses of preempt_count"
stack=irq_stack_end
test $machine = x86_64 && stack=kernel_stack_end
echo $stack > $H/watch
taskset 1 ptracestep steps code_breakpoints || fail "a debugger while $stack is watched"
echo 0 > $H/watch
{ echo no_such_variable > $H/watch; } 2> /dev/null && fail 'no such variable was watched'

# All CPUs at a time, exactly: each has a line with its number. QEMU takes turns among them (icount), so it reports atomic
# instructions, too; see ksym_storm.sh.
cpus=$(grep -c ^processor /proc/cpuinfo)
for access in atomic write read; do
	echo 0 > ksym_trace_filter
	echo > trace
	echo ksym_target:rw- > ksym_trace_filter
	cpu=0
	while test $cpu -lt $cpus; do
		taskset $((1 << cpu)) sh -c "echo 2000 > $H/$access" &
		cpu=$((cpu + 1))
	done
	wait
	same "$cpus CPUs, 2000 times $access each" $((2000 * cpus)) $(count ksym_target)
	cpu=0
	while test $cpu -lt $cpus; do
		same "$access on CPU $cpu" 2000 $(grep -c "\[00$cpu\] ksym_target" trace)
		cpu=$((cpu + 1))
	done
done

finish
