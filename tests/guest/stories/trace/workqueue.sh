# What a module's works and their queues leave in the statistics; /counted.ko counts them itself.
cd /sys/kernel/tracing
say() { echo "@$1"; shift; "$@"; }
echo 1 > events/workqueue/enable
insmod /counted.ko
echo 0 > events/workqueue/enable
say workqueues cat trace_stat/workqueues
say workfuncs cat trace_stat/workfuncs
say events grep -o 'workqueue_[a-z_]*: .*' trace
echo 1 > events/workqueue/enable
echo > trace
rmmod counted
echo 0 > events/workqueue/enable
say last grep -o 'workqueue_[a-z_]*: .*' trace
say gone cat trace_stat/workfuncs
insmod /counted.ko
rmmod counted
say twice cat trace_stat/workfuncs
echo 0 > workqueue_profile_enabled
insmod /counted.ko
say off cat trace_stat/workfuncs
rmmod counted
say enabled cat workqueue_profile_enabled
echo 1 > workqueue_profile_enabled
say reset cat trace_stat/workfuncs
echo "@refused"
echo x > workqueue_profile_enabled
say after_x cat workqueue_profile_enabled
insmod /counted.ko fill=1
rmmod counted
say no_room_queues head -n 3 trace_stat/workqueues
say no_room_funcs head -n 4 trace_stat/workfuncs
