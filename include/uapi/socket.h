/* Sockets: numbers and structures of socket(2), sendmsg(2), setsockopt(2) and their relatives. */
#pragma once

#include <uapi/types.h>
#include <uapi/uio.h>

#define AF_UNSPEC 0
#define AF_UNIX	  1
#define AF_INET	  2

#define SOCK_STREAM    1
#define SOCK_DGRAM     2
#define SOCK_RAW       3
#define SOCK_SEQPACKET 5
#define SOCK_PACKET    10 /* of AF_INET: long out of use */
/* Beside the type. */
#define SOCK_NONBLOCK 04000
#define SOCK_CLOEXEC  02000000

#define SHUT_RD	  0
#define SHUT_WR	  1
#define SHUT_RDWR 2

#define SOMAXCONN 4096

#define MSG_OOB		 0x1
#define MSG_PEEK	 0x2
#define MSG_CTRUNC	 0x8
#define MSG_TRUNC	 0x20
#define MSG_DONTWAIT	 0x40
#define MSG_EOR		 0x80
#define MSG_WAITALL	 0x100
#define MSG_ERRQUEUE	 0x2000
#define MSG_NOSIGNAL	 0x4000
#define MSG_CMSG_CLOEXEC 0x40000000

#define SOL_SOCKET    1
#define SO_REUSEADDR  2
#define SO_TYPE	      3
#define SO_ERROR      4
#define SO_BROADCAST  6
#define SO_SNDBUF     7
#define SO_RCVBUF     8
#define SO_KEEPALIVE  9
#define SO_PASSCRED   16
#define SO_PEERCRED   17
#define SO_RCVTIMEO   20
#define SO_SNDTIMEO   21
#define SO_TIMESTAMP  29 /* also the type of the control message */
#define SO_ACCEPTCONN 30
#define SO_PROTOCOL   38
#define SO_DOMAIN     39

#define SCM_RIGHTS	1
#define SCM_CREDENTIALS 2
#define SCM_MAX_FD	253

#define UNIX_PATH_MAX 108

/* An address of any family. */
struct sockaddr_storage {
	__u16 ss_family;
	char ss_data[126];
};
struct sockaddr_un {
	__u16 sun_family;
	char sun_path[UNIX_PATH_MAX];
};
struct ucred {
	int pid;
	__u32 uid, gid;
};
struct user_msghdr {
	void *msg_name;
	int msg_namelen, pad0;
	struct iovec *msg_iov;
	__u64 msg_iovlen;
	void *msg_control;
	__u64 msg_controllen;
	__u32 msg_flags, pad1;
};
/* The head of a control message; the next one begins at a multiple of 8 bytes. */
struct cmsghdr {
	__u64 cmsg_len;
	int cmsg_level, cmsg_type;
};
