#!/bin/sh
# description: histograms: tables and lines exactly as they are, what a command may be, that each hit is counted once
# requires: smp=4 icount progs="calls errno" timeout=400
# requires: rooms="procfs samples triggers syscalls refusals"
. /run/prelude
tracing_reset
step=events/lab/lab_step

# steps "NUMBER WHAT"...: an event lab_step of each
steps() {
	for text in "$@"; do
		echo $text > /sys/kernel/debug/lab/step
	done
}

# hist COMMAND [STEP]...: a histogram instead of those before, and hits
hist() {
	echo "$1" > $step/trigger || fail "refused: $1"
	shift
	steps "$@"
}

# table WHAT TEXT: the lines of the table, blanks at the end left out
table() {
	same "$1" "$2" "$(sed '/^#/d; /^$/d; /^Totals/,$d; s/ *$//' $step/hist)"
}

# line WHAT TEXT: the file trigger
line() {
	holds "$1" $step/trigger "$2"
}

# -- all of it
hist 'hist:keys=what:vals=step' '1 half' '2 half' '3 lit'
holds 'a table' $step/hist '# event histogram
#
# trigger info: hist:keys=what:vals=hitcount,step:sort=hitcount:size=2048 [active]
#

{ what: lit                                                } hitcount:          1  step:          3
{ what: half                                               } hitcount:          2  step:          3

Totals:
    Hits: 3
    Entries: 2
    Dropped: 0'
holds 'nothing is recorded' $step/enable '0*'

# -- forms
hist 'hist:keys=step.hex:vals=hitcount.percent,step.graph:sort=step.descending' '16 a' '16 a' '16 a' '80 b'
table 'hex, percent, graph' '{ step: 50 } hitcount:          1  hitcount (%):  25.00  step: ####################
{ step: 10 } hitcount:          3  hitcount (%):  75.00  step: ############'
# a value of the name comes before a key; the last 2 is also the key of 3 and 4
hist 'hist:keys=step.log2:vals=step.hex:sort=step' '1 a' '2 a' '3 a' '4 a' '1000 a' '1024 a' '1025 a' '2 a'
table 'log2' '{ step: ~ 2^0  } hitcount:          1  step:          1
{ step: ~ 2^1  } hitcount:          2  step:          4
{ step: ~ 2^2  } hitcount:          2  step:          7
{ step: ~ 2^11 } hitcount:          1  step:        401
{ step: ~ 2^10 } hitcount:          2  step:        7e8'
hist 'hist:keys=step.buckets=4:sort=step' '0 a' '3 a' '4 a' '1000 a'
table 'buckets' '{ step: ~ 0-3 } hitcount:          2
{ step: ~ 4-7 } hitcount:          1
{ step: ~ 1000-1003 } hitcount:          1'
hist 'hist:keys=common_pid.execname:vals=hitcount' '1 a' '1 a'
table 'execname' "{ common_pid: sh              [$(printf %10d $$)] } hitcount:          2"
hist 'hist:keys=common_flags,what:sort=what.descending,hitcount' '1 a' '1 b' '1 b'
table 'two keys' "$(for what in b:2 a:1; do
	printf '{ common_flags: %10d, what: %-50s } hitcount: %10d\n' 0 ${what%:*} ${what#*:}
done)"
hist 'hist:keys=what:vals=step.percent:nohitcount:sort=step' '1 a' '3 b'
table 'nohitcount' "$(printf '{ what: %-50s }  step (%%):  25.00\n{ what: %-50s }  step (%%):  75.00' a b)"
hist 'hist:keys=common_stacktrace' '1 a' '1 b'
same 'one stack' 'common_stacktrace: lab_step step_store text_file_write' \
	"$(sed -n '/^{/,/^}/{s/^{ //; s/+0x.*//; s/ *//; s/^}.*//; p}' $step/hist | head -4 | xargs | sed 's/::*/:/')"
same 'hit twice' 1 "$(grep -c '^} hitcount:          2$' $step/hist)"
echo 'hist:keys=call_site.sym,call_site.sym-offset' > events/kmem/kmalloc/trigger
cat /proc/self/status > /dev/null
grep -qE '^\{ call_site: \[[0-9a-f]{16}\] [a-z_0-9]+ +, call_site: \[[0-9a-f]{16}\] [a-z_0-9]+\+0x[0-9a-f]+/0x[0-9a-f]+ +\} hitcount: +[0-9]+$' \
	events/kmem/kmalloc/hist || fail "symbols: $(head -12 events/kmem/kmalloc/hist)"
