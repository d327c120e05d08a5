#!/bin/sh
# Two makes in one tree must not build in one folder at the same time: once.sh TARGET SOURCE COMMAND...
#
# The command is run, and TARGET touched, by one make at a time. The others wait, and find that TARGET is newer than SOURCE, so
# there is nothing left for them. The lock of flock(1) goes with the process that holds it. Where there is no flock (macOS),
# a folder is the lock; one that a killed make has left behind is to be removed by hand.
set -e

target=$1 source=$2
shift 2
lock=$target.lock
mkdir -p "$(dirname "$target")"
if command -v flock >/dev/null; then
	exec 9>"$lock"
	flock -n 9 || {
		echo "once.sh: another make is building $target: this one waits for it" >&2
		flock 9
	}
else
	said=
	until mkdir "$lock.d" 2>/dev/null; do
		[ -w "$(dirname "$target")" ] || { mkdir "$lock.d"; exit 1; }
		[ -n "$said" ] || echo "once.sh: another make is building $target: this one waits for it (is there no other? rmdir $lock.d)" >&2
		said=yes
		sleep 1
	done
	trap 'rmdir "$lock.d"' EXIT
	trap 'exit 1' HUP INT TERM
fi
[ "$target" -nt "$source" ] && exit 0
"$@"
touch "$target"
