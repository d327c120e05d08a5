/* open(2), lseek, fcntl, mount numbers that are the same on every machine; the rest is in <asm/uapi_fcntl.h>. */
#pragma once

#include <asm/uapi_fcntl.h> /* O_DIRECTORY, O_NOFOLLOW, O_DIRECT, O_LARGEFILE differ between machines */

#define O_ACCMODE  03
#define O_RDONLY   00
#define O_WRONLY   01
#define O_RDWR     02
#define O_CREAT    0100
#define O_EXCL     0200
#define O_NOCTTY   0400
#define O_TRUNC    01000
#define O_APPEND   02000
#define O_NONBLOCK 04000
#define O_CLOEXEC  02000000

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

#define F_DUPFD         0
#define F_GETFD         1
#define F_SETFD         2
#define F_GETFL         3
#define F_SETFL         4
#define F_DUPFD_CLOEXEC 1030
#define FD_CLOEXEC      1

#define AT_FDCWD            (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_REMOVEDIR        0x200
#define AT_EACCESS          0x200
#define AT_SYMLINK_FOLLOW   0x400
#define AT_EMPTY_PATH       0x1000
#define NAME_MAX 255
#define PATH_MAX 4096
