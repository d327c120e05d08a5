# The guests of tests/guest/module/test_module_request.py run these parts.

#: alias: An open of a device loads its module by an alias.
mkdir -p /lib/modules/$(uname -r); mv /numbered.ko /lib/modules/$(uname -r)
cd /lib/modules/$(uname -r); echo numbered.ko: > modules.dep; mv /modules.alias .
cd /sys/kernel/tracing; echo 1 > events/module/module_request/enable
mknod /dev/n c 240 7; cat /dev/n; lsmod | grep -c numbered; mknod /dev/m c 241 7; cat /dev/m
mount -t nosuch none /mnt; grep module_request: trace | cut -d: -f3-
exec 3</dev/n; rmmod numbered; dmesg | tail -1 | cut -d] -f2-; exec 3<&-; rmmod numbered && echo gone

#: asks: A module asks for helpers, which the kernel starts.
mkdir -p /lib/modules/$(uname -r); mv /helps.ko /lib/modules/$(uname -r)
cd /lib/modules/$(uname -r); echo helps.ko: > modules.dep; echo 'alias help-[0-9] helps' > modules.alias
cd /sys/kernel/tracing; echo 1 > events/module/module_request/enable
(cd /tmp; insmod /asks.ko)
dmesg -c | cut -d] -f2-
cat /tmp/said; lsmod | grep -c helps; grep module_request: trace | cut -d: -f3-; cat /proc/[0-9]*/comm 2>/dev/null | grep -c ^umh; rmmod helps
echo /bin/none > /proc/sys/kernel/modprobe; insmod /asks.ko 2>/dev/null; rmmod asks; insmod /asks.ko
cat /proc/sys/kernel/modprobe; dmesg | grep helped | cut -d] -f2-; rmmod asks; dmesg -c >/dev/null
echo > /proc/sys/kernel/modprobe; insmod /asks.ko; dmesg | grep helped | cut -d] -f2-; rmmod asks
