/* Flags of mount(2) and umount2(2). */
#pragma once

#define MS_RDONLY      1u
#define MS_NOSUID      2u
#define MS_NODEV       4u
#define MS_NOEXEC      8u
#define MS_SYNCHRONOUS 16u
#define MS_REMOUNT     32u
#define MS_NOATIME     1024u
#define MS_NODIRATIME  2048u
#define MS_BIND	       4096u
#define MS_MOVE	       8192u
#define MS_REC	       16384u
#define MS_SILENT      32768u
#define MS_UNBINDABLE  (1u << 17)
#define MS_PRIVATE     (1u << 18)
#define MS_SLAVE       (1u << 19)
#define MS_SHARED      (1u << 20)
#define MS_RELATIME    (1u << 21)
#define MS_STRICTATIME (1u << 24)
#define MS_MGC_VAL     0xc0ed0000u /* old callers put it into the upper half */
#define MS_MGC_MSK     0xffff0000u

#define MNT_FORCE	1
#define MNT_DETACH	2
#define MNT_EXPIRE	4
#define UMOUNT_NOFOLLOW 8
