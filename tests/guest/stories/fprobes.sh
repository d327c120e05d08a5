# Calls under way while a probe has places for fewer: four sleepers and a shell's own, then tasks that end within a call.
insmod /fprobe_example.ko symbol='sys_*nanosleep' maxactive=2
for i in 1 2 3 4; do sleep 1 & done; sleep 0.5; cat /proc/fprobe_example; wait
cat /proc/fprobe_example
rmmod fprobe_example
insmod /fprobe_example.ko symbol=sys_exit_group maxactive=4
for i in 1 2 3 4 5 6 7 8 9; do sleep 0.$i & done; wait
cat /proc/fprobe_example
rmmod fprobe_example
