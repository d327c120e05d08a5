/* Reading directories. */
#ifndef VT_DIRENT_H
#define VT_DIRENT_H

#include <sys/types.h>
#include <uapi/stat.h> /* DT_* */

/* Exactly what getdents64 fills in: records of d_reclen bytes, 8-byte aligned. */
struct dirent {
	unsigned long d_ino;
	long d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[256];
};

typedef struct vt_dir DIR;

/* Returns NULL with errno. */
DIR *opendir(const char *path);
/* Returns NULL at the end (errno untouched) or on an error (errno set). The entry lives until the next call.
 */
struct dirent *readdir(DIR *dir);
/* Returns 0, or -1 with errno. Frees dir either way. */
int closedir(DIR *dir);

#endif
