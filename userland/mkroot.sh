#!/bin/sh
# Complete the root directory and pack it: mkroot.sh ROOT OUTPUT.cpio FILE... (FILEs, built already, are relative to ROOT)
set -e

root=$1 output=$2
shift 2

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

# Times are set in a copy: make goes by those of the files themselves.
cd "$OLDPWD"
stage=$output.stage
rm -rf "$stage"
cp -a "$root" "$stage"
cd "$stage"
find . -exec touch -h -d '2020-01-01 00:00:00 UTC' {} +
find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner 0:0 --reproducible >"$OLDPWD/$output.tmp"
cd "$OLDPWD"
rm -rf "$stage"
mv "$output.tmp" "$output"
