/* Network devices as ioctl(2) of a socket tells of them: netdevice(7). */
#pragma once

#include <uapi/in.h>

#define IFNAMSIZ 16

#define IFF_UP	     0x1
#define IFF_LOOPBACK 0x8
#define IFF_RUNNING  0x40

#define SIOCGIFNAME    0x8910
#define SIOCGIFCONF    0x8912
#define SIOCGIFFLAGS   0x8913
#define SIOCSIFFLAGS   0x8914
#define SIOCGIFADDR    0x8915
#define SIOCGIFDSTADDR 0x8917
#define SIOCGIFBRDADDR 0x8919
#define SIOCGIFNETMASK 0x891b
#define SIOCGIFMETRIC  0x891d
#define SIOCGIFMTU     0x8921
#define SIOCGIFHWADDR  0x8927
#define SIOCGIFINDEX   0x8933
#define SIOCGIFTXQLEN  0x8942
#define SIOCGIFMAP     0x8970

struct ifreq {
	char ifr_name[IFNAMSIZ];
	union {
		struct sockaddr_in ifr_addr;
		__u16 ifr_flags;
		int ifr_ifindex, ifr_metric, ifr_mtu, ifr_qlen;
		char ifr_map[24];
	};
};
struct ifconf {
	int ifc_len, pad;
	struct ifreq *ifc_req;
};
