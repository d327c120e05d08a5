#!/bin/sh
# description: kprobe events: values of all kinds of arguments, counts that are exact, and definitions that are wrong
# requires: smp=4 timeout=240 append="quiet loglevel=4" progs="calls dynevents" soak
# requires: rooms="hist procfs samples triggers instances"
. /run/prelude
test "$1" = 0 && definitions=400 changes=300 || definitions=5000 changes=5000 # twice at a time
tracing_reset
echo > kprobe_events
machine=$(uname -m)
if test $machine = x86_64; then pc=%ip second=%si behind=+5; else pc=%pc second=%x1 behind=+8; fi


# -- values
banner=$(grep ' linux_proc_banner$' /proc/kallsyms | cut -d ' ' -f 1)
cat > kprobe_events << END
p:numbers sys_getppid @linux_proc_banner:x8 @linux_proc_banner+1:u8 c=@0x$banner:char w=@linux_proc_banner:x32 b=@linux_proc_banner:b4@4/8
p:signs sys_getppid \\-1:s8 \\255:s8 \\0x8000:s16 \\-2:s64 \\65535:u16 \\-1:x64 \\3
p:arrays sys_getppid @linux_proc_banner:u8[4] @linux_proc_banner:char[3] @linux_proc_banner:x16[2]
p:texts sys_getppid @linux_proc_banner:string \$comm i=\\"immediate" fault=+0(\\16):string zero=+0(\\16):u64
p:symbols sys_getppid $pc:symbol $pc:symstr same=+0(+0(\$stack))
p:opened do_sys_openat2 dfd=\$arg1:s32 name=\$arg2:x64 text=+0(\$arg2):ustring text2=+u0($second):string flags=\$arg3:x32
r:answer sys_getppid \$retval:s32 comm=\$comm
END
same 'definitions' 7 "$(wc -l < kprobe_events)"
same 'as it was written' 'p:kprobes/opened do_sys_openat2 dfd=$arg1:s32 name=$arg2:x64' "$(grep opened kprobe_events | cut -d ' ' -f 1-4)"
echo 1 > events/kprobes/enable
calls 1 1
cat /proc/version > /dev/null
echo 0 > events/kprobes/enable
same numbers "arg1=0x25 arg2=115 c='%' w=0x76207325 b=2" "$(probe_values numbers)"
same signs 'arg1=-1 arg2=-1 arg3=-32768 arg4=-2 arg5=65535 arg6=0xffffffffffffffff arg7=0x3' "$(probe_values signs)"
same arrays "arg1={37,115,32,118} arg2={'%','s',' '} arg3={0x7325,0x7620}" "$(probe_values arrays)"
probe_values texts | grep -q '^arg1="%s version %s (vitrine@vitrine) (gcc .*) %s$' || fail "texts: $(probe_values texts)"
grep ' texts: ' -A 1 trace | tail -n 1 | grep -q '^" arg2="calls" i="immediate" fault=(fault) zero=0$' || fail "texts: $(grep ' texts: ' -A 1 trace)"
probe_values symbols | grep -q '^arg1=sys_getppid+0x[0-9a-f]*/0x[0-9a-f]* arg2="sys_getppid+0x' || fail "symbols: $(probe_values symbols)"
grep -q 'opened: (do_sys_openat2+0x[0-9a-f/x]*) dfd=-100 name=0x[0-9a-f]* text="/proc/version" text2="/proc/version" flags=0x' trace || fail "opened: $(probe_values opened)"
probe_values answer | grep -q '^arg1=[0-9][0-9]* comm="calls"$' || fail "answer: $(probe_values answer)"
grep -q 'answer: (.*+0x[0-9a-f]*/0x[0-9a-f]* <- sys_getppid) arg1' trace || fail "answer: $(grep answer: trace)"

# -- the format is Linux's
grep -v '^ID' events/kprobes/opened/format > /tmp/format
same 'fields' 'unsigned long __probe_ip 8 8 0;s32 dfd 16 4 1;u64 name 20 8 0;__data_loc char[] text 28 4 1;__data_loc char[] text2 32 4 1;u32 flags 36 4 0' \
	"$(sed -n 's/^\tfield:\(.*\) \([a-z_0-9]*\);\toffset:\([0-9]*\);\tsize:\([0-9]*\);\tsigned:\([01]\);/\1 \2 \3 \4 \5/p' /tmp/format | tail -n 6 | tr '\n' ';' | sed 's/;$//')"
same 'print fmt' 'print fmt: "(%lx) dfd=%d name=0x%Lx text=\"%s\" text2=\"%s\" flags=0x%x", REC->__probe_ip, REC->dfd, REC->name, __get_str(text), __get_str(text2), REC->flags' "$(tail -n 1 /tmp/format)"
same 'print fmt of a return' 'print fmt: "(%lx <- %lx) arg1=%d comm=\"%s\"", REC->__probe_func, REC->__probe_ret_ip, REC->arg1, __get_str(comm)' "$(tail -n 1 events/kprobes/answer/format)"

