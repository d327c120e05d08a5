#!/bin/sh
# description: who may do what: every call that reaches beyond its caller, as root and as uid 1000
# requires: smp=2 timeout=120 progs="permtest permfiles setidtest idcalls hidden"
# requires: rooms="inet procfs"
. /run/prelude
for program in permtest permfiles setidtest idcalls hidden; do
	$program || fail $program
done

# sudo, installed as other systems have it: set-user-id root. Its own way, it is for root alone.
cp /bin/sudo /tmp/sudo
chmod 4755 /tmp/sudo
same 'a set-user-id sudo' '1000 0 0 0' \
	"$(setidtest as-user /tmp/sudo cat /proc/self/status | sed -n 's/^Uid:[^0-9]*//p' | tr '\t' ' ')"
same 'a secret read by it' "$(head -1 /proc/1/maps)" "$(setidtest as-user /tmp/sudo head -1 /proc/1/maps)"
setidtest as-user /bin/sudo true 2> /dev/null && fail 'sudo without the bit made a user root'

# Names: root's and nobody's; a user without one is a number.
same 'id' 'uid=0(root) gid=0(root)' "$(id)"
same 'id -un' root "$(id -un)"
same 'id -gn' root "$(id -n -g)"
same 'id of a user without a name' 'uid=1000 gid=1000' "$(setidtest as-user /bin/id)"
for owner in '0 root root' '1000 1000 1000' '65534 nobody nogroup'; do
	set -- $owner
	: > /tmp/owned
	setidtest give /tmp/owned $1
	same "ls -l of $1" "$2 $3" "$(ls -l /tmp/owned | tr -s ' ' | cut -d ' ' -f 3,4)"
	same "stat of $1" "$2 $3" "$(stat -c '%U %G' /tmp/owned)"
done
finish
