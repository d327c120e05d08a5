#!/bin/sh
# description: words that guides add to the command line are known, and say why they have no effect; debugfs=off
# requires: smp=1 append="nokaslr lockdown=none mitigations=off splash ro debugfs=off panic=5 nosuchword=1 loglevel=16 console=ttyS0,115200 earlyprintk=serial mem=64M rcu_nocbs=0"
# requires: rooms="procfs"
. /run/prelude
# why WORD: what the log says of it
why() {
	dmesg | grep "Kernel command line: '$1' has no effect" | sed 's/.*: //'
}
same nokaslr 'the kernel is not moved at boot' "$(why nokaslr)"
same 'with a value' 'there are no mitigations of CPU bugs' "$(why mitigations=off)"
same 'a short one' 'the root file system is the initramfs, which can be written' "$(why ro)"
same 'the console' 'the serial port is the console' "$(why console=ttyS0,115200)"
same 'its beginning' 'the log goes to the serial port from the start' "$(why earlyprintk=serial)"
same 'memory' "QEMU's -m says how much memory there is" "$(why mem=64M)"
same 'callbacks' 'one thread runs the callbacks of RCU of all CPUs' "$(why rcu_nocbs=0)"
same 'any number' 16 "$(cut -f 1 /proc/sys/kernel/printk)"
same 'only the unknown one is unknown' 1 "$(dmesg | grep -c 'Unknown kernel command line parameters "nosuchword=1"')"
same 'a word with an effect' 5 "$(cat /proc/sys/kernel/panic)"

# -- debugfs=off: it is not there, and tracefs is
grep -q debugfs /proc/filesystems && fail 'debugfs is listed'
mount -t debugfs none /sys/kernel/debug 2> /tmp/said && fail 'debugfs was mounted'
same 'why' 'mount: no file system type debugfs; /proc/filesystems has those there are' "$(cat /tmp/said)"
same 'nothing is there' '' "$(ls /sys/kernel/debug)"
holds 'tracing is where it always is' /sys/kernel/tracing/current_tracer nop
finish
