#!/bin/sh
# description: who may do what: every call that reaches beyond its caller, as root and as uid 1000
# requires: smp=2 timeout=120 progs="permtest permfiles setidtest"
. /run/prelude
for program in permtest permfiles setidtest; do
	$program || fail $program
done

# sudo, installed as other systems have it: set-user-id root. Its own way, it is for root alone.
cp /bin/sudo /tmp/sudo
chmod 4755 /tmp/sudo
same 'a set-user-id sudo' '1000 0 0 0' \
	"$(setidtest as-user /tmp/sudo cat /proc/self/status | sed -n 's/^Uid:[^0-9]*//p' | tr '\t' ' ')"
same 'a secret read by it' "$(head -1 /proc/1/maps)" "$(setidtest as-user /tmp/sudo head -1 /proc/1/maps)"
setidtest as-user /bin/sudo true 2> /dev/null && fail 'sudo without the bit made a user root'
finish
