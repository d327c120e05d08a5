#!/bin/sh
# description: the kernel's own events: ordinary commands provoke them, their text is as Linux words it, what belongs together comes in pairs
# requires: smp=3 icount timeout=240 progs="callevents crash netevents doevents" append="trace_event=initcall:*"
# requires: rooms="inet locks noise procfs rseq samples instances"
. /run/prelude
cat $T/trace > /tmp/boot
tracing_reset

name='[^ ]+'
number='-?[0-9]+'
pointer='[0-9a-f]{16}'

# traced SYSTEMS COMMAND...: what the command provokes of these systems, in /tmp/trace
traced() {
	systems=$1
	shift
	echo > trace
	for system in $systems; do
		echo 1 > events/$system/enable
	done
	"$@" > /tmp/output 2>&1
	echo 0 > events/enable
	cat trace > /tmp/trace
}

# seen EVENT PATTERN: there is such a record, and no other form of it
seen() {
	grep " $1: " /tmp/trace > /tmp/seen || fail "no $1"
	grep -vE ": $1: $2\$" /tmp/seen && fail "$1 looks different"
}

# paired ENTRY EXIT: on each CPU they come in turn
paired() {
	for cpu in 000 001 002; do
		grep -F "[$cpu]" /tmp/trace | grep -oE " ($1|$2): " | uniq -d | grep . && fail "CPU $cpu: twice, of $1 and $2"
	done
}

# -- of the boot: what it called, level by level
mv /tmp/boot /tmp/trace
function="func=$name\+0x0/0x[0-9a-f]+"
seen initcall_level 'level=(early|core|fs|device|late)'
seen initcall_start "$function"
seen initcall_finish "$function ret=0"
paired initcall_start initcall_finish

interrupts() {
	taskset 1 sleep 0.02
	taskset 2 sleep 0.02
	taskset 1 seq 40000 > /dev/null &
	taskset 1 seq 40000 > /dev/null
	wait
}
traced 'irq timer power' interrupts
if test $(uname -m) != x86_64; then # its timer has no line, and the only one that is there needs somebody who types: test_tty.py
	seen irq_handler_entry "irq=[0-9]+ name=$name"
	seen irq_handler_exit 'irq=[0-9]+ ret=(un)?handled'
	paired irq_handler_entry irq_handler_exit
fi
softirq='vec=[0-8] \[action=(HI|TIMER|TTY|TRACE|TASKLET|SCHED|HRTIMER|RCU|NET_RX)\]'
for event in softirq_raise softirq_entry softirq_exit; do
	seen $event "$softirq"
done
paired softirq_entry softirq_exit
mode='mode=ABS'
seen hrtimer_init "hrtimer=$pointer clockid=CLOCK_MONOTONIC $mode"
seen hrtimer_start "hrtimer=$pointer function=$name expires=[0-9]+ softexpires=[0-9]+ $mode was_armed=[01]"
seen hrtimer_expire_entry "hrtimer=$pointer function=$name now=[0-9]+"
seen hrtimer_expire_exit "hrtimer=$pointer"
paired hrtimer_expire_entry hrtimer_expire_exit
seen tick_stop 'success=1 dependency=NONE'
seen cpu_idle 'state=(1|4294967295) cpu_id=[012]'
seen power_start 'type=1 state=1 cpu_id=[012]'
seen power_end 'cpu_id=[012]'
paired power_start power_end
for cpu in 0 1 2; do
	grep -oE "cpu_idle: state=[0-9]+ cpu_id=$cpu\$" /tmp/trace | uniq -d | grep . && fail "CPU $cpu: idle twice"
done

processes() {
	timeout 5 sleep 0.01
	sh -c 'kill -USR1 $$'
	sh -c 'trap : USR1; kill -USR1 $$; true'
	sh -c 'kill -ABRT $$'
	crash null
	cat /sys/kernel/debug/latency/hook_check # by a work on each CPU
}
traced 'sched task signal timer exceptions workqueue' processes
seen hrtimer_cancel "hrtimer=$pointer"
for event in sched_process_exit sched_process_wait sched_process_free; do
	seen $event "comm=$name pid=$number prio=$number"
