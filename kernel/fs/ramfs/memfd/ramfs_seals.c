/*
 * Seals of memfd_create(2): promises that a file no longer changes in some way. A program that gets the file from
 * another one can then use its bytes without a copy.
 *
 * The seals are checked by write, truncate and mmap (ramfs_file.c), by fallocate (ramfs_fallocate.c), by chmod, and by
 * mprotect through VM_MAYWRITE, which a shared mapping of a sealed file lacks. All but mmap hold i_lock, under which
 * seals are added, so no write is half done when its seal comes. A mapping is made under mmap_lock, which lies inside
 * i_lock: there the count of shared mappings decides, i_shared_writers. F_SEAL_WRITE closes it only while it is 0, and
 * a mapping that comes later finds it closed.
 */
#include "../../internal.h"
#include "../ramfs.h"

#include <fs/file_part.h>

static int ramfs_get_seals(struct file *f)
{
	const u32 *seals = ramfs_seals(f->f_inode);

	return seals ? (int)READ_ONCE(*seals) : -EINVAL;
}

/* [i_lock] A file that can be executed and is to stay so cannot be written either (F_SEAL_EXEC). */
static int add_seals(struct inode *inode, u32 *old, u32 seals)
{
	if (*old & F_SEAL_SEAL)
		return -EPERM;
	if (seals & F_SEAL_EXEC && inode->i_mode & 0111)
		seals |= F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
	if (seals & ~*old & F_SEAL_WRITE && atomic_cmpxchg(&inode->i_shared_writers, 0, -1) != 0)
		return -EBUSY;
	WRITE_ONCE(*old, *old | seals);
	return 0;
}

static int ramfs_add_seals(struct file *f, u32 seals)
{
	u32 *old = ramfs_seals(f->f_inode);
	int err;

	if (!(f->f_mode & FMODE_WRITE))
		return -EPERM;
	if (seals & ~F_SEAL_ALL || !old)
		return -EINVAL;
	mutex_lock(&f->f_inode->i_lock);
	err = add_seals(f->f_inode, old, seals);
	mutex_unlock(&f->f_inode->i_lock);
	return err;
}

/* file_part.fcntl */
static long seals_fcntl(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	if (cmd == F_ADD_SEALS)
		return ramfs_add_seals(f, arg);
	return cmd == F_GET_SEALS ? ramfs_get_seals(f) : FCNTL_UNKNOWN;
}

static const struct file_part seals_part = {.fcntl = seals_fcntl};
REGISTER_FILE_PART(seals_part);
