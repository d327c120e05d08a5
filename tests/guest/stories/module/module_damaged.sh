# The guests of tests/guest/module/test_module_damaged.py run these parts.

#: fuzz: COUNT damaged files of the module KIND, first with the wrong checksum and then with the right one.
free() { grep MemFree /proc/meminfo | tr -cd 0-9; }
dmesg -n 1
for name in $BEFORE; do insmod /$name.ko || exit 1; done
/kofuzz -w /$KIND.ko $((COUNT / 4)) 3
/kofuzz /$KIND.ko 100 5 $PARAMS > /dev/null
before=$(free) try=0
/kofuzz /$KIND.ko $COUNT 7 $PARAMS
# What RCU and workers have still to free when the program ends comes back soon.
until [ $((before - $(free))) -lt 300 ] || [ $try = 100 ]; do try=$((try + 1)); usleep 100000; done
[ $try -lt 100 ] && echo kept
[ $(grep -c . /proc/modules) = $(echo $BEFORE | wc -w) ] || cat /proc/modules
dmesg | grep -cE 'Internal error|Oops|BUG|WARNING'; true

#: strip: A file without a checksum, and one with another.
insmod /bare.ko 2>&1; echo $?; dmesg | grep -o ' bare.ko: .*'; insmod /summed.ko; echo $?; cut -d' ' -f1 /proc/modules

#: dies: A task dies with the lock of the loader, another waits for it, and a third is killed while it waits.
. /run/prelude
insmod /damaged_dying.ko; echo d > /sys/module/damaged_dying/parameters/how
rmmod damaged_dying 2> /dev/null & dying=$!
await dying grep -q dying_free /proc/$dying/stack
insmod /damaged_plain.ko 2> /dev/null & waiting=$!
await waiting grep -q mutex_lock /proc/$waiting/stack
insmod /damaged_plain.ko 2> /dev/null & killed=$!
await killed grep -q mutex_lock /proc/$killed/stack
kill -9 $killed; wait $killed; echo == killed $?
dmesg -n 1; : > /tmp/die; wait $dying
wait $waiting; echo == refused $?
lsmod 2> /dev/null | sed -n 's/^\(damaged[a-z_]*\) .*/== lsmod \1/p'
lsmod 2>&1 > /dev/null | sed 's/^/== /'
insmod /damaged_plain.ko 2>&1 | sed 's/^/== /'
rmmod damaged_dying 2>&1 | sed 's/^/== /'
echo == said $(dmesg | grep -c 'modules: rmmod-.* has died with a lock of the loader: no module is loaded or unloaded any more')
echo == still $(cut -d' ' -f5 /proc/modules)
echo 'p:here schedule' > /sys/kernel/tracing/kprobe_events; echo == probe $?
echo == disabled $(cat /proc/sys/kernel/modules_disabled)

#: disabled: modules_disabled.
cd /proc/sys/kernel; insmod /damaged_plain.ko; cat modules_disabled; echo 0 2> /dev/null > modules_disabled; echo $?
echo 1 > modules_disabled; echo $?; insmod /damaged_params.ko 2> /dev/null; echo $?
rmmod damaged_plain 2> /dev/null; echo $?; cat modules_disabled; cut -d' ' -f1 /proc/modules

#: waits: rmmod waits for a write to a parameter, is killed, and rmmod comes again.
. /run/prelude
insmod /damaged_dying.ko; echo x > /sys/module/damaged_dying/parameters/how &
await writer grep -q dying_set /proc/$!/stack
writer=$!
rmmod damaged_dying & waiting=$!
await rmmod grep -q module_leave_files /proc/$waiting/stack
kill -9 $waiting; wait $waiting; echo killed $?
cut -d' ' -f5 /proc/modules
: > /tmp/go; wait $writer
rmmod damaged_dying; echo $?
echo $(grep -c . /proc/modules) modules
