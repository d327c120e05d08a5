#!/bin/sh
# description: events net:*, skb:*, sock:*, udp:* and the softirq NET_RX: exactly so many for so many packets, with their lengths, in the order of a packet's way
# requires: smp=2 icount progs="netevents"
# requires: rooms="dynevents inet"
. /run/prelude
tracing_reset

# traced COMMAND...: its events, in /tmp/trace
traced() {
	echo > trace
	for system in net skb sock udp; do
		echo 1 > events/$system/enable
	done
	for event in raise entry exit; do
		echo 'vec == 8' > events/irq/softirq_$event/filter
		echo 1 > events/irq/softirq_$event/enable
	done
	"$@" > /tmp/output 2>&1 || fail "$* failed"
	echo 0 > events/enable
	grep -v "^#" trace > /tmp/trace
}

# times N EVENT [TEXT]: there are so many of these records
times() {
	same "$2 $3" $1 $(grep -cE " $2: .*$3" /tmp/trace)
}

traced netevents datagrams 20 100
times 20 net_dev_queue 'dev=lo skbaddr=[0-9a-f]{16} len=142$' # with headers of Ethernet, IP and UDP: 14 + 20 + 8
times 20 net_dev_xmit 'dev=lo skbaddr=[0-9a-f]{16} len=142 rc=0$'
times 20 netif_rx 'dev=lo skbaddr=[0-9a-f]{16} len=128$'
times 20 netif_receive_skb 'dev=lo skbaddr=[0-9a-f]{16} len=128$'
times 20 sk_data_ready 'family=2 protocol=17 func=sock_def_readable$'
times 20 sock_send_length 'sk address = [0-9a-f]{16}, family = AF_INET protocol = IPPROTO_UDP, length = 100, error = 0, flags = 0x0$'
times 20 sock_recv_length 'family = AF_INET protocol = IPPROTO_UDP, length = 100, error = 0, flags = 0x40$'
times 20 skb_copy_datagram_iovec 'skbaddr=[0-9a-f]{16} len=100$'
times 20 consume_skb 'skbaddr=[0-9a-f]{16} location=[a-z_]+\+'
times 0 kfree_skb
for event in raise entry exit; do
	times 20 softirq_$event 'vec=8 \[action=NET_RX\]$'
done
same 'all records' $((20 * 12)) $(wc -l < /tmp/trace)
# The way of the first one, and that it is one packet all along.
way='net_dev_queue netif_rx softirq_raise net_dev_xmit softirq_entry netif_receive_skb sk_data_ready softirq_exit sock_send_length skb_copy_datagram_iovec consume_skb sock_recv_length'
same 'a packet on its way' "$way" "$(head -12 /tmp/trace | grep -oE '[a-z_]+: ' | tr -d ':\n' | sed 's/ $//')"
same 'one packet' 1 $(head -12 /tmp/trace | grep -oE 'skbaddr=[0-9a-f]+' | sort -u | wc -l)

traced netevents refused 10 100
times 20 net_dev_queue
times 10 net_dev_queue 'len=170$' # an error: 14 + 20 + 8, and all of what it is about
times 10 kfree_skb 'skbaddr=[0-9a-f]{16} protocol=2048 location=[a-z_]+\+.* reason: NO_SOCKET$'
times 10 consume_skb 'skbaddr=[0-9a-f]{16} location=[a-z_]+\+'
times 10 softirq_raise # the answer joins the list that is gone through

traced netevents full 100 100
taken=$(grep -c ' sk_data_ready: ' /tmp/trace)
test $taken -gt 5 && test $taken -lt 95 || fail "$taken of 100 taken"
times 100 netif_receive_skb
times $((100 - taken)) sock_rcvqueue_full 'rmem_alloc=[0-9]+ truesize=[0-9]+ sk_rcvbuf=10000$'
times $((100 - taken)) udp_fail_queue_rcv_skb 'rc=-12 port=[0-9]+$'
times $((100 - taken)) kfree_skb 'reason: SOCKET_RCVBUFF$'
times $taken kfree_skb 'location=inet_release\+.* reason: QUEUE_PURGE$'

traced netevents echo 10 64
times 20 netif_rx 'len=84$'
times 20 sk_data_ready 'protocol=1 '
times 10 sock_send_length 'IPPROTO_ICMP, length = 64,'
times 20 sock_recv_length 'IPPROTO_ICMP, length = 84,'
times 40 consume_skb # each came in, and so did its copy

# What a packet in a device begins with: Ethernet's header, of no addresses and with IP inside. 64: of sk_buff.data.
echo 'e:eth net.net_dev_queue to=+0(+64($skbaddr)):x32 from=+4(+64($skbaddr)):x64 inside=+12(+64($skbaddr)):x16 ip=+14(+64($skbaddr)):x8' \
	> dynamic_events
echo > trace
echo 1 > events/eprobes/enable
netevents datagrams 3 100 > /tmp/output 2>&1 || fail 'netevents failed'
echo 0 > events/eprobes/enable
grep -v '^#' trace > /tmp/trace
times 3 eth '\(net.net_dev_queue\) to=0x0 from=0x0 inside=0x8 ip=0x45$'
echo > dynamic_events
finish
