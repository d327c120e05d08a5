#!/bin/sh
# description: the examples of Linux's documentation of events (events.rst), in its order; docs/events.md says where they differ
# requires: smp=1 icount progs="errno"
# requires: rooms="procfs samples triggers syscalls"
. /run/prelude
tracing_reset
cd $T

# refused FILE TEXT: EINVAL is the answer
refused() {
	case $(errno "$1" "$2") in
	*' = -1 errno=22 (Invalid argument)') ;;
	*) fail "$2 > $1 is taken" ;;
	esac
}

# shows FILE TEXT...: these are its lines
shows() {
	file=$1
	shift
	same "$file" "$*" "$(echo $(cat $file))"
}

# -- 2.1 set_event
echo sched_wakeup >> set_event
shows set_event sched:sched_wakeup
echo '!sched_wakeup' >> set_event
shows set_event
echo 'irq:*' > set_event
same 'irq:*' "$(grep '^irq:' available_events | sort)" "$(sort set_event)"
refused set_event 'ext4:*\n'
refused set_event ':mod:ext4\n'
shows set_event
echo '*:*' > set_event
same '*:*' "$(sort available_events)" "$(sort set_event)"
echo > set_event

# -- 2.2 enable
echo 1 > events/sched/sched_wakeup/enable
shows set_event sched:sched_wakeup
echo 0 > events/sched/sched_wakeup/enable
echo 1 > events/sched/enable
shows events/sched/enable 1
shows events/enable X
echo 1 > events/enable
shows events/enable 1
echo 0 > events/enable
shows events/enable 0

# -- 3 the format of an event: its own fields, behind the common ones
same 'fields of sched_wakeup' 'common_type common_flags common_preempt_count common_pid comm pid prio target_cpu' \
	"$(echo $(grep -o 'field:[^;]*' events/sched/sched_wakeup/format | sed 's/\[.*//; s/.* //'))"

# -- 5 filters
cd events/sched/sched_wakeup
echo "common_preempt_count > 4" > filter
shows filter 'common_preempt_count > 4'
cd ../../signal/signal_generate
echo "((sig >= 10 && sig < 15) || sig == 17) && comm != bash" 2> /dev/null > filter && fail 'a text without quotes'
grep -q 'did you forget quotes' filter || fail "the reason: $(cat filter)"
echo '((sig >= 10 && sig < 15) || sig == 17) && comm != "bash"' > filter
shows filter '((sig >= 10 && sig < 15) || sig == 17) && comm != "bash"'
echo > $T/trace
echo 1 > enable
for sig in 9 10 14 15 17; do
	sleep 60 &
	kill -$sig $!
	kill -9 $!
done
wait 2> /dev/null
echo 0 > enable
same 'signals that pass' '10 14 17' "$(echo $(grep -o 'signal_generate: sig=[0-9]*' $T/trace | grep -o '[0-9]*$' | sort -n | uniq))"
echo "((sig >= 10 && sig < 15) || dsig == 17) && comm != bash" 2> /dev/null > filter && fail 'dsig is a field'
same 'the error' '((sig >= 10 && sig < 15) || dsig == 17) && comm != bash
                                 ^
parse_error: Field not found' "$(cat filter)"
echo 0 > filter
shows filter none
# a function by its name: whichever has allocated first, so only it
cd ../../kmem/kmalloc
calls() {
	echo > $T/trace
	echo 1 > enable
	cat /proc/self/maps > /dev/null
	echo 0 > enable
	echo $(grep -o 'call_site=[a-zA-Z0-9_.]*' $T/trace | sort | uniq)
}
# seen_again CALL-SITE...: the first that allocates a second time as well
seen_again() {
	again=$(calls)
	for site in "$@"; do
		case " $again " in *" $site "*) echo $site; return ;; esac
	done
}
one=$(seen_again $(calls))
echo "call_site.function == ${one#*=}" > filter
same '.function' "$one" "$(calls)"
refused filter 'call_site.function == no_such_function\n'
echo 0 > filter
cd ../../syscalls/sys_enter_openat
echo 'filename.ustring ~ "*uptime*"' > filter
echo > $T/trace
echo 1 > enable
cat /proc/version /proc/uptime > /dev/null
echo 0 > enable
same '.ustring' 1 "$(grep -c 'sys_openat(' $T/trace)"
echo 0 > filter
cd $T/events/sched
echo 0 > filter
shows sched_switch/filter none
echo common_pid == 0 > filter
shows sched_switch/filter 'common_pid == 0'
shows sched_wakeup/filter 'common_pid == 0'
echo prev_pid == 0 > filter
shows sched_switch/filter 'prev_pid == 0'
shows sched_wakeup/filter 'common_pid == 0'
echo 0 > filter

# -- 5.5 tasks
cd $T
echo $$ > set_event_pid
echo 1 > events/enable
echo > trace
sleep 0.001
echo 0 > events/enable
grep -v '^#' trace | grep -vE "(sh-$$|pid=$$) " | grep 'sleep-[0-9]* .*sys_' && fail 'there is what only another task did'
grep -q "sh-$$ .* sys_" trace || fail 'nothing of ours'
echo 123 244 1 >> set_event_pid
shows set_event_pid $(printf '%d\n' 1 $$ 123 244 | sort -n)
echo > set_event_pid

# -- 6 triggers
echo 'enable_event:kmem:kmalloc:1' > events/syscalls/sys_enter_read/trigger
echo 'disable_event:kmem:kmalloc' > events/syscalls/sys_exit_read/trigger
shows events/kmem/kmalloc/enable '1*' # whoever reads this file is in read
shows events/syscalls/sys_exit_read/trigger disable_event:kmem:kmalloc:unlimited
echo '!enable_event:kmem:kmalloc:1' > events/syscalls/sys_enter_read/trigger
echo '!disable_event:kmem:kmalloc' > events/syscalls/sys_exit_read/trigger
shows events/kmem/kmalloc/enable 0
echo 'stacktrace' > events/kmem/kmalloc/trigger
echo '!stacktrace' > events/kmem/kmalloc/trigger
echo 'stacktrace:5 if bytes_req >= 65536' > events/kmem/kmalloc/trigger
shows events/kmem/kmalloc/trigger 'stacktrace:count=5 if bytes_req >= 65536'
echo '!stacktrace:5 if bytes_req >= 65536' > events/kmem/kmalloc/trigger
same 'no trigger' '# Available triggers:' "$(head -n 1 events/kmem/kmalloc/trigger)"
echo 'snapshot:1 if step > 1' > events/lab/lab_step/trigger # there is no block device: block_unplug's nr_rq is our step
echo 'traceoff:1 if step > 1' > events/lab/lab_step/trigger
echo > trace
echo before > trace_marker
echo '1 no' > /sys/kernel/debug/lab/step
holds 'not yet' tracing_on 1
echo '2 yes' > /sys/kernel/debug/lab/step
holds 'off' tracing_on 0
grep -q ': before$' snapshot || fail 'nothing in the snapshot'
echo '!snapshot' > events/lab/lab_step/trigger
echo '!traceoff:1 if step > 1' > events/lab/lab_step/trigger
echo 0 > snapshot
tracing_reset
finish