# -- filters, triggers and instances are as with any event; an event that something needs stays
echo > trace
echo 'dfd == -100 && text ~ "*/version"' > events/kprobes/opened/filter
echo 'traceoff if flags == 0x7fffffff' > events/kprobes/opened/trigger
mkdir instances/k
echo 1 > instances/k/events/kprobes/opened/enable
echo 1 > events/kprobes/opened/enable
cat /proc/version /proc/uptime > /dev/null
same 'filtered' 1 "$(grep -c 'opened:.*text="/proc' trace)"
same 'not filtered there' 2 "$(grep -c 'opened:.*text="/proc' instances/k/trace)"
echo 0 > events/kprobes/opened/enable
echo '!traceoff' > events/kprobes/opened/trigger
echo '-:opened' >> kprobe_events 2> /dev/null && fail 'an event that is on in an instance was deleted'
rmdir instances/k

# -- stacks begin at the probed place, or where a function returns to, and no caller is missing; those of f lines, too
site=0x$(grep ' vfs_read$' available_filter_functions_addrs | cut -d ' ' -f 1)
for line in 'p:stack vfs_read' "p:stack $site" 'r:stack vfs_read' 'f:kprobes/stack vfs_read' 'f:kprobes/stack vfs_read $arg1' 'f:kprobes/stack vfs_read%return'; do
	echo "$line" >> dynamic_events
	echo > trace
	echo stacktrace:1 > events/kprobes/stack/trigger
	echo hist:keys=common_stacktrace >> events/kprobes/stack/trigger
	echo 1 > events/kprobes/stack/enable
	read -r uptime < /proc/uptime
	echo 0 > events/kprobes/stack/enable
	same "what follows a record of $line" '<stack trace>' "$(grep -A 1 ' stack: ' trace | sed -n '2s/.*: //p')"
	callers='vfs_read ksys_read'
	case $line in r*|*%return) callers=ksys_read ;; esac
	same "the stack of $line" "$callers" "$(grep '^ => ' trace | sed 's/ => //;/^\(do_\|syscall_\)/,$d' | tr '\n' ' ' | sed 's/ $//')"
	callers=$(sed -n 's/+0x.*//;s/^ *\(.*_read\)$/\1/p' events/kprobes/stack/hist | tr '\n' ' ')
	case "$callers" in "vfs_read ksys_read "|"ksys_read ") ;; *) fail "the key of $line: $callers" ;; esac
	echo '!stacktrace' > events/kprobes/stack/trigger
	echo '!hist:keys=common_stacktrace' >> events/kprobes/stack/trigger
	echo '-:kprobes/stack' >> dynamic_events
done

# -- registers of all sizes, recorded the short way: in one array, in two, in one again; a probe that joins an event that is on
test $machine = x86_64 && first=%di || first=%x0
echo "p:quick do_sys_openat2 d=$first:s32 b=$first:u8 h=$first:x16 l=$first:x64 sp=\$stack" >> kprobe_events
mkdir instances/k
quick() { grep -c ' cat-.* quick: (.*) d=-100 b=156 h=0xff9c l=0x[0-9a-f]*ffffff9c sp=0xffff' $1; }
on() {
	echo $1 > events/kprobes/quick/enable
	echo $2 > instances/k/events/kprobes/quick/enable
	cat /proc/version
	same "quick, $1 $2" "$3 $4" "$(quick trace) $(quick instances/k/trace)"
}
echo > trace
on 1 0 1 0
on 1 1 2 1
on 0 1 2 2
echo "p:quick sys_getppid d=$first:s32 b=$first:u8 h=$first:x16 l=$first:x64 sp=\$stack" >> kprobe_events
calls 1 1
same 'a probe that joined' 1 "$(grep -c 'quick: (sys_getppid.*) d=.* sp=0xffff' instances/k/trace)"
on 1 0 3 2
calls 1 1
same 'in the other array' 1 "$(grep -c 'quick: (sys_getppid.*) d=.* sp=0xffff' trace)"
echo 0 > events/kprobes/quick/enable
echo '-:quick' >> kprobe_events
rmdir instances/k
echo 'enable_event:kprobes:numbers' > events/sched/sched_switch/trigger
echo '-:numbers' >> kprobe_events 2> /dev/null && fail 'an event that a trigger switches was deleted'
sleep 0.01
same 'the trigger has switched it on' '1*' "$(cat events/kprobes/numbers/enable)"
# What a trigger has switched on stays on without it, as in Linux.
echo '!enable_event:kprobes:numbers' > events/sched/sched_switch/trigger
same 'on without its trigger' 1 "$(cat events/kprobes/numbers/enable)"
echo 0 > events/kprobes/numbers/enable
echo '-:opened' >> kprobe_events
test -d events/kprobes/opened && fail 'its directory is still there'
# Without its event a record has neither a name nor a form, so the buffer is emptied.
same 'records that may be of an event that has gone' '' "$(grep -v '^#' trace | head -n 2)"
echo > kprobe_events
same 'no event is left' 0 "$(cat kprobe_events dynamic_events | wc -l)"
test -d events/kprobes && fail 'a group without events is still there'

