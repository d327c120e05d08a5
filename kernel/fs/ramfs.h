/* Between ramfs's directories and its files. */
#pragma once

#include <fs/vfs.h>

int ramfs_init_file(struct inode *inode);  /* operations and an empty page tree. 0, -ENOMEM */
void ramfs_free_file(struct inode *inode); /* all pages; nobody uses it any more */
