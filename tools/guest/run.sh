# The first program of a headless run (tools/vitrine_guest.py).

#: init: Mounts what a script needs, runs the script between two markers, and powers off.
# The marker's token is kept apart from its words, so that showing this file does not look like the marker. The last
# command must not be `exit`: init may not end.
#!/bin/sh
mount -t devtmpfs dev /dev
# A kernel may leave rooms out, and with them these file systems.
mount -t proc proc /proc 2> /dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620,nosuid,noexec devpts /dev/pts 2> /dev/null
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /dev/shm
mount -t sysfs sysfs /sys 2> /dev/null || mkdir -p /sys/kernel/tracing /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null@FOLDERS@
true 2>/dev/null >&1 || exec < /dev/console > /dev/console 2>&1  # a kernel starts us without, before there is a /dev
token=@TOKEN@
echo "vrun-start-$token"
@WITHIN@ /bin/sh @SCRIPT@ @ARGUMENTS@
status=$?
echo "vrun-exit-$token $status"
@AFTER@
poweroff -f
