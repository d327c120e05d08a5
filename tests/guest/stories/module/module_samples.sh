# The guests of tests/guest/module/test_module_samples.py run these parts.

#: procfs: Files in /proc.
for n in 1 2 3 4; do insmod /procfs_$n.ko; done
cat /proc/procfs_1; dd if=/proc/procfs_1 bs=5 count=1 skip=1 2>/dev/null; echo; cat /proc/procfs_2
echo a word > /proc/procfs_2; cat /proc/procfs_2; head -c 1025 /dev/zero > /proc/procfs_2 2>/dev/null; echo $?
cat /proc/procfs_3/buffer; echo new text > /proc/procfs_3/buffer; cat /proc/procfs_3/buffer
ls -l /proc/procfs_3/buffer | tr -s ' ' | cut -d' ' -f1-5; cat /proc/procfs_4
mkdir /tmp/p; mount -t proc proc /tmp/p; cat /tmp/p/procfs_4 | tail -1; cat /tmp/p/procfs_3/buffer
exec 3</proc/procfs_3/buffer; rmmod procfs_3; echo $?; exec 3<&-; rmmod procfs_3; echo $?
ls /proc/procfs_3 /tmp/p/procfs_3 2>/dev/null; umount /tmp/p; cat /proc/procfs_4 | head -1; rmmod procfs_4
insmod /procfs_4.ko records=5000; cat /proc/procfs_4 | wc -l; cat /proc/procfs_4 | tail -1
cat /proc/procfs_4 > /tmp/b; for f in /proc/procfs_4 /tmp/b; do dd if=$f bs=1 skip=12345 count=20 2>/dev/null | tr '\n' '.'; echo; done
for n in 1 2 4; do rmmod procfs_$n; done; ls /proc | grep -c procfs_; true

#: outlives: Open files outlive their modules.
insmod /procfs_4.ko; insmod /debugfs_values.ko; insmod /sysfs_value.ko
exec 3</proc/procfs_4 4</sys/kernel/debug/values/number 5</sys/kernel/sysfs_value/value
head -n 1 <&3; rmmod procfs_4 sysfs_value; echo $?; cat <&3 2>&1; cat <&5 2>&1; rmmod debugfs_values; echo $?; cat <&4 2>&1
insmod /procfs_4.ko records=1; cat /proc/procfs_4; cat <&3 2>&1; exec 3<&- 4<&- 5<&-; rmmod procfs_4; ls /sys/kernel/debug

#: values: Values in debugfs and sysfs.
insmod /debugfs_values.ko; insmod /sysfs_value.ko; cd /sys/kernel/debug/values; show() { for f in *; do echo $f $(cat $f); done; }
show; echo 0x10 > number; echo 3 > square; echo y > on; show; echo 1001 > square; echo $?; echo x > number; echo $?; echo x > on; echo $?
cat square; cd /; echo -12 > /sys/kernel/sysfs_value/value; cat /sys/kernel/sysfs_value/value; echo z > /sys/kernel/sysfs_value/value; echo $?
insmod /debugfs_values.ko 2>/dev/null; rmmod debugfs_values sysfs_value; ls /sys/kernel/debug /sys/kernel | grep -c value; true

#: shared_irq: A second handler of a line counts the interrupts of a virtio port.
irq=$(grep virtio /proc/interrupts | tail -1 | cut -d: -f1 | tr -d ' '); insmod /irq_shared.ko irq=$irq
for i in 1 2 3 4 5 6; do echo $i > /dev/virtio-ports/p; done; cat /proc/irq_shared; rmmod irq_shared
for i in 7 8; do echo $i > /dev/virtio-ports/p; done; insmod /irq_shared.ko irq=250 2>/dev/null; echo $?
insmod /irq_shared.ko 2>/dev/null; echo $?; cat /proc/modules

#: delays: The latency tracer $TRACER finds a section of the kind $MODE.
cd /sys/kernel/tracing; echo 0 > tracing_max_latency; echo $TRACER > current_tracer
insmod /preemptirq_delay_test.ko test_mode=$MODE delay=20000 cpu_affinity=1 burst_size=2; cat tracing_max_latency
cat trace | grep -E 'started at|ended at'; echo 0 > tracing_max_latency; echo 1 > /sys/kernel/preemptirq_delay_test/trigger
cat tracing_max_latency; rmmod preemptirq_delay_test; insmod /preemptirq_delay_test.ko test_mode=none 2>/dev/null; echo $?
insmod /preemptirq_delay_test.ko cpu_affinity=9 2>/dev/null; echo $?; cat /proc/modules

#: ioctl: Numbers and texts go both ways. $READ, $WRITE and $BOTH are commands of chardev2, $GET and $SET of the counter.
insmod /chardev2.ko; insmod /misc_counter.ko; echo old > /dev/chardev2
devioctl /dev/chardev2 $READ text none
devioctl /dev/chardev2 $WRITE text new; cat /dev/chardev2; echo
for n in 0 2 3 80; do devioctl /dev/chardev2 $BOTH raw $n; done
devioctl /dev/chardev2 $WRITE raw 8; devioctl /dev/chardev2 4711 raw 0; cat /dev/chardev2; echo
echo 12345 > /dev/misc_counter; devioctl /dev/misc_counter $GET u32 0
devioctl /dev/misc_counter $SET u32 99; devioctl /dev/misc_counter $GET u32 0
devioctl /dev/misc_counter $SET raw 8; devioctl /dev/misc_counter 1 raw 0
ls -l /dev/misc_counter | cut -c1-10; cat /proc/misc; exec 3>/dev/misc_counter; rmmod misc_counter; exec 3>&-
rmmod misc_counter chardev2; echo $?; cat /proc/misc; ls /dev/misc_counter; true

#: idle_readers: A timer prints while all CPUs idle, and a task sleeps for longer than the timer's period.
insmod /print_timer.ko period_ms=300; cat /dev/kmsg > /tmp/read & reader=$!
sleep 1; cd /sys/kernel/tracing
echo 'msg ~ "*timer: tick*"' > events/printk/console/filter; echo 1 > events/printk/console/enable
echo prev_pid==0 > events/sched/sched_switch/filter; echo 1 > events/sched/sched_switch/enable
sleep 3; echo 0 > tracing_on; kill $reader; rmmod print_timer
grep -v '^#' trace | grep -A 1 ' console: ' | grep -o 'console: \|next_comm=[^ ]*'
