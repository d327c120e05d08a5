/*
 * Open files: struct file from the open to the last fput. A file counts in nr_files, which files_max limits for all
 * users but root, so that a program cannot fill the kernel's memory with open files.
 *
 * Locks: f_count is atomic; f_pos belongs to f_pos_lock.
 */
#include "internal.h"

#include <fs/anon_inode.h>
#include <fs/file_part.h>
#include <fs/fsnotify.h>
#include <kernel/export.h>
#include <kernel/module.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <uapi/poll.h>

static struct kmem_cache *filp_cache;

u64 files_max;
static atomic64_t nr_files; /* [a] files that exist now */

u64 nr_open_files(void)
{
	return atomic64_read(&nr_files);
}

/* The memory goes before the count, so that nr_files is never below what exists. */
static void release_file(struct file *f)
{
	kmem_cache_free(filp_cache, f);
	atomic64_add(-1, &nr_files);
}

static_assert((O_RDONLY + 1) == FMODE_READ && (O_WRONLY + 1) == FMODE_WRITE &&
	      (O_RDWR + 1) == (FMODE_READ | FMODE_WRITE));

/*
 * A file counts before it is allocated, so that several CPUs cannot pass the limit together. The access modes 0, 1 and
 * 2 become FMODE_READ, FMODE_WRITE and both. Mode 3 has no name: open(2) asks for the rights to read and write, and the
 * file does neither. It is for ioctl(2) alone, as in Linux.
 */
struct file *alloc_empty_file(unsigned flags)
{
	struct file *f;

	if ((u64)atomic64_inc_return(&nr_files) > READ_ONCE(files_max) && !capable(CAP_SYS_ADMIN)) {
		atomic64_add(-1, &nr_files);
		return ERR_PTR(-ENFILE);
	}
	f = kmem_cache_alloc(filp_cache, GFP_KERNEL);
	if (!f) {
		atomic64_add(-1, &nr_files);
		return ERR_PTR(-ENOMEM);
	}
	*f = (struct file){.f_flags = flags & ~O_CLOEXEC};
	atomic_set(&f->f_count, 1);
	mutex_init(&f->f_pos_lock);
	if (!(flags & O_PATH))
		f->f_mode = (flags + 1) & O_ACCMODE;
	return f;
}

/* For a file that was never opened: there is nothing to release. */
void free_empty_file(struct file *f)
{
	release_file(f);
}

static bool has_locks(const struct file *f)
{
	return f->f_inode && READ_ONCE(f->f_inode->i_locks);
}

/*
 * The last reference is gone. The path is read first, because release() may free what the file is about, and the names
 * go last. A module whose operations these are may go as soon as we give it back.
 */
static noinline void __fput(struct file *f)
{
	const struct file_part *part;
	struct path path = file_path(f);

	fsnotify_file(f, f->f_mode & FMODE_WRITE ? IN_CLOSE_WRITE : IN_CLOSE_NOWRITE);
	if (unlikely(f->f_ep || f->f_fown || has_locks(f)))
		for_each_in_table(file_parts, part)
			if (part->release)
				part->release(f);
	if (f->f_op->release)
		f->f_op->release(f->f_inode, f);
	module_put(f->f_owner);
	if (f->f_mode & FMODE_WRITER)
		put_write_access(f->f_inode);
	path_put(&path);
	release_file(f);
}

/* The count falls to zero once only: a new reference can be taken only by a table or a caller that has one. */
noinline void fput(struct file *f)
{
	if (atomic_dec_and_test(&f->f_count))
		__fput(f);
}
EXPORT_SYMBOL(fput);

/*
 * flush() runs at each close(2), release only at the last one. Record locks go with any descriptor of the inode, but
 * not with one of O_PATH. The look at i_locks needs no mutex: set_record_lock() says why.
 */
noinline int filp_close(struct file *f, const void *owner)
{
	int err = f->f_op->flush ? f->f_op->flush(f) : 0;
	const struct file_part *part;

	if (unlikely(has_locks(f)) && !(f->f_flags & O_PATH))
		for_each_in_table(file_parts, part)
			if (part->close)
				part->close(f, owner);
	fput(f);
	return err;
}
EXPORT_SYMBOL(filp_close);

/*
 * A file without a name in the tree: it gets a dentry of its own, which is a root. Takes over the caller's reference to
 * `inode`, also when it fails. ERR_PTR(-ENFILE, -ENOMEM). Thread context.
 */
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
	d->d_op = inode->i_sb->s_fs_info; /* how files of this file system are called in /proc */
	d->d_name.len = scnprintf(d->d_iname, sizeof(d->d_iname), "%s", name);
	f->f_op = fop;
	f->f_inode = inode;
	f->f_dentry = d;
	return f;
}

/* As a file of O_PATH it is no event for inotify when it goes. */
struct file *file_of_mapping(const struct file *of, const struct file_operations *fops, void *private_data)
{
	struct file *f = alloc_empty_file(O_PATH);

	if (IS_ERR(f))
		return f;
	f->f_op = fops;
	f->f_inode = of->f_inode;
	f->f_path = file_path(of);
	path_get(&f->f_path);
	f->private_data = private_data;
	return f;
}

/* As on Linux, an open file with what belongs to it counts as 1 KiB, and files may take a tenth of memory. */
void file_table_init(void)
{
	files_max = max(nr_free_pages() * (PAGE_SIZE / 1024) / 10, 8192UL);
	filp_cache = kmem_cache_create("filp", sizeof(struct file), 0, SLAB_PANIC, NULL);
}
