/* Layouts of Linux's ABI that differ between machines: x86_64. */
#ifndef VT_BITS_ABI_H
#define VT_BITS_ABI_H

/* Fields of struct stat (Linux's arch/x86/include/uapi/asm/stat.h). */
#define VT_STAT_FIELDS                     \
	unsigned long st_dev;              \
	unsigned long st_ino;              \
	unsigned long st_nlink;            \
	unsigned int st_mode;              \
	unsigned int st_uid;               \
	unsigned int st_gid;               \
	unsigned int vt_pad1;              \
	unsigned long st_rdev;             \
	long st_size;                      \
	long st_blksize;                   \
	long st_blocks; /* of 512 bytes */ \
	struct timespec st_atim;           \
	struct timespec st_mtim;           \
	struct timespec st_ctim;           \
	long vt_unused[3];

#endif