done
seen sched_process_exec "filename=$name pid=[0-9]+ old_pid=[0-9]+"
grep -q 'sched_process_exec: filename=/bin/sleep ' /tmp/trace || fail 'sleep was not executed'
seen sched_stat_runtime "comm=$name pid=[0-9]+ runtime=[0-9]+ \[ns\]"
seen sched_switch "prev_comm=$name prev_pid=$number prev_prio=$number prev_state=[^ ]+ ==> .*"
seen sched_process_fork "comm=$name pid=[0-9]+ child_comm=$name child_pid=[0-9]+"
for event in sched_waking sched_wakeup sched_wakeup_new; do
	seen $event "comm=$name pid=[0-9]+ prio=$number target_cpu=00[012]"
done
seen task_newtask "pid=[0-9]+ comm=$name clone_flags=[0-9a-f]+ oom_score_adj=0"
seen task_rename "pid=[0-9]+ oldcomm=$name newcomm=$name oom_score_adj=0"
grep -q 'task_rename: .* oldcomm=timeout newcomm=sleep ' /tmp/trace || fail 'timeout did not become sleep'
seen signal_generate "sig=[0-9]+ errno=0 code=$number comm=$name pid=[0-9]+ grp=[01] res=[0-4]"
seen signal_deliver 'sig=[0-9]+ errno=0 code=-?[0-9]+ sa_handler=[0-9a-f]+ sa_flags=[0-9a-f]+'
grep -q 'signal_generate: sig=10 errno=0 code=0 comm=sh .* res=0$' /tmp/trace || fail 'no SIGUSR1'
grep -q 'signal_deliver: sig=9 errno=0 code=0 sa_handler=0 ' /tmp/trace || fail 'SIGUSR1 by default did not end a process'
grep -q 'signal_generate: sig=11 errno=0 code=1 comm=crash .* grp=0 res=0$' /tmp/trace || fail 'no SIGSEGV was sent'
# A signal that leaves a core is delivered as itself, the others by default as what ends all threads.
same 'signals of crash' 'signal_deliver: sig=11 errno=0 code=1 sa_handler=0 sa_flags=0' \
	"$(grep -o 'crash-.*signal_deliver: .*' /tmp/trace | sed 's/.*signal_deliver/signal_deliver/')"
grep -q 'signal_deliver: sig=6 errno=0 code=0 sa_handler=0 ' /tmp/trace || fail 'no SIGABRT'
grep -q 'signal_deliver: sig=10 errno=0 code=0 sa_handler=[0-9a-f]*[1-9a-f]' /tmp/trace || fail 'no SIGUSR1 with a handler'

for event in page_fault_user page_fault_kernel; do
	seen $event "address=$name ip=$name error_code=0x[0-9a-f]+"
done
grep 'page_fault_user: ' /tmp/trace | grep -v ' ip=0x[0-9a-f]* ' && fail 'a fault in a program has an address of the kernel'
grep 'page_fault_kernel: ' /tmp/trace | grep ' ip=0x[0-9a-f]* ' && fail 'a fault in the kernel has no address of the kernel'
seen workqueue_queue_work "work struct=$pointer function=$name workqueue=events req_cpu=[012] cpu=[012]"
seen workqueue_activate_work "work struct $pointer"
seen workqueue_execute_start "work struct $pointer: function $name"
seen workqueue_execute_end "work struct $pointer: function $name"
for event in workqueue_insertion workqueue_execution; do
	seen $event "thread=kworker/[012]:0:[0-9]+ func=$name"
done
paired workqueue_execute_start workqueue_execute_end

moves() {
	sh -c 'taskset -p 1 $$; taskset -p 2 $$'
}
traced sched moves
for event in sched_stat_wait sched_stat_sleep sched_stat_blocked; do # test_sched_stat.py measures them
	seen $event "comm=$name pid=[0-9]+ delay=[0-9]+ \[ns\]"
done
grep -A 1 sched_migrate_task: /tmp/trace | grep -q 'sched_wakeup_new:' && fail 'a new task is moved before it has been anywhere'
seen sched_migrate_task "comm=$name pid=[0-9]+ prio=$number orig_cpu=[012] dest_cpu=[012]"

