/* Layouts of Linux's ABI that differ between machines: aarch64. */
#ifndef VT_BITS_ABI_H
#define VT_BITS_ABI_H

/* Fields of struct stat (Linux's include/uapi/asm-generic/stat.h). */
#define VT_STAT_FIELDS                     \
	unsigned long st_dev;              \
	unsigned long st_ino;              \
	unsigned int st_mode;              \
	unsigned int st_nlink;             \
	unsigned int st_uid;               \
	unsigned int st_gid;               \
	unsigned long st_rdev;             \
	unsigned long vt_pad1;             \
	long st_size;                      \
	int st_blksize;                    \
	int vt_pad2;                       \
	long st_blocks; /* of 512 bytes */ \
	struct timespec st_atim;           \
	struct timespec st_mtim;           \
	struct timespec st_ctim;           \
	unsigned int vt_unused[2];

#endif
