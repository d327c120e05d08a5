#!/bin/sh
# description: the sample events: every form an event can have, recorded and worded; probes come and go under fire, and none misses or outlives its time
# requires: smp=4 timeout=300 soak
# requires: rooms="samples"
. /run/prelude
lab=/sys/kernel/debug/lab
rounds=15
test "$1" = 0 || rounds=10000
cd $T

# said: the events since the last time, in one line
said() {
	echo $(grep -o 'lab_[a-z_]*: .*' trace)
	echo > trace
}

echo 1 > events/lab/enable
echo '3 half a' > $lab/step
same 'every form' "lab_step: step=3 what=half a lab_enter: room=3 lights=SUN lab_bytes: count=6 ends={0x68,0x61} bytes=68 61 6c 66 20 61 lab_leave: room=3 left=sunny" "$(said)"
echo '-1 four' > $lab/step
same 'dark' "lab_step: step=-1 what=four lab_enter: room=-1 lights= lab_enter_dark: room=-1 lights= lab_bytes: count=4 ends={0x66,0x72} bytes=66 6f 75 72 lab_leave: room=-1 left=dark" "$(said)"
echo 5 > $lab/step
same 'nothing' "lab_step: step=5 what= lab_enter: room=5 lights= lab_enter_dark: room=5 lights= lab_leave: room=5 left=dark" "$(said)"
for bad in '' x '5x y' 99999999999; do
	echo "$bad" 2> /dev/null > $lab/step && fail "step takes '$bad'"
done
same 'no step' '' "$(said)"
echo 'what ~ "*way" && step > 3' > events/lab/lab_step/filter
echo 'ends ~ "x"' 2> /dev/null > events/lab/lab_bytes/filter && fail 'a filter on numbers in an array'
echo '3 my way' > $lab/step
echo '4 my way' > $lab/step
echo '5 my why' > $lab/step
same 'filtered' 'lab_step: step=4 what=my way' "$(said | grep -o 'lab_step: step=[0-9]* what=[a-z ]*way')"
echo 0 > events/lab/lab_step/filter

# -- as fields, whatever the text
echo > trace
echo 1 > options/fields
echo '66 half' > $lab/step
echo 'a marker' > trace_marker
echo 0 > options/fields
same 'text again' 'room=66 left=dark' "$(grep -o 'room=66 left.*' trace)"
echo 1 > options/fields
same 'fields' "lab_step: step=0x42 (66) what=half lab_enter: room=0x42 (66) lights=0x0 (0) lab_enter_dark: room=0x42 (66) lights=0x0 (0) lab_bytes: count=0x4 (4) ends=0x660068 (6684776) bytes=68 61 6c 66 lab_leave: room=0x42 (66) lights=0x0 (0)" "$(echo $(grep -o 'lab_[a-z_]*: .*' trace))"
grep -q ': print: ip=0x[0-9a-f]* (-[0-9]*) buf=a marker$' trace || fail 'a marker as fields'
echo 0 > options/fields
echo task > /sys/kernel/debug/trace_printk/hello
echo puts > /sys/kernel/debug/trace_printk/hello
echo 1 > options/printk-msg-only
same 'messages alone' 'a marker hello from a task on CPU, preempt_count 0 hello without a format' "$(echo $(grep -v '\[00' trace | grep -v '^#' | sed 's/ on CPU [0-9]/ on CPU/'))"
echo 0 > options/printk-msg-only
echo 0 > events/lab/enable
grep -q '^	field:__data_loc unsigned char\[\] bytes;	offset:16;	size:4;	signed:0;$' events/lab/lab_bytes/format || fail 'bytes in format'
grep -q '^	field:unsigned short ends\[2\];	offset:12;	size:4;	signed:0;$' events/lab/lab_bytes/format || fail 'ends in format'
same 'own text' 'print fmt: "room=%d left=%s", REC->room, __print_symbolic(REC->lights, { 0, "dark" }, { 1, "lit" }, { 2, "sunny" }, { 3, "bright" })' "$(tail -n 1 events/lab/lab_leave/format)"

# -- probes: 4 CPUs hit the place while they come and go
for cpu in 0 1 2 3; do
	(while echo 100000 > $lab/hit; do :; done) 2> /dev/null &
	hitters="$hitters $!"
done
echo $rounds > $lab/probes || fail 'the rounds have not ended well'
kill $hitters
wait
test "$(field seen $lab/probes)" -ge $rounds || fail 'the probes have seen nothing'
same 'lost' 0 "$(field lost $lab/probes)"
same 'late' 0 "$(field late $lab/probes)"
for bad in '' x -1; do
	echo "$bad" 2> /dev/null > $lab/hit && fail "hit takes '$bad'"
	echo "$bad" 2> /dev/null > $lab/probes && fail "probes takes '$bad'"
done
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
