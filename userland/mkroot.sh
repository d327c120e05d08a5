#!/bin/sh
# Complete the root directory, which tools/newc.py packs then: mkroot.sh ROOT FILE... (FILEs, built already, are relative to ROOT)
set -e

root=$1
shift

# Names that are not programs of their own.
links="sbin/init:../bin/init bin/[:test init:bin/init sbin/poweroff:../bin/poweroff sbin/reboot:../bin/reboot
sbin/sysctl:../bin/sysctl sbin/modprobe:../bin/modprobe bin/halt:poweroff bin/less:more usr/bin:../bin usr/sbin:../sbin"
dirs="bin boot dev etc mnt proc root run sbin sys tmp usr var"

cd "$root"
for dir in $dirs; do
	mkdir -p "$dir"
done
chmod 755 $dirs
chmod 1777 tmp
chmod 700 root
for link in $links; do
	rm -f "${link%%:*}"
	ln -s "${link#*:}" "${link%%:*}"
done

# What an earlier build left behind and is no longer wanted.
find bin etc boot -type f | LC_ALL=C sort | while read -r file; do
	case " $* " in
	*" $file "*) ;;
	*) rm -f "$file" ;;
	esac
done
find bin sbin -type l | while read -r link; do
	case " $(echo $links) " in
	*" $link:"*) ;;
	*) rm -f "$link" ;;
	esac
done
