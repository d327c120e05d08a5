/* Open files: struct file from open to the last fput. */
#include "internal.h"

#include <mm/slab.h>
#include <uapi/poll.h>

static struct kmem_cache *filp_cache;

u64 files_max;
static atomic64_t nr_files; /* [a] */

u64 nr_open_files(void)
{
	return atomic64_read(&nr_files);
}

static void release_file(struct file *f)
{
	kmem_cache_free(filp_cache, f);
	atomic64_add(-1, &nr_files);
}

struct file *alloc_empty_file(unsigned flags)
{
	unsigned access = flags & O_ACCMODE;
	struct file *f;

	if ((u64)atomic64_inc_return(&nr_files) > READ_ONCE(files_max) && current->euid) {
		atomic64_add(-1, &nr_files);
		return ERR_PTR(-ENFILE);
	}
	f = kmem_cache_alloc(filp_cache, GFP_KERNEL);
	if (!f) {
		atomic64_add(-1, &nr_files);
		return ERR_PTR(-ENOMEM);
	}
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
	release_file(f);
}

static noinline void __fput(struct file *f)
{
	struct path path = file_path(f);

	if (f->f_op->release)
		f->f_op->release(f->f_inode, f);
	if (f->f_mode & FMODE_WRITER)
		put_write_access(f->f_inode);
	path_put(&path);
	release_file(f);
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
	struct dentry *d;

	if (IS_ERR(f)) {
		iput(inode);
		return f;
	}
	d = d_make_root(inode->i_sb, inode);
	if (!d) {
		free_empty_file(f);
		return ERR_PTR(-ENOMEM);
	}
	d->d_op = inode->i_sb->s_fs_info; /* how such files are called: one way a file system */
	f->f_op = fop;
	f->f_inode = inode;
	f->f_dentry = d;
	return f;
}

/* As Linux: a file and what belongs to it is some KiB, and files may take a tenth of memory. */
void file_table_init(void)
{
	files_max = max(nr_free_pages() * (PAGE_SIZE / 1024) / 10, 8192UL);
	filp_cache = kmem_cache_create("filp", sizeof(struct file), 0, SLAB_PANIC, NULL);
}
