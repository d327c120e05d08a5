/* Records of getdents64(2). */
#pragma once

#include <lib/types.h>

struct linux_dirent64 {
	u64 d_ino;
	s64 d_off;    /* position of the next record */
	u16 d_reclen; /* a multiple of 8 */
	u8 d_type;    /* DT_* */
	char d_name[];
};
