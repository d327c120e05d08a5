# Calls under way while a probe has places for fewer: five sleepers, then tasks that end within a call.
insmod /fprobe_example.ko symbol='sys_*nanosleep' maxactive=2
for i in 1 2 3 4 5; do sleep 3 & done; until grep -q ' 3 missed' /proc/fprobe_example; do :; done; cat /proc/fprobe_example; wait
cat /proc/fprobe_example
rmmod fprobe_example
insmod /fprobe_example.ko symbol=sys_exit_group maxactive=4
for i in 1 2 3 4 5 6 7 8 9; do sleep 0.$i & done; wait
cat /proc/fprobe_example
rmmod fprobe_example
