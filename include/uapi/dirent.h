/* Records of getdents64(2). */
#pragma once

#include <uapi/types.h>

struct linux_dirent64 {
	__u64 d_ino;
	__s64 d_off;	/* position of the next record */
	__u16 d_reclen; /* a multiple of 8 */
	__u8 d_type;	/* DT_* */
	char d_name[];
};
