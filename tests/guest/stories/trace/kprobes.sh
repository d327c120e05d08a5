# The guests of tests/guest/kprobes/test_kprobes.py run these parts.

#: refused: What may not be probed.
try() { insmod /kprobe_sample.ko $* 2>&1; }
try symbol=no_such_function; try symbol=sys_newuname offset=1; try symbol=kprobe_breakpoint; try symbol=vfs_read offset=99999999
try symbol=init_task; try symbol=arch_cpu_idle && rmmod kprobe_sample && echo no
cat /sys/kernel/debug/kprobes/list | wc -l; ls /proc/kprobe_sample 2>/dev/null; true

#: walk: walk PERCENT [BYTES]: probes on each instruction of a place that far into the kernel's text, while programs run.
first=$(grep ' T _stext$\| t _stext$' /proc/kallsyms | cut -d' ' -f1); last=$(grep ' _etext$' /proc/kallsyms | cut -d' ' -f1)
low=${first#????????}; size=$((0x${last#????????} - 0x$low))
want="$(ls -l /bin; seq 300 | sort -r; sed s/e/f/g /etc/passwd)"
walk() {
  at=$(printf '%s%08x' ${first%????????} $((0x$low + size * $1 / 100 / 16 * 16)))
  insmod /kprobe_walk.ko first=0x$at bytes=${2:-1500} batch=200 ms=20 $WORDS || exit 1
  while ! grep -q done /proc/kprobe_walk; do test "$(ls -l /bin; seq 300 | sort -r; sed s/e/f/g /etc/passwd)" = "$want" || exit 2; done
  cat /proc/kprobe_walk; rmmod kprobe_walk
}

#: module_goes: A probe in a module, which goes and comes back.
insmod /ftrace_calls.ko
insmod /kprobe_sample.ko symbol=ftrace_calls:calls_show
cat /sys/kernel/debug/kprobes/list | tr -s ' '; cat /proc/ftrace_calls >/dev/null; cat /proc/ftrace_calls >/dev/null; cat /proc/kprobe_sample
echo 'p:no ftrace_calls:no_such_function' > /sys/kernel/tracing/kprobe_events 2>/dev/null; echo "refused $?"
rmmod ftrace_calls; cat /sys/kernel/debug/kprobes/list | wc -l; insmod /ftrace_calls.ko; cat /proc/ftrace_calls | cut -d' ' -f1; cat /proc/kprobe_sample; rmmod kprobe_sample
cat /proc/ftrace_calls | cut -d' ' -f1; rmmod ftrace_calls

#: module_events: Fprobe events and tracepoint probes of a module that comes and goes; an eprobe that holds one.
cd /sys/kernel/tracing
echo 'f:fn ftrace_calls:calls_show m=$arg1:x64' > dynamic_events
echo 'f:rt ftrace_calls:calls_show%return r=$retval:s32' >> dynamic_events
echo 't:tp subsys_eventname first=$arg1:s32 task=+0($arg2):x64' >> dynamic_events; cat dynamic_events
echo 1 > events/fprobes/enable; echo 1 > events/tracepoints/enable
for i in 1 2; do insmod /ftrace_calls.ko; insmod /tracepoint_sample.ko; cat /proc/ftrace_calls >/dev/null; cat /proc/tracepoint-sample 2>/dev/null; rmmod ftrace_calls; rmmod tracepoint_sample; done
echo 0 > events/enable; insmod /ftrace_calls.ko; insmod /tracepoint_sample.ko; cat /proc/ftrace_calls >/dev/null; cat /proc/tracepoint-sample 2>/dev/null
echo 'f:late calls_show' >> dynamic_events; echo 1 > events/fprobes/late/enable
cat /proc/ftrace_calls >/dev/null; cat /proc/tracepoint-sample 2>/dev/null; grep -c 'fn: (calls_show+0x0/.*m=0x[1-9a-f]' trace; grep -c 'rt: (.* <- calls_show.* r=0$' trace
grep -o 'tp: (.*) first=.* task' trace; grep -c 'late: (calls_show+0x0' trace; rmmod ftrace_calls
echo 0 > events/enable; echo > dynamic_events; echo $?; cat enabled_functions | wc -l
insmod /trace_events_sample.ko; echo 'e:of_module sample.sample_any length=$length:s32' > dynamic_events
rmmod trace_events_sample 2>/dev/null; echo $?; echo 1 > events/eprobes/enable
echo abcde > /sys/module/trace_events_sample/parameters/say; grep -o 'of_module: .*' trace
echo 0 > events/enable; echo > dynamic_events; rmmod trace_events_sample; echo $?

#: module_symbols: Probes in a module that read memory of another one, which is gone when the first comes back.
cd /sys/kernel/tracing
insmod /tracepoint_sample.ko; insmod /ftrace_calls.ko
echo 'p:sym ftrace_calls:calls_show a=@sample_open b=@calls_show' > dynamic_events
echo 'f:fsym ftrace_calls:calls_show a=@sample_open b=@calls_show' >> dynamic_events
echo 1 > events/kprobes/sym/enable; echo 1 > events/fprobes/fsym/enable
seen() { cat /proc/ftrace_calls > /dev/null; grep -c ' sym: ' trace; grep -c ' fsym: ' trace; }
seen; rmmod ftrace_calls; rmmod tracepoint_sample; insmod /ftrace_calls.ko
for on in 0 1; do echo $on > events/kprobes/sym/enable; echo $on > events/fprobes/fsym/enable; done; seen
rmmod ftrace_calls; insmod /tracepoint_sample.ko; insmod /ftrace_calls.ko; seen
echo 0 > events/enable; echo > dynamic_events; echo $?; rmmod ftrace_calls; rmmod tracepoint_sample

#: all_off: All probes off and on.
insmod /kprobe_sample.ko symbol=sys_newuname; cd /sys/kernel/debug/kprobes; cat enabled
uname >/dev/null; echo 0 > enabled; cat enabled; uname > /dev/null; cat /proc/kprobe_sample; cat list | wc -l
echo 1 > enabled; uname >/dev/null; cat /proc/kprobe_sample; echo 2 > enabled 2>/dev/null; echo $?; cat enabled
rmmod kprobe_sample
patched() { echo "$(grep -c OPTIMIZED list) $(wc -l < /sys/kernel/tracing/enabled_functions)"; }
echo 'p:off sys_newuname' > /sys/kernel/tracing/kprobe_events; patched
insmod /kprobe_sample.ko symbol=sys_newuname; patched; rmmod kprobe_sample; patched; grep -c DISABLED list

#: returns: Kretprobes: what a call got and gave, and what is refused.
insmod /kretprobe_sample.ko symbol=do_sys_openat2
cat /sys/kernel/debug/kprobes/list | tr -s ' ' | grep ' r '; cat /proc/version >/dev/null; cat /proc/none 2>/dev/null; cat /proc/kretprobe_sample
insmod /kprobe_sample.ko symbol=kretprobe_sample:at_return 2>/dev/null; echo $?
insmod /kprobe_sample.ko symbol=kretprobe_sample:at_entry; echo $?; rmmod kprobe_sample; rmmod kretprobe_sample
for words in symbol=no_such_function maxactive=5000 symbol=memcpy; do insmod /kretprobe_sample.ko $words 2>/dev/null; echo $?; done
insmod /kretprobe_sample.ko symbol=sys_setuid maxactive=1; uname >/dev/null; cat /proc/kretprobe_sample; rmmod kretprobe_sample
cat /sys/kernel/debug/kprobes/list | wc -l; cat /sys/kernel/tracing/enabled_functions | wc -l