# -- memory: by whom, for whom, how much; also while the callers' return addresses are hooked
memory() {
	echo 1 > events/kmem/enable # kmalloc and kfree in text_file_write
	sh -c 'exit 0'
	mkdir instances/memory # more than a slab has
	rmdir instances/memory
	printf '%300s' long > trace_marker # more than its stack takes
}
traced kmem memory
site="call_site=$name\+0x[0-9a-f]+/0x[0-9a-f]+"
flags='gfp_flags=(GFP_KERNEL|GFP_ATOMIC)(\|__GFP_ZERO)?(\|__GFP_NOWARN)? node=-1 accounted=false'
seen kmalloc "$site ptr=$pointer bytes_req=[0-9]+ bytes_alloc=[0-9]+ $flags"
seen kfree "$site ptr=$pointer"
seen kmem_cache_alloc "$site ptr=$pointer bytes_req=[0-9]+ bytes_alloc=[0-9]+ $flags"
seen kmem_cache_free "$site ptr=$pointer name=$name"
seen mm_page_alloc "page=$pointer pfn=0x[0-9a-f]+ order=[0-9]+ migratetype=0 gfp_flags=[A-Z_|]+"
seen mm_page_free "page=$pointer pfn=0x[0-9a-f]+ order=[0-9]+"
# Who writes to `enable` has 4096 bytes, which it gives back.
text=$(grep -m 1 'kmalloc: call_site=text_file_write+.* bytes_req=4096 bytes_alloc=4096 gfp_flags=GFP_KERNEL ' /tmp/trace | grep -o 'ptr=[0-9a-f]*')
test -n "$text" || fail 'no kmalloc in text_file_write'
grep -q "kfree: call_site=text_file_write+[^ ]* $text\$" /tmp/trace || fail 'no kfree of what text_file_write had'
grep -qE 'kmalloc: call_site=kv[mz]alloc\+.* bytes_req=[12][0-9]{4} bytes_alloc=(16384|32768) ' /tmp/trace || fail 'no kmalloc of pages'
grep -q 'kmalloc: call_site=tracing_mark_write+.* bytes_req=300 bytes_alloc=512 ' /tmp/trace || fail 'no kmalloc of a long marker'
grep -qE 'kmem_cache_alloc: call_site=dup_task_struct\+.*=GFP_KERNEL ' /tmp/trace || fail 'no task'
# in_both PATTERN PATTERN PART: the parts of both kinds of lines that are the same, the first one. Something from before may be
# freed, too, and something may be kept.
in_both() {
	{ grep "$1" /tmp/trace | grep -o "$3" | sort -u; grep "$2" /tmp/trace | grep -o "$3" | sort -u; } | sort | uniq -d | head -n 1
}
test -n "$(in_both 'kmem_cache_alloc: ' 'kmem_cache_free: call_site=__put_task_struct+.* name=signal_cache$' 'ptr=[0-9a-f]*')" ||
	fail 'no signals that are freed were had before'
test -n "$(in_both 'mm_page_alloc: .* order=0 ' 'mm_page_free: .* order=0$' 'page=.* pfn=[0-9a-fx]*')" || fail 'no page is had and freed'
echo 'kmalloc kzalloc kfree kmem_cache_alloc kmem_cache_free' > set_ftrace_filter
echo function_graph > current_tracer
traced kmem memory
echo nop > current_tracer
echo > set_ftrace_filter
for site in kmalloc:.call_site=text_file_write kfree:.call_site=text_file_write alloc:.call_site=dup_task_struct free:.call_site=__put_task_struct; do
	grep -q "$site+" /tmp/trace || fail "under function_graph, no $site"
done