echo '!hist:keys=call_site.sym,call_site.sym-offset' >> events/kmem/kmalloc/trigger
echo 'hist:keys=id.syscall' > events/raw_syscalls/sys_enter/trigger
cat /proc/self/status > /dev/null
grep -qE '^\{ id: sys_openat +\[ *[0-9]+\] \} hitcount:' events/raw_syscalls/sys_enter/hist || fail 'no sys_openat'
echo > /tmp/empty
echo '!hist:keys=id.syscall' > events/raw_syscalls/sys_enter/trigger

# -- filter, variables, expressions
hist 'hist:keys=step:sort=step if step > 2 && what == "a"' '1 a' '3 a' '3 b' '4 a'
table 'a filter' '{ step:          3 } hitcount:          1
{ step:          4 } hitcount:          1'
hist 'hist:keys=what:x=step,y=step*2+1,z=64/8/4:vals=step'
line 'variables' 'hist:keys=what:vals=hitcount,step:x=step,y=step*2+1,z=2:sort=hitcount:size=2048 [active]'
hist 'hist:keys=what:x=step:onmax($x).save(step,what)' '3 a' '9 a' '5 a' '1 b'
table 'onmax' "$(printf '{ what: %-50s } hitcount:          1\n\tmax:          1  step:          1  what: b\n' b
	printf '{ what: %-50s } hitcount:          3\n\tmax:          9  step:          9  what: a' a)"
hist 'hist:keys=what:x=step:onchange($x).save(step)' '3 a' '9 a' '5 a' '5 a'
table 'onchange' "$(printf '{ what: %-50s } hitcount:          4\n\tchanged:          5  step:          5' a)"

# -- the snapshot holds what was before the greatest value
echo 1 > $step/enable
hist 'hist:keys=what:x=step:onmax($x).snapshot()' '3 a' '9 b' '5 a'
same 'in the snapshot' 'step=9 what=b' "$(grep -o 'step=.*' snapshot)"
same 'behind it' 'step=5 what=a' "$(grep -o 'step=.*' trace)"
grep -q "triggering value { onmax(\$x) }:          9	triggered by event with key: { what: b " $step/hist || fail "$(cat $step/hist)"
hist 'hist:keys=what:x=step:onmax($x).snapshot() if step > 3' '3 c' '7 d' '5 e'
same 'in the snapshot, with a filter' 'step=7 what=d' "$(grep -o 'step=[37].*' snapshot | tail -n 1)"
echo 0 > $step/enable
echo > $step/trigger 2> /dev/null
echo 0 > snapshot
echo > trace

