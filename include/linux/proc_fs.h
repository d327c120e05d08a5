/* Files in /proc. */
#pragma once

#include <fs/proc_fs.h>
#include <linux/fs.h>
#include <linux/uidgid.h>

#define PDE_DATA(inode) pde_data(inode) /* the name of before Linux 5.17 */
