# A thread that is busy for four seconds, then with preemption off until the log has told it twice.
cd /proc/sys/kernel; cat watchdog_thresh; echo 61 > watchdog_thresh; echo -1 > watchdog_thresh
echo 1 > watchdog_thresh; cat watchdog_thresh; insmod /hold.ko; stage=/sys/module/hold/parameters/stage
taskset 2 sh -c "echo 1 > $stage; sleep 4; dmesg | grep -c lockup; echo 2 > $stage
until test \$(dmesg | grep -c lockup) -ge 2; do sleep 0.2; done; echo 3 > $stage"
echo 0 > watchdog_thresh; cat watchdog_thresh; rmmod hold; dmesg | grep -A 60 -m 1 lockup | cut -d] -f2-