# -- several, pause, continue, clear, "!", names
hist 'hist:keys=step' '1 a'
echo 'hist:keys=what' >> $step/trigger
steps '1 a' '2 b'
line 'two, the oldest first' 'hist:keys=step:vals=hitcount:sort=hitcount:size=2048 [active]
hist:keys=what:vals=hitcount:sort=hitcount:size=2048 [active]'
same 'two tables' '3 2' "$(echo $(sed -n 's/ *Hits: //p' $step/hist))"
echo 'hist:keys=step:pause' >> $step/trigger
steps '1 a'
line 'one is paused' 'hist:keys=step:vals=hitcount:sort=hitcount:size=2048 [paused]
hist:keys=what:vals=hitcount:sort=hitcount:size=2048 [active]'
same 'it does not count' '3 3' "$(echo $(sed -n 's/ *Hits: //p' $step/hist))"
echo 'hist:keys=step:cont' >> $step/trigger
echo 'hist:keys=what:clear' >> $step/trigger
steps '1 a'
same 'continued, and cleared' '4 1' "$(echo $(sed -n 's/ *Hits: //p' $step/hist))"
echo '!hist:keys=step' >> $step/trigger
line 'one is left' 'hist:keys=what:vals=hitcount:sort=hitcount:size=2048 [active]'
echo '!hist:keys=nosuch' >> $step/trigger 2> /dev/null && fail 'taken away by a wrong text'
echo '!hist:keys=what if step > 1' >> $step/trigger || fail 'to remove a histogram that does not exist is an error'
echo 'traceon if step == 77777' > $step/trigger
line '> takes histograms alone away' 'traceon:unlimited if step == 77777'
echo '!traceon' > $step/trigger
echo 'hist:name=both:keys=common_pid' > events/lab/lab_enter/trigger
echo 'hist:name=both:keys=common_pid' > events/lab/lab_leave/trigger
echo 'hist:name=both:keys=common_type' > events/sched/sched_waking/trigger 2> /dev/null && fail 'another histogram of that name'
steps '1 half' '2 half'
same 'one for two events' "$(cat events/lab/lab_enter/hist)" "$(cat events/lab/lab_leave/hist)"
same 'hits of both' 4 "$(sed -n 's/ *Hits: //p' events/lab/lab_leave/hist)"
echo '!hist:name=both:keys=common_pid' > events/lab/lab_enter/trigger
steps '3 half'
same 'it lives on' 5 "$(sed -n 's/ *Hits: //p' events/lab/lab_leave/hist)"
echo '!hist:name=both:keys=common_pid' >> events/lab/lab_leave/trigger
# the event that a shared histogram was made on goes, and its memory is that of other events
kept='hist:name=kept:keys=a:vals=a+b'
echo 'e:one lab.lab_step a=$step:u32 b=$step:u32' > dynamic_events
echo 'e:two lab.lab_step a=$step:u32 b=$step:u32' >> dynamic_events
echo 'e:three lab.lab_step a=$step:u32 c=$step:u8 b=$step:u32' >> dynamic_events
echo "$kept" > events/eprobes/one/trigger
echo "$kept" > events/eprobes/two/trigger || fail 'not shared'
echo "$kept" > events/eprobes/three/trigger 2> /dev/null && fail 'shared, and a part of a sum lies elsewhere'
echo "!$kept" > events/eprobes/one/trigger
{
	echo '-:one'
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		echo "e:other$i lab.lab_step c=\$step:s8 d=\$step:s8"
	done
} > /tmp/lines
cat /tmp/lines >> dynamic_events || fail 'its event does not go'
steps '300 x' '300 x'
same 'without the event that it was made on' '{ a: 300 } hitcount: 2 a+b: 1200' "$(grep '^{' events/eprobes/two/hist | tr -s ' ')"
same 'its types' 2 "$(grep -c ' type: u32$' events/eprobes/two/hist_debug)"
echo "!$kept" > events/eprobes/two/trigger
echo > dynamic_events || fail 'something is busy'
echo 'hist:keys=step:pause' > $step/trigger
echo 'enable_hist:lab:lab_step:1' > events/lab/lab_enter/trigger
line 'paused' 'hist:keys=step:vals=hitcount:sort=hitcount:size=2048 [paused]'
steps '1 a' '2 a'
line 'an event lets it go on' 'hist:keys=step:vals=hitcount:sort=hitcount:size=2048 [active]'
same 'from then on' 1 "$(sed -n 's/ *Hits: //p' $step/hist)"
holds 'once' events/lab/lab_enter/trigger 'enable_hist:lab:lab_step:count=0'
echo '!enable_hist:lab:lab_step' > events/lab/lab_enter/trigger
echo '!hist:keys=step' >> $step/trigger

# -- one with a variable, too
echo 'hist:keys=step:v=step' > $step/trigger
echo 'hist:keys=step:v=step:pause' >> $step/trigger || fail 'not paused'
line 'paused' 'hist:keys=step:vals=hitcount:v=step:sort=hitcount:size=2048 [paused]'
same 'the name is taken' 22 "$(errno -a $step/trigger 'hist:keys=what:v=step' | sed 's/.*errno=//; s/ .*//')"
echo '!hist:keys=step:v=step' >> $step/trigger

# -- limits are named, with their place
named() {
	errno -a $step/trigger "$1" > /dev/null
	grep -q "'$1', column $2: $3" error_log || fail "$1: $(cat error_log)"
}
named 'hist:keys=step,what,common_pid,common_flags' 31 'there are three keys at most'
named 'hist:keys=step:vals=step,common_pid,common_flags' 36 'there are two values at most'

# -- a wrong filter is explained once, as that of any trigger; the key of a stack in a field has its first place on the same line
echo > error_log
errno -a $step/trigger 'hist:keys=step if step == word' > /tmp/said
same 'a wrong filter' '1 1' "$(grep -c 'error: ' error_log) $(grep -c 'event filter parse error: error: Invalid value' error_log)"
echo 'lab_stack unsigned long stack[]' > synthetic_events
echo 'hist:keys=common_pid:st=common_stacktrace' > $step/trigger
echo 'hist:keys=common_pid:s=$st:onmatch(lab.lab_step).trace(lab_stack,$s)' > events/lab/lab_leave/trigger
echo 'hist:keys=stack.stacktrace' > events/synthetic/lab_stack/trigger
steps '1 a'
grep -q '^{ stack.stacktrace  *lab_step+0x' events/synthetic/lab_stack/hist || fail "the key of a field: $(cat events/synthetic/lab_stack/hist)"
echo '!hist:keys=stack.stacktrace' > events/synthetic/lab_stack/trigger
echo '!hist:keys=common_pid:s=$st:onmatch(lab.lab_step).trace(lab_stack,$s)' > events/lab/lab_leave/trigger
echo '!hist:keys=common_pid:st=common_stacktrace' > $step/trigger
echo > synthetic_events
for size in 0 64 131073 99999999999999999999; do
	named "hist:keys=step:size=$size" 20 'size= takes a number of entries, 65 to 131072'