# -- interrupts between CPUs: each that is raised is served, on the CPU that was meant, for that reason
# calls of functions belong to the interrupts, and are seen beside them
between() {
	echo begin > trace_marker # switching on has raised some before
	cat /sys/kernel/debug/latency/hook_check # a call on each CPU
	taskset 2 cat /sys/kernel/debug/latency/hook_check
	echo 1 > tracing_cpumask # and on one
	echo 7 > tracing_cpumask
	taskset 1 seq 3000 | taskset 2 tail -n 1
	callevents barrier # and on all at once
	sleep 0.01
	echo end > trace_marker
}
# unserved: what does not fit between the marks
unserved() {
	bits=1
	for cpu in 0 1 2; do
		raised=0
		for mask in 1 2 3 4 5 6 7; do
			test $((mask & bits)) = 0 || raised=$((raised + $(grep -c "ipi_raise: target_mask=00000000,0000000$mask " /tmp/trace)))
		done
		served=$(grep -cE "\[00$cpu\] .* ipi_entry: " /tmp/trace)
		test $raised = $served || echo "CPU $cpu: $raised raised, $served served"
		bits=$((bits * 2))
	done
	raised=$(grep -c 'ipi_raise: ' /tmp/trace) announced=$(grep -cE 'ipi_send_cpu(mask)?: ' /tmp/trace)
	test $raised = $announced || echo "$raised raised, $announced announced"
}
for again in 1 2 3 4; do
	traced 'ipi csd' between
	sed -n '/: begin$/,/: end$/p' /tmp/trace | grep -v 'callback=tlb_shootdown_interrupt+0x0/' > /tmp/part # these have a vector of their own
	mv /tmp/part /tmp/trace
	unserved > /tmp/unserved
	test -s /tmp/unserved || break # one may be under way at a mark: then once more
done
holds 'interrupts between CPUs that do not belong together' /tmp/unserved ''
mask='00000000,0000000[1-7]'
reason='\((Rescheduling|Function call) interrupts\)'
site="callsite=$name\+0x[0-9a-f]+/0x[0-9a-f]+"
call='generic_smp_call_function_interrupt\+0x0/0x[0-9a-f]+'
seen ipi_raise "target_mask=$mask $reason"
seen ipi_entry "$reason"
seen ipi_exit "$reason"
seen ipi_send_cpu "cpu=[012] $site callback=(0x0|$call)"
seen ipi_send_cpumask "cpumask=00000000,0000000[3567] $site callback=$call"
paired ipi_entry ipi_exit
csd='csd=([0-9a-f]{16}|0x0)'
seen csd_queue_cpu "cpu=[012] $site func=$name $csd"
for event in csd_function_entry csd_function_exit; do
	seen $event "func=$name, $csd"
done
paired csd_function_entry csd_function_exit
# What is queued for a CPU is called there, with the same structure.
grep -o 'csd_queue_cpu: cpu=[0-9] .*' /tmp/trace | sed 's/.*cpu=\([0-9]\) .* func=\(.*\) csd=\(.*\)/00\1 \2 \3/' | sort > /tmp/queued
sed -n 's/.* \[\(...\)\] .* csd_function_entry: func=\(.*\), csd=\([0-9a-f]*[1-9a-f][0-9a-f]*\)$/\1 \2 \3/p' /tmp/trace | sort > /tmp/called
test -s /tmp/queued || fail 'no call was queued'
same 'calls' "$(cat /tmp/queued)" "$(cat /tmp/called)"

# -- interrupts and preemption: off and on in turn on each CPU
switching() {
	echo 1 > tracing_on
	seq 20 | sort | tail -n 1
	sleep 0.01
	echo 0 > tracing_on # all four at once
}
traced preemptirq switching
place="$name\+0x[0-9a-f]+/0x[0-9a-f]+"
for event in irq_disable irq_enable preempt_disable preempt_enable; do
	seen $event "caller=$place parent=$place"
done
paired irq_disable irq_enable
paired preempt_disable preempt_enable
grep ' irq_[de].*able: ' /tmp/trace | grep -v '^.\{16,32\} *\[00[012]\] [dD]' && fail 'interrupts are on in an event of theirs'
grep -q ' preempt_disable: caller=_raw_spin_lock+[^ ]* parent=[^_]' /tmp/trace || fail 'a lock has no caller'
# Beside a latency tracer, which measures as before; each shows what it is about.
echo 0 > tracing_max_latency
echo preemptoff > current_tracer
traced preemptirq switching
test "$(cat tracing_max_latency)" -gt 0 || fail 'preemptoff measures nothing'
paired irq_disable irq_enable
echo nop > current_tracer
echo 1 > tracing_on

