#!/bin/sh
# What a session at the prompt has beside the initramfs, which tools/newc.py packs then: mksession.sh ROOT BUSYBOX STAGE PAGE...
#
# Into the folder STAGE come PAGEs for man, and BUSYBOX, if that file is there, with a link for each word of busybox.applets
# that ROOT has no program for.
set -e

root=$1 busybox=$2 stage=$3
shift 3

rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/usr/share/doc/vitrine"
cp "$@" "$stage/usr/share/doc/vitrine"
if [ -f "$busybox" ]; then
	cp "$busybox" "$stage/bin/busybox"
	chmod 755 "$stage/bin/busybox"
	for applet in $(cat userland/busybox.applets); do
		[ -e "$root/bin/$applet" ] || [ -e "$root/sbin/$applet" ] || ln -s busybox "$stage/bin/$applet"
	done
fi
find "$stage" -type d -exec chmod 755 {} +
