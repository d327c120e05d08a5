#!/bin/sh
# description: sockets of AF_INET: UDP, raw and ping sockets, ICMP, devices, as the same programs find them on Linux; counters of /proc/net; no memory is lost
# requires: smp=1,4 timeout=240 progs="inettest udptest ineterrors netevents"
# requires: rooms="inet procfs"
. /run/prelude

# counter GROUP NAME: of /proc/net/snmp
counter() {
	column=$(grep "^$1: [A-Z]" /proc/net/snmp | tr ' ' '\n' | grep -n "^$2\$" | cut -d: -f1)
	grep "^$1: [0-9]" /proc/net/snmp | cut -d' ' -f$column
}

# grown GROUP NAME BEFORE BY
grown() {
	same "$1 $2" $(($3 + $4)) $(counter $1 $2)
}

same 'no traffic yet' '    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0' "$(grep lo: /proc/net/dev)"
udp=$(counter Udp InDatagrams) lost=$(counter Udp RcvbufErrors) ports=$(counter Udp NoPorts) echos=$(counter Icmp InEchos)
runs 'datagrams' netevents datagrams 7 100
runs 'no port' netevents refused 5 100
taken=$(netevents full 300 100)
runs 'echos' netevents echo 3 100
grown Udp InDatagrams $udp 7
grown Udp NoPorts $ports 5
test $(counter Udp RcvbufErrors) -gt $lost || fail 'nothing was lost'
grown Icmp InEchos $echos 3
grown Icmp OutEchoReps 0 3
grown Icmp OutDestUnreachs 0 5
grown Icmp InCsumErrors 0 0
# 7 datagrams, 5 with an error about each, 300, 3 echos with answers: with their headers of IP
same 'packets of lo' $((7 + 5 * 2 + 300 + 3 * 2)) $(grep lo: /proc/net/dev | tr -s ' ' | cut -d' ' -f4)
same 'bytes of lo' $((312 * 128 + 5 * 156 + 6 * 120)) $(grep lo: /proc/net/dev | tr -s ' ' | cut -d' ' -f3)
same 'sent is received' "$(grep lo: /proc/net/dev | tr -s ' ' | cut -d' ' -f3,4)" "$(grep lo: /proc/net/dev | tr -s ' ' | cut -d' ' -f11,12)"
grep -q NET_RX /proc/softirqs || fail 'no NET_RX in /proc/softirqs'

inettest > /tmp/said || fail "inettest: $(cat /tmp/said)"
holds 'ping sockets' /proc/sys/net/ipv4/ping_group_range '1	0'
echo '0 100' > /proc/sys/net/ipv4/ping_group_range
sent=$(counter Icmp OutEchos)
runs 'ping sockets for some groups' inettest ping-socket
grown Icmp OutEchos $sent 1
runs 'errors of ping sockets' ineterrors ping-queue
echo '5 3' > /proc/sys/net/ipv4/ping_group_range
holds 'groups in the wrong order' /proc/sys/net/ipv4/ping_group_range '1	0'
for bad in 0 'a b' '1 2 3' '40000 30000' '0 5' '1 65536' ''; do
	echo "$bad" 2> /dev/null > /proc/sys/net/ipv4/ip_local_port_range && fail "ports '$bad'"
done
echo 40000 40001 > /proc/sys/net/ipv4/ip_local_port_range
holds 'ports' /proc/sys/net/ipv4/ip_local_port_range '40000	40001'
netevents full 1 1 > /dev/null || fail 'two ports are enough for two sockets'
echo 32768 60999 > /proc/sys/net/ipv4/ip_local_port_range

udptest > /tmp/said || fail "udptest: $(cat /tmp/said)"
ineterrors > /tmp/said || fail "ineterrors: $(cat /tmp/said)"
settled
before=$(meminfo MemFree)
udptest > /tmp/said || fail "udptest: $(cat /tmp/said)"
ineterrors left-behind > /tmp/said || fail "ineterrors: $(cat /tmp/said)"
netevents datagrams 3000 2000 || fail 'large datagrams'
netevents refused 3000 2000 || fail 'refused datagrams'
netevents echo 2000 2000 || fail 'echos'
netevents full 3000 2000 > /dev/null || fail 'datagrams without room'
is_back 'datagrams' 2000 $before
same 'sockets are gone' 1 "$(wc -l < /proc/net/udp)"
same 'raw sockets are gone' 1 "$(wc -l < /proc/net/raw)"
dmesg | grep -E 'Oops|BUG|WARNING' && fail 'the kernel complained'
finish
