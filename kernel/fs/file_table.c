/* Open files: struct file from open to the last fput. */
#include "internal.h"

#include <mm/slab.h>
#include <uapi/poll.h>

static struct kmem_cache *filp_cache;

struct file *alloc_empty_file(unsigned flags)
{
	struct file *f = kmem_cache_alloc(filp_cache, GFP_KERNEL);
	unsigned access = flags & O_ACCMODE;

	if (!f)
		return NULL;
	*f = (struct file){ .f_flags = flags & ~O_CLOEXEC };
	atomic_set(&f->f_count, 1);
	mutex_init(&f->f_pos_lock);
	if (!(flags & O_PATH))
		f->f_mode = (access != O_WRONLY ? FMODE_READ : 0) | (access != O_RDONLY ? FMODE_WRITE : 0);
	return f;
}

/* One that was never opened. */
void free_empty_file(struct file *f)
{
	kmem_cache_free(filp_cache, f);
}

static noinline void __fput(struct file *f)
{
	struct path path = file_path(f);

	if (f->f_op->release)
		f->f_op->release(f->f_inode, f);
	path_put(&path);
	kmem_cache_free(filp_cache, f);
}

/* Thread context, no spinlock held: release may sleep. */
noinline void fput(struct file *f)
{
	if (atomic_dec_and_test(&f->f_count))
		__fput(f);
}

noinline int filp_close(struct file *f)
{
	int err = f->f_op->flush ? f->f_op->flush(f) : 0;

	fput(f);
	return err;
}

/* Takes over the caller's reference to `inode`; on failure it is dropped. ERR_PTR. */
struct file *alloc_file_pseudo(struct inode *inode, unsigned flags, const struct file_operations *fop, const char *name)
{
	struct file *f = alloc_empty_file(flags);
	struct dentry *d = NULL;

	if (f)
		d = d_make_root(inode->i_sb, inode);
	else
		iput(inode);
	if (!d) {
		if (f)
			free_empty_file(f);
		return ERR_PTR(-ENOMEM);
	}
	d->d_op = inode->i_sb->s_fs_info; /* how such files are called: one way a file system */
	f->f_op = fop;
	f->f_inode = inode;
	f->f_dentry = d;
	return f;
}

void file_table_init(void)
{
	filp_cache = kmem_cache_create("filp", sizeof(struct file), 0, SLAB_PANIC, NULL);
}