# -- an open file of what has gone is not one of what has its place now: a group's at once, an event's when all are used up
echo 'p:ga/one schedule' > kprobe_events
exec 5<> events/ga/enable 6<> events/ga/filter
echo 'p:gb/two schedule' > kprobe_events
echo 1 >&5 && fail 'a group that has gone is switched on'
echo 'common_pid > 1' >&6 && fail 'a group that has gone has a filter'
same 'what is read of it' 'cat: -: No such device' "$(cat 2>&1 <&5)"
same 'the group in its place' '0 none' "$(cat events/gb/enable events/gb/two/filter | tr '\n' ' ' | sed 's/ $//')"
exec 5>&- 6>&-
echo 'p:gb/one schedule' > kprobe_events
echo 'p:ga/stays schedule' >> kprobe_events
id=$(cat events/gb/one/id)
exec 5<> events/gb/one/enable
echo '-:gb/one' >> kprobe_events
echo 'p:gb/stays schedule' >> kprobe_events
n=0; while echo "p:ga/e$n schedule" >> kprobe_events; do n=$((n + 1)); done 2> /dev/null
echo "-:ga/e$((n - 1))" >> kprobe_events
echo 'p:ga/one schedule' >> kprobe_events
same 'its place' $id "$(cat events/ga/one/id)"
echo 1 >&5 && fail 'an event that has gone is switched on'
same 'the event in its place' 0 "$(cat events/ga/one/enable)"
test -e events/gb/one && fail 'an event is in the group that had its place'
exec 5>&-
echo > kprobe_events

# -- counts: N calls from 4 CPUs, by each way in which a place is noticed
N=100000
count() {
	echo "p:hit sys_getppid$1" > kprobe_events
	echo 'r:ret sys_getppid $retval' >> kprobe_events
	echo 'r64:enough sys_getppid $retval' >> kprobe_events
	echo 'r1:args sys_getppid $arg1' >> kprobe_events
	echo 1 > events/kprobes/enable
	grep -q 'sys_getppid' /sys/kernel/debug/kprobes/list || fail 'no probe in the list'
	calls $N 4
	echo 0 > events/kprobes/enable
	tr -s ' ' < kprobe_profile > /tmp/profile
	while read event hits missed; do
		same "$2: hits and missed of $event" $N $((hits + missed))
		test $event = args || same "$2: missed of $event" 0 $missed
		test $hits -gt $((N / 100)) || fail "$2: only $hits hits of $event"
	done < /tmp/profile
	same "$2: events" 4 "$(wc -l < /tmp/profile)"
	echo > kprobe_events
}
count '' 'first instruction'
count $behind 'jump'
echo 0 > /proc/sys/debug/kprobes-optimization
count $behind 'breakpoint'
echo 1 > /proc/sys/debug/kprobes-optimization
same 'no probe is left' 0 "$(wc -l < /sys/kernel/debug/kprobes/list)"

# -- definitions that are wrong: refused with Linux's errno and told of, and nothing is left
newest() {
	sed 's/^\[[^]]*\] //' error_log | tail -n 3 | tr '\n' ';' | sed 's/;$//'
}
echo > error_log
echo 'p vfs_read %none' 2> /dev/null > kprobe_events && fail 'a register that is none'
same 'error_log' 'trace_kprobe: error: Invalid register name;  Command: p vfs_read %none;                      ^' "$(newest)"
test "$(grep -c ' t name_show$' /proc/kallsyms)" = 2 || fail 'the kernel has not two functions of this name any more'
echo 'p name_show' 2> /dev/null > kprobe_events && fail 'one of two functions'
same 'error_log' 'trace_kprobe: error: The symbol is not unique;  Command: p name_show;             ^' "$(newest)"
dynevents fuzz $definitions $(cut -d . -f 1 /proc/uptime)1 > /tmp/fuzz || fail "fuzz: $(cat /tmp/fuzz)"
same 'fuzz' 'taken some' "$(cat /tmp/fuzz)"

# -- many changes under load, of which nothing is left. The first ones fill caches.
storm() {
	(while :; do calls 2000 4; ls /bin > /dev/null; done) &
	load=$!
	dynevents storm $1 7 & first=$!
	dynevents storm $1 8
	wait $first
	dynevents clean || fail 'after the storm something is busy'
	kill $load
	wait $load 2> /dev/null
}
storm 100
before=$(meminfo MemFree)
storm $changes
is_back 'the storm' 1024 $before
same 'events' 0 "$(wc -l < dynamic_events)"
same 'probes' 0 "$(wc -l < /sys/kernel/debug/kprobes/list)"
same 'call sites' 0 "$(wc -l < enabled_functions)"
returns_are_whole
finish
