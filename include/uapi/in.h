/*
 * AF_INET: addresses, protocols, options of sockets, and headers as they lie in packets. What stands in packets and in
 * addresses is big-endian.
 */
#pragma once

#include <uapi/types.h>

#define IPPROTO_IP   0
#define IPPROTO_ICMP 1
#define IPPROTO_TCP  6
#define IPPROTO_UDP  17
#define IPPROTO_RAW  255
#define IPPROTO_MAX  263

/* In the host's order. */
#define INADDR_ANY	 0U
#define INADDR_LOOPBACK	 0x7f000001U
#define INADDR_BROADCAST 0xffffffffU

#define SOL_IP	    0
#define SOL_RAW	    255
#define IP_TOS	    1
#define IP_TTL	    2
#define IP_PKTINFO  8
#define IP_RECVERR  11
#define IP_RECVTTL  12
#define IP_RECVTOS  13
#define IP_MTU	    14
#define ICMP_FILTER 1

struct sockaddr_in {
	__u16 sin_family;
	__u16 sin_port;
	__u32 sin_addr;
	char sin_zero[8];
};
struct in_pktinfo {
	int ipi_ifindex;
	__u32 ipi_spec_dst; /* the local address that takes part */
	__u32 ipi_addr;	    /* of the packet's header */
};

/* The message beside the bytes of recvmsg(MSG_ERRQUEUE). Behind it stands the address of the machine that tells it. */
struct sock_extended_err {
	__u32 ee_errno;
	__u8 ee_origin; /* SO_EE_ORIGIN_* */
	__u8 ee_type, ee_code, ee_pad;
	__u32 ee_info; /* of EMSGSIZE: the MTU */
	__u32 ee_data;
};
#define SO_EE_ORIGIN_LOCAL 1
#define SO_EE_ORIGIN_ICMP  2

struct iphdr {
	__u8 version_ihl; /* 0x45 without options */
	__u8 tos;
	__u16 tot_len;
	__u16 id;
	__u16 frag_off;
	__u8 ttl;
	__u8 protocol;
	__u16 check;
	__u32 saddr, daddr;
};
struct udphdr {
	__u16 source, dest;
	__u16 len;
	__u16 check; /* 0: none */
};
struct icmphdr {
	__u8 type, code;
	__u16 check;
	__u16 id, sequence; /* of an echo */
};
#define ICMP_ECHOREPLY	  0
#define ICMP_DEST_UNREACH 3
#define ICMP_ECHO	  8
#define ICMP_PROT_UNREACH 2 /* codes of ICMP_DEST_UNREACH */
#define ICMP_PORT_UNREACH 3