# -- locks that are not free
contention() {
	for i in 1 2 3 4 5 6; do
		seq 3000 | sort | tail -n 1 &
	done
	wait
}
traced lock contention
seen contention_begin "$pointer \(flags=(SPIN|MUTEX|SPIN\|MUTEX)\)"
seen contention_end "$pointer \(ret=0\)"
for lock in $(sed -n 's/.*contention_end: \(.*\) (ret=0)/\1/p' /tmp/trace | sort -u | head -n 8); do
	grep -q "contention_begin: $lock (" /tmp/trace || fail "the wait for $lock ends and has not begun"
done

# -- locks on files, each with its answer; numbers are those of fcntl.h
traced filelock doevents locks /tmp/lockfile
whole='0 9223372036854775807'
sed -n 's/.*: \([a-z_]*\): fl=.* fl_flags=\(.*\) fl_type=\(.*\) fl_start=\(.*\) fl_end=\(.*\) ret=\(.*\)/\1 \2 \3 \4 \5 \6/p' /tmp/trace > /tmp/locks
holds 'locks on a file' /tmp/locks "flock_lock_inode FL_FLOCK|FL_SLEEP F_WRLCK $whole 0
flock_lock_inode FL_FLOCK F_WRLCK $whole 0
flock_lock_inode FL_FLOCK F_RDLCK $whole -11
flock_lock_inode FL_FLOCK|FL_SLEEP F_RDLCK $whole 0
flock_lock_inode FL_FLOCK|FL_CLOSE F_UNLCK $whole 0
posix_lock_inode FL_POSIX F_WRLCK 10 19 0
fcntl_setlk FL_POSIX F_WRLCK 10 19 0
posix_lock_inode FL_POSIX|FL_OFDLCK F_RDLCK 15 15 -11
fcntl_setlk FL_POSIX|FL_OFDLCK F_RDLCK 15 15 -11
posix_lock_inode FL_POSIX|FL_CLOSE F_UNLCK $whole 0
locks_remove_posix FL_POSIX|FL_CLOSE F_UNLCK $whole 0"
file="fl=$pointer dev=0x[0-9a-f]+:0x[0-9a-f]+ ino=0x$(printf %x $(stat -c %i /tmp/lockfile)) fl_blocker=(0x0|0{16}) fl_owner=$pointer fl_pid=[0-9]+ fl_flags=.*"
for event in flock_lock_inode posix_lock_inode fcntl_setlk locks_remove_posix; do
	seen $event "$file"
done

# -- a lent priority, and its end
traced sched doevents inherit
seen sched_pi_setprio "comm=doevents pid=[0-9]+ oldprio=[0-9]+ newprio=[0-9]+"
same 'lent' "$(cat /tmp/output) oldprio=120 newprio=89
$(cat /tmp/output) oldprio=89 newprio=120" "$(grep -o 'sched_pi_setprio: .*' /tmp/trace | sed 's/.*setprio: //')"

# -- a sequence that a signal interrupts
traced rseq taskset 2 doevents rseq
seen rseq_update 'cpu_id=1 node_id=0 mm_cid=1'
seen rseq_ip_fixup "regs_ip=0x[0-9a-f]+ $(cat /tmp/output)"

# -- grace periods and callbacks
callbacks() {
	processes
	sleep 0.02 # RCU's thread gathers them for some time
}
traced rcu callbacks
seen rcu_grace_period 'rcu_sched [0-9]+ (start|end)'
seen rcu_callback "rcu_sched rhp=$pointer func=$name [0-9]+"
seen rcu_batch_start 'rcu_sched CBs=[0-9]+ bl=9223372036854775807'
seen rcu_invoke_callback "rcu_sched rhp=$pointer func=$name"
seen rcu_batch_end 'rcu_sched CBs-invoked=[0-9]+ idle=[C.][S.].R'
seen rcu_utilization '(Start CPU kthread@rcu_run|End CPU kthread@rcu_wait|Start RCU core|End RCU core)'
# As many as a batch says are called before its end.
grep -E ' rcu_(batch_start|invoke_callback|batch_end): ' /tmp/trace | sed -n '/batch_start/,$p' | while read -r line; do
	case $line in
	*rcu_batch_start:*) called=0 wanted=${line#*CBs=} ;;
	*rcu_invoke_callback:*) called=$((called + 1)) ;;
	*) test "${line#*CBs-invoked=}" = "$called idle=${line#*idle=}" && test "$wanted" = "$called bl=9223372036854775807" || echo "$wanted $called $line" ;;
	esac