done

# -- a variable that another histogram reads keeps its own
echo 'hist:keys=common_pid:t=common_timestamp.usecs' > $step/trigger
echo 'hist:keys=common_pid:d=common_timestamp.usecs-$t:vals=hitcount' > events/lab/lab_leave/trigger
same 'needed' 16 "$(errno -a $step/trigger '!hist:keys=common_pid:t=common_timestamp.usecs' | sed 's/.*errno=//; s/ .*//')"
grep -q ': another histogram reads its variables' error_log || fail "needed: $(cat error_log)"
errno $step/trigger 'traceon:3' > /tmp/said
same '> leaves it' 2 "$(grep -c . $step/trigger)"
echo '!traceon' >> $step/trigger
steps '1 a'
same 'read' 1 "$(sed -n 's/ *Hits: //p' events/lab/lab_leave/hist)"
echo '!hist:keys=common_pid:d=common_timestamp.usecs-$t:vals=hitcount' >> events/lab/lab_leave/trigger
echo '!hist:keys=common_pid:t=common_timestamp.usecs' >> $step/trigger
line 'none left' '# Available triggers:
# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist'
echo local > trace_clock

# -- refused: errno, and the caret in error_log
# refused ERRNO COMMAND ERROR: the caret is to stand where ^ is in the command
refused() {
	text=$(echo "$2" | tr -d ^)
	before=${2%%^*}
	echo > error_log
	same "errno of $text" "$1" "$(errno -a $step/trigger "$text" | sed 's/.*errno=//; s/ .*//')"
	test "$3" || return
	grep -q "hist:lab:lab_step: error: $3\$" error_log || fail "$text: $(cat error_log)"
	same "caret of $text" $((${#before} + 12)) "$(tail -n 1 error_log | wc -c | sed 's/ //g; s/$/-1/' | sed 's/.*/\$((&))/' | (read x; eval echo $x))"
}
refused 22 'hist:^' ''
refused 22 'hist:vals=step^' ''
refused 22 'hist:keys=step:nonsense^' ''
refused 22 'hist:keys=^nosuch' "Couldn't find field"
refused 22 'hist:keys=step.^nosuch' 'Invalid field modifier'
refused 22 'hist:keys=what.^hex' 'Invalid field modifier'
refused 22 'hist:keys=step.^buckets=0' 'Invalid field modifier'
refused 22 'hist:keys=step.^execname' 'Invalid field modifier'
refused 22 'hist:keys=^step.percent' 'Invalid field modifier'
refused 22 'hist:keys=what:vals=^step.log2' 'Invalid field modifier'
refused 22 'hist:keys=step:vals=^what' 'String type can not be an operand in expression'
refused 22 'hist:keys=step:^sort=' 'Empty assignment'
refused 22 'hist:keys=step:sort=^what' 'Sort field must be a key or a val'
refused 22 'hist:keys=step:sort=step.^up' 'Invalid sort modifier'
refused 22 'hist:keys=step,what:^sort=step,what,hitcount' 'Too many sort fields (Max = 2)'
refused 2 '^hist:keys=step:nohitcount' "Non-hitcount value is required for 'nohitcount'"
refused 22 'hist:keys=step,what,common_pid,common_type^' ''
refused 22 'hist:keys=step:size=200000^' ''
refused 22 'hist:keys=step:size=64^' ''
refused 22 'hist:keys=step:x=1,^y' 'Malformed assignment'
refused 22 'hist:keys=step:x=1,^x=2' 'Variable already defined'
refused 22 'hist:keys=step:x=$^nosuch' "Couldn't find variable"
refused 22 'hist:keys=step:x=step+1:y=$^x' "Couldn't find variable"
refused 33 'hist:keys=step:x=step/^0' 'Division by zero'
refused 22 'hist:keys=step:x=^1+2+3+4+5' 'Too many subexpressions (3 max)'
refused 22 'hist:keys=step:x=-(^1)+2' 'Unary minus not supported in sub-expressions'
refused 22 'hist:keys=step:x=^5z' 'Expecting numeric literal'
refused 22 'hist:keys=step:x=step+^what' 'String type can not be an operand in expression'
refused 22 '^hist:keys=step:x=common_timestamp.usecs-common_timestamp' "Timestamp units in expression don't match"
refused 2 '^hist:keys=step:cont' "Can't clear or continue a nonexistent hist trigger"
refused 22 'hist:keys=step:clock=^nosuch:x=common_timestamp' "Couldn't set trace_clock"
refused 22 'hist:keys=step:onmatch(lab.^nosuch).save(what)' 'Invalid subsystem or event name'
refused 22 'hist:keys=step:onmatch(^lab).save(what)' 'Missing subsystem'
refused 22 'hist:keys=step:onmatch(^lab.lab_enter' 'No closing paren found'
refused 22 'hist:keys=step:onmatch(lab.lab_enter).^save(what)' "Handler doesn't support action"
refused 22 '^hist:keys=step:onmax($x)' 'No action found'
refused 22 'hist:keys=step:onmax(^step).save(what)' 'For onmax(x) or onchange(x), x must be a variable'
refused 22 'hist:keys=step:x=1:onmax($^y).save(what)' "Couldn't find onmax or onchange variable"
refused 22 'hist:keys=step:x=1:onmax($x).save(^z)' 'Invalid action param'
refused 22 'hist:keys=step:x=1:onmax($x).save(^zz)' "Couldn't create field variable"
refused 22 'hist:keys=step:onmatch(lab.lab_enter).^nosuch(what)' "Couldn't find synthetic event"
refused 22 'hist:keys=step if nosuch == 1^' ''
# a variable that is defined by itself
refused 22 'hist:keys=step:x=lab.lab_step.$^x' "Couldn't find variable"
refused 22 'hist:keys=step:x=lab.lab_step.$^y,y=lab.lab_step.$x' "Couldn't find variable"
# an array within the record is no stack
same 'args.stacktrace' 22 \
	"$(errno -a events/raw_syscalls/sys_enter/trigger 'hist:keys=args.stacktrace' | sed 's/.*errno=//; s/ .*//')"
echo 'hist:keys=step' >> $step/trigger
refused 17 '^hist:keys=step' 'Hist trigger already exists'
line 'the refused ones have changed nothing' 'hist:keys=step:vals=hitcount:sort=hitcount:size=2048 [active]'
echo '!hist:keys=step' >> $step/trigger
echo local > trace_clock

# -- each hit counts once: 100,000 of them from four CPUs
enter=events/syscalls/sys_enter_getppid
echo 'hist:keys=common_pid:vals=__syscall_nr' > $enter/trigger
echo 'hist:keys=common_cpu' >> $enter/trigger
echo 'hist:keys=common_type' >> $enter/trigger
calls 100000 4 || fail 'calls'
same 'all hits, three times' '100000 100000 100000' "$(echo $(sed -n 's/ *Hits: //p' $enter/hist))"
same 'none dropped' '0 0 0' "$(echo $(sed -n 's/ *Dropped: //p' $enter/hist))"
# added WHAT KEY: how many lines have the key, and the sum of their numbers behind WHAT
added() {
	lines=0 total=0
	for number in $(sed -n "/^{ $2:/s/.* $1: *\([0-9]*\).*/\1/p" $enter/hist); do
		lines=$((lines + 1)) total=$((total + number))
	done
	echo $lines $total
}
nr=$(sed -n 's/.*__syscall_nr: *\([0-9]*\)$/\1/p' $enter/hist | head -n 1)
hits=$(sed -n '/__syscall_nr/s/.*hitcount: *\([0-9]*\) .*/\1/p' $enter/hist | head -n 1)
same 'four tasks' '4 100000' "$(added hitcount common_pid)"
same 'four CPUs' '4 100000' "$(added hitcount common_cpu)"
same 'one type' '1 100000' "$(added hitcount common_type)"
same 'the sum of a value' "4 $((nr / hits * 100000))" "$(added __syscall_nr common_pid)"
echo > $enter/trigger 2> /dev/null

# -- a map that is full: what is dropped is counted, and nothing else is wrong
hist 'hist:keys=step:size=128'
for n in $(seq 200); do
	echo "$n a"
done > /tmp/many
while read -r text; do
	echo $text > /sys/kernel/debug/lab/step
done < /tmp/many
same 'full' '128 128 72' "$(echo $(sed -n 's/ *\(Hits\|Entries\|Dropped\): //p' $step/hist))"
echo '!hist:keys=step' >> $step/trigger
holds 'nobody holds the event' $step/enable 0
tracing_reset
finish
