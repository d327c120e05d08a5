#!/bin/sh
# description: propagation types of mounts: kept, shown in mountinfo, inherited by bind mounts, refused as on Linux
# requires: smp=1
# requires: rooms="bind procfs"
. /run/prelude
# The optional fields of the mount at a place: what stands between the options of the mount and the dash.
type_of() {
	grep " $1 " /proc/self/mountinfo | sed 's/^\([^ ]* \)\{6\}//; s/ *- .*//'
}
types() {
	for place in "$@"; do
		echo "$(type_of $place)"
	done
}
mkdir /tmp/a /tmp/b /tmp/c /tmp/f
mount -t tmpfs a /tmp/a
mkdir /tmp/a/in
same 'private at first' '' "$(type_of /tmp/a)"
mount --make-shared /tmp/a
same 'shared' 'shared:1' "$(type_of /tmp/a)"
mount --make-shared /tmp/a
same 'once more' 'shared:1' "$(type_of /tmp/a)"
mount --bind /tmp/a /tmp/b
same 'a bind mount is a peer' 'shared:1 shared:1' "$(echo $(types /tmp/a /tmp/b))"
mount -t tmpfs inner /tmp/a/in
same 'a mount in a shared one has a group of its own' 'shared:2' "$(type_of /tmp/a/in)"
mount --make-slave /tmp/b
same 'a slave' 'shared:1 master:1' "$(echo $(types /tmp/a /tmp/b))"
mount --make-shared /tmp/b
same 'a slave that is shared' 'shared:3 master:1' "$(type_of /tmp/b)"
mount --make-rprivate /tmp/a
same 'a master that has gone leaves no slave' ', ,shared:3' "$(type_of /tmp/a), $(type_of /tmp/a/in),$(type_of /tmp/b)"
mount --make-slave /tmp/b
same 'without peers a slave is private' '' "$(type_of /tmp/b)"
mount --make-unbindable /tmp/a/in
same 'unbindable' unbindable "$(type_of /tmp/a/in)"
mount --bind /tmp/a/in /tmp/c 2> /tmp/said && fail 'an unbindable mount was bound'
same 'why' 'mount: /tmp/a/in cannot be bound: it is unbindable' "$(cat /tmp/said)"
mount --rbind /tmp/a /tmp/c
same 'and left out of its parent' '' "$(grep ' /tmp/c/in ' /proc/self/mountinfo)"
umount /tmp/c
mount --make-private /tmp/a/in
mount --rbind /tmp/a /tmp/c
same 'that is bindable again' 1 "$(grep -c ' /tmp/c/in ' /proc/self/mountinfo)"
umount -l /tmp/c

# -- what Linux refuses
mount --make-shared /tmp/c 2> /tmp/said && fail 'a folder without a mount was shared'
same 'why' 'mount: /tmp/c: nothing is mounted on it' "$(cat /tmp/said)"
mount --make-shared /tmp/a
mount --move /tmp/a/in /tmp/f 2> /tmp/said && fail 'a mount in a shared one was moved'
same 'why' 'mount: /tmp/a/in cannot be moved: it is no mount, or it is mounted in a shared one' "$(cat /tmp/said)"
mount --make-private /tmp/a
mount --move /tmp/a/in /tmp/f || fail 'a mount in a private one was not moved'

# -- all of them, as systemd does: programs such as uftrace look for this field
mount --make-rshared /
same 'each is shared' "$(grep -c . /proc/self/mountinfo)" "$(grep -c ' shared:[0-9]* .*- ' /proc/self/mountinfo)"
same 'a group of its own for each' "$(grep -c . /proc/self/mountinfo)" "$(grep -o ' shared:[0-9]*' /proc/self/mountinfo | sort -u | grep -c .)"
mount --make-rprivate /
same 'all are private again' 0 "$(grep -c shared: /proc/self/mountinfo)"
finish