done > /tmp/batches
holds 'batches that are not whole' /tmp/batches ''

# -- what memory is short for, and notifiers
chosen() {
	sh -c 'echo 700 > /proc/self/oom_score_adj; echo -5 > /proc/self/oom_score_adj'
	echo WARNING > /sys/kernel/debug/provoke-crash/DIRECT
}
traced 'oom notifier' chosen
seen oom_score_adj_update 'pid=[0-9]+ comm=sh oom_score_adj=(700|-5)'
same 'values of oom_score_adj' 2 "$(grep -c oom_score_adj_update /tmp/trace)"
seen notifier_run "$name"

# -- what x86_64 alone has
if test $(uname -m) = x86_64; then
	traced 'tlb irq_vectors' processes
	reason='(flush on task switch \(0\)|remote shootdown \(1\)|local mm shootdown \(3\)|remote ipi send \(4\))'
	seen tlb_flush "pages:(-1|[0-9]+) reason:$reason" # tlb.sh counts them
	for vector in local_timer reschedule; do
		seen ${vector}_entry 'vector=2[0-9]{2}'
		seen ${vector}_exit 'vector=2[0-9]{2}'
		paired ${vector}_entry ${vector}_exit
	done
	traced irq_vectors between
	seen call_function_entry 'vector=225'
	seen call_function_exit 'vector=225'
	paired call_function_entry call_function_exit
fi

# -- kernel messages
messages() {
	echo h > /proc/sysrq-trigger
}
traced printk messages
seen console '.*'
grep -q 'console: sysrq: HELP :' /tmp/trace || fail 'the help is no message'
same 'as in the log' "$(dmesg | tail -n 2 | sed 's/^\[[^]]*\] //' | tr -d '\n')" "$(grep -o 'console: .*' /tmp/trace | cut -c 10- | tr -d '\n')"

# -- pipes: whatever goes in comes out, and the pipe holds the difference
pipes() {
	seq 1500 | sort -n | tail -n 1
}
traced pipe pipes
moved="ino=[0-9]+ bytes=[1-9][0-9]* depth=[0-9]+"
seen pipe_write "$moved"
seen pipe_read "$moved"
sed -n 's/.*: pipe_\(.*\): ino=\(.*\) bytes=\(.*\) depth=\(.*\)/\1 \2 \3 \4/p' /tmp/trace > /tmp/moved
for ino in $(cut -d ' ' -f 2 /tmp/moved | sort -u); do
	depth=0
	grep -E "^(read|write) $ino " /tmp/moved > /tmp/pipe
	while read -r what ino bytes after; do
		test $what = write && depth=$((depth + bytes)) || depth=$((depth - bytes))
		test $depth = $after || fail "pipe $ino holds $after where $depth is expected"
	done < /tmp/pipe
	same "pipe $ino at the end" 0 $depth
done

# -- packets: net_events.sh counts them
packets() {
	netevents datagrams 3 100
	netevents refused 3 100
	netevents full 100 100
}
traced 'net skb sock udp' packets
packet="dev=lo skbaddr=$pointer len=[0-9]+"
seen net_dev_queue "$packet"
seen net_dev_xmit "$packet rc=0"
seen netif_rx "$packet"
seen netif_receive_skb "$packet"
seen kfree_skb "skbaddr=$pointer protocol=2048 location=$name\+$name reason: (NO_SOCKET|SOCKET_RCVBUFF|QUEUE_PURGE)"
seen consume_skb "skbaddr=$pointer location=$name\+$name"
seen skb_copy_datagram_iovec "skbaddr=$pointer len=100"
seen sock_rcvqueue_full 'rmem_alloc=[0-9]+ truesize=[0-9]+ sk_rcvbuf=10000'
seen sk_data_ready 'family=2 protocol=17 func=sock_def_readable'
length="sk address = $pointer, family = AF_INET protocol = IPPROTO_UDP, length = 100, error = 0, flags ="
seen sock_send_length "$length 0x0"
seen sock_recv_length "$length 0x40"
seen udp_fail_queue_rcv_skb 'rc=-12 port=[0-9]+'

tracing_reset
finish
