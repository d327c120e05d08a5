/* Nodes that the kernel makes in trees that are a ramfs: devfs.c, for devpts.c. */
#pragma once

#include <fs/vfs.h>

/* The caller has a mutex that keeps others from making and removing nodes of the kernel's. 0 or -errno. */
int devfs_make(struct dentry *dir, const char *name, mode_t mode, dev_t rdev, const char *target);
void devfs_remove(struct dentry *dir, const char *name, dev_t rdev);
