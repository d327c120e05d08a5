/* open(2), lseek, fcntl, mount numbers that are the same on every machine; the rest is in <asm/uapi_fcntl.h>. */
#pragma once

#include <asm/uapi_fcntl.h> /* O_DIRECTORY, O_NOFOLLOW, O_DIRECT, O_LARGEFILE differ between machines */

#define O_ACCMODE  03
#define O_RDONLY   00
#define O_WRONLY   01
#define O_RDWR	   02
#define O_CREAT	   0100
#define O_EXCL	   0200
#define O_NOCTTY   0400
#define O_TRUNC	   01000
#define O_APPEND   02000
#define O_NONBLOCK 04000
#define O_CLOEXEC  02000000

#define SEEK_SET  0
#define SEEK_CUR  1
#define SEEK_END  2
#define SEEK_DATA 3
#define SEEK_HOLE 4

#define F_DUPFD		0
#define F_GETFD		1
#define F_SETFD		2
#define F_GETFL		3
#define F_SETFL		4
#define F_GETLK		5 /* record locks of the process, with a struct flock */
#define F_SETLK		6
#define F_SETLKW	7
#define F_SETOWN	8 /* who gets the signals of O_ASYNC: a process, or a negative number for a group */
#define F_GETOWN	9
#define F_SETSIG	10 /* which signal; 0: SIGIO without details */
#define F_GETSIG	11
#define F_SETOWN_EX	15 /* with a struct f_owner_ex */
#define F_GETOWN_EX	16
#define F_OFD_GETLK	36 /* the same for locks of the open file */
#define F_OFD_SETLK	37
#define F_OFD_SETLKW	38
#define F_DUPFD_QUERY	1027 /* is the argument a descriptor of the same open file? */
#define F_CREATED_QUERY 1028 /* has the open made the file? */
#define F_DUPFD_CLOEXEC 1030
#define F_SETPIPE_SZ	1031
#define F_GETPIPE_SZ	1032
#define F_ADD_SEALS	1033
#define F_GET_SEALS	1034
#define FD_CLOEXEC	1
#define O_ASYNC		020000
#define O_SYNC		04010000
#define O_DSYNC		010000
#define O_NOATIME	01000000
#define O_PATH		010000000
#define __O_TMPFILE	020000000
#define O_TMPFILE	(__O_TMPFILE | O_DIRECTORY) /* a file without a name in this directory's file system */

#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
/* A record lock: bytes from l_start on, which counts as lseek(2)'s offset does. */
struct flock {
	short l_type;	   /* F_RDLCK, F_WRLCK, F_UNLCK */
	short l_whence;	   /* SEEK_* */
	long long l_start; /* bytes */
	long long l_len;   /* bytes; 0: up to the end, wherever that is; below 0: the bytes before l_start */
	int l_pid;	   /* F_GETLK's answer: the process that has the lock, -1: an open file has it */
};

/* Whom F_SETOWN_EX means. */
#define F_OWNER_TID  0
#define F_OWNER_PID  1
#define F_OWNER_PGRP 2
struct f_owner_ex {
	int type; /* F_OWNER_* */
	int pid;
};

#define AT_FDCWD	    (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR	    0x200
#define AT_EACCESS	    0x200
#define AT_SYMLINK_FOLLOW   0x400
#define AT_NO_AUTOMOUNT	    0x800
#define AT_EMPTY_PATH	    0x1000
#define AT_STATX_SYNC_TYPE  0x6000
#define NAME_MAX	    255
#define PATH_MAX	    4096
#define PIPE_BUF	    4096

/* Seals of a file of memfd_create(2): what can no longer be done to it. */
#define F_SEAL_SEAL	    1u
#define F_SEAL_SHRINK	    2u
#define F_SEAL_GROW	    4u
#define F_SEAL_WRITE	    8u
#define F_SEAL_FUTURE_WRITE 16u /* as WRITE, but for mappings that exist */
#define F_SEAL_EXEC	    32u /* no right to execute comes or goes */
#define F_SEAL_ALL	    63u

/* openat2(2): what the walk to a file may not do. */
#define RESOLVE_NO_XDEV	      1u  /* enter another mount */
#define RESOLVE_NO_MAGICLINKS 2u  /* follow a link that leads to an object (/proc/PID/fd) */
#define RESOLVE_NO_SYMLINKS   4u  /* follow any link */
#define RESOLVE_BENEATH	      8u  /* leave the directory that it begins at */
#define RESOLVE_IN_ROOT	      16u /* the same, which counts as the root meanwhile */
#define RESOLVE_CACHED	      32u /* wait for a file system */
#define RESOLVE_ALL	      63u

#define FALLOC_FL_KEEP_SIZE  1
#define FALLOC_FL_PUNCH_HOLE 2

#define SPLICE_F_MOVE	  1 /* a wish: pages that can be moved are moved anyway */
#define SPLICE_F_NONBLOCK 2
#define SPLICE_F_MORE	  4 /* a hint for sockets */
#define SPLICE_F_GIFT	  8 /* vmsplice's */
#define SPLICE_F_ALL	  15

#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE	 2
#define RENAME_WHITEOUT	 4

#define R_OK	   4
#define W_OK	   2
#define X_OK	   1
#define UTIME_NOW  0x3fffffff
#define UTIME_OMIT 0x3ffffffe
