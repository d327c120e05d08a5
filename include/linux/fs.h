/*
 * Files. A module's struct file_operations has .owner = THIS_MODULE: an open device holds the module, so rmmod says
 * that it is in use.
 */
#pragma once

#include <fs/cdev.h>
#include <fs/libfs.h>
#include <fs/vfs.h>
#include <kernel/module.h>
#include <linux/kdev_t.h>
#include <linux/spinlock.h>
#include <linux/stat.h>
#include <linux/types.h>
#include <uapi/fcntl.h>

typedef unsigned fmode_t;
#define file_inode(file) ((file)->f_inode)
/* A file that has no positions: the kernel asks at each seek, so there is nothing to be set at open. */
static inline int nonseekable_open(struct inode *inode, struct file *file)
{
	file->f_mode |= FMODE_NOSEEK;
	return 0;
}
#define stream_open(inode, file) nonseekable_open(inode, file)
