/* Mounting file systems. */
#ifndef VT_SYS_MOUNT_H
#define VT_SYS_MOUNT_H

#include <uapi/mount.h>

/* Return 0, or -1 with errno. source and data may be NULL where the file system needs none. */
int mount(const char *source, const char *target, const char *type, unsigned long flags, const void *data);
int umount(const char *target);
int umount2(const char *target, int flags);

#endif
