#!/bin/sh
# The first files of a session at the prompt: mksession.sh ROOT INITRAMFS BUSYBOX OUTPUT.cpio PAGE...
#
# They are those of INITRAMFS, and behind them a second archive, which the kernel unpacks as well: PAGEs for man, and
# BUSYBOX, if that file is there, with a link for each word of busybox.applets that ROOT has no program for.
set -e

root=$1 initramfs=$2 busybox=$3 output=$4
shift 4

stage=$output.stage
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

# Each archive begins at a multiple of four.
cp "$initramfs" "$output.tmp"
truncate -s %4 "$output.tmp"
find "$stage" -type d -exec chmod 755 {} +
find "$stage" -exec touch -h -d '2020-01-01 00:00:00 UTC' {} +
(cd "$stage" && find . ! -name . | LC_ALL=C sort | cpio --quiet -o -H newc --owner 0:0 --reproducible) >>"$output.tmp"
rm -rf "$stage"
mv "$output.tmp" "$output"
