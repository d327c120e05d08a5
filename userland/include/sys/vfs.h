/* How full a file system is. */
#ifndef VT_SYS_VFS_H
#define VT_SYS_VFS_H

#include <uapi/statfs.h>

/* Of the file system that path lies in. Returns 0, or -1 with errno. */
int statfs(const char *path, struct statfs *to);

#endif
