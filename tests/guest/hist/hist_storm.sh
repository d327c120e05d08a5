#!/bin/sh
# description: histograms and synthetic events come and go under load; mutated definitions are taken or refused
# requires: smp=4 timeout=400
# requires: rooms="procfs samples triggers"
. /run/prelude
tracing_reset
step=events/lab/lab_step
leave=events/lab/lab_leave
none='# Available triggers:
# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist'
# All kinds of references between histograms, a synthetic event and a shared name; then all of it goes.
round() {
	echo 'ev int a; char w[]; u64 t; unsigned long[] s' >> synthetic_events
	echo "hist:keys=common_pid:a=step,w=what:ts=common_timestamp,s=common_stacktrace" >> $step/trigger
	echo 'hist:keys=common_pid:d=common_timestamp-$ts:onmatch(lab.lab_step).ev($a,$w,$d,$s)' >> $leave/trigger
	echo 'hist:keys=w:vals=a' >> events/synthetic/ev/trigger
	echo 1 > events/synthetic/ev/enable
	echo 'hist:name=n:keys=common_pid' >> $step/trigger
	echo 'hist:name=n:keys=common_pid' >> $leave/trigger
	echo '!hist:name=n:keys=common_pid' >> $step/trigger
	echo '3 half' > /sys/kernel/debug/lab/step
	echo 0 > events/synthetic/ev/enable
	echo '!hist:keys=w:vals=a' >> events/synthetic/ev/trigger
	echo '!hist:name=n:keys=common_pid' >> $leave/trigger
	echo '!hist:keys=common_pid:d=common_timestamp-$ts:onmatch(lab.lab_step).ev($a,$w,$d,$s)' >> $leave/trigger
	echo '!hist:keys=common_pid:a=step,w=what:ts=common_timestamp,s=common_stacktrace' >> $step/trigger
	echo '!ev' >> synthetic_events
}

(while test ! -e /tmp/stop; do echo '3 half' > /sys/kernel/debug/lab/step; done) &
for n in $(seq 5); do
	round
done
before=$(meminfo MemFree)
for n in $(seq 40); do
	round
done
is_back 'forty rounds' 512 $before
touch /tmp/stop
wait
holds 'nothing is left' $step/trigger "$none"
holds 'nothing is left' $leave/trigger "$none"
holds 'nothing is left' synthetic_events ''
same 'each round was whole' '' "$(dmesg | grep -E 'lab_(step|leave)/trigger: |synthetic_events: ')"

# Each character left out, or another in its place: what is taken can be taken away by the line that the file shows.
for definition in \
	'hist:keys=what,common_pid.execname:vals=step.percent:x=step*2+1,y=$x:sort=step.descending:size=256:onmax($x).save(step,what) if step > 2' \
	'hist:keys=common_pid:onmatch(lab.lab_leave).trace(ev,$a,lab.lab_enter.room)' \
	'hist:keys=step.buckets=8,what:z=-(4-3):onchange($z).snapshot():clock=mono:nohitcount'; do
	at=0
	while [ $at -lt ${#definition} ]; do
		for other in '' . '$' , '('; do
			echo "${definition:0:$at}$other${definition:$((at + 1))}" >> $step/trigger 2> /dev/null || continue
			echo '1 half' > /sys/kernel/debug/lab/step
			grep -v '^#' $step/trigger > /tmp/taken
			while read -r line; do
				echo "!${line% \[*}" >> $step/trigger || fail "not taken away: $line"
			done < /tmp/taken
			holds 'gone' $step/trigger "$none"
		done
		at=$((at + 1))
	done
done
echo 0 > snapshot
echo local > trace_clock
dmesg | grep -E 'Oops|BUG|WARNING|panic' && fail 'the kernel complained'
tracing_reset
finish
