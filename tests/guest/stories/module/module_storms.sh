# The guests of tests/guest/module/test_module_storms.py run these parts.

#: opens: Three open, read and close the file $FILE; one loads and unloads /$NAME.ko $LOADS times. $CRASH: what the log must not have.
for i in 1 2 3; do openstorm $FILE /tmp/stop & done; loaded=0; unloaded=0
for i in $(seq 1 $LOADS); do insmod /$NAME.ko && loaded=$((loaded + 1)); cat /proc/devices > /dev/null
until rmmod $MODULE 2>/dev/null; do busy=1; done; unloaded=$((unloaded + 1)); done
touch /tmp/stop; wait; echo loaded $loaded unloaded $unloaded; cat /proc/modules
dmesg | grep -cE "$CRASH"; true

#: memory: After rounds that warm caches up, further rounds leave memory as it was. round: one of them.
round; round; settled; remember_memory; i=0; while [ $i -lt 40 ]; do round; i=$((i + 1)); done
left_over; echo "$left"; cat /proc/modules
