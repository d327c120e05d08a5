/* Contents of ramfs files: pages in a radix tree, holes where nothing was written. */
#include "internal.h"
#include "ramfs.h"

#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <fs/libfs.h>
#include <uapi/uio.h>

#define RADIX_BITS 9 /* a node is a page of 512 pointers */
#define RADIX_SIZE (1u << RADIX_BITS)
#define RAMFS_MAX_SIZE                                                                      \
	(1LL << 42) /* bytes: what a tree of 30 index bits could hold, more than any memory \
		     */

/*
 * The tree grows in height as the file does: a file of one page is a pointer, 2 MiB one node. Locks: l its
 * lock, which page faults take too: nothing is copied from or to user memory under it. The inode's i_lock
 * serialises writers.
 */
struct ramfs_pages {
	spinlock_t lock;
	unsigned height; /* [l] levels of nodes; 0: `root` is page 0 itself */
	void *root;	 /* [l] */
};

static const struct file_operations ramfs_file_fops;
static const struct inode_operations ramfs_file_iops;

int ramfs_init_file(struct inode *inode)
{
	struct ramfs_pages *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	inode->i_private = t;
	inode->i_op = &ramfs_file_iops;
	inode->i_fop = &ramfs_file_fops;
	return 0;
}

static bool fits(const struct ramfs_pages *t, unsigned long index)
{
	return t->height * RADIX_BITS >= 64 || !(index >> (t->height * RADIX_BITS));
}

static unsigned slot_of(unsigned long index, unsigned level)
{
	return (index >> (level * RADIX_BITS)) & (RADIX_SIZE - 1);
}

/* [l] */
static struct page *tree_lookup(const struct ramfs_pages *t, unsigned long index)
{
	void *node = t->root;

	if (!fits(t, index))
		return NULL;
	for (unsigned level = t->height; node && level--;)
		node = ((void **)node)[slot_of(index, level)];
	return node;
}

/*
 * [l] The place of page `index`, making nodes from *spare; NULL when one more is needed than the one given.
 */
static void **tree_slot(struct ramfs_pages *t, unsigned long index, void **spare)
{
	void **slot = &t->root;

	while (!fits(t, index)) {
		void **node = *spare;

		if (t->root) {
			if (!node)
				return NULL;
			*spare = NULL;
			node[0] = t->root;
			t->root = node;
		}
		t->height++;
	}
	for (unsigned level = t->height; level--;) {
		if (!*slot) {
			if (!*spare)
				return NULL;
			*slot = *spare;
			*spare = NULL;
		}
		slot = &((void **)*slot)[slot_of(index, level)];
	}
	return slot;
}

/*
 * Put `page` there unless another is (*raced). Takes over its reference. Returns what is there, with a
 * reference for the caller; NULL when out of memory.
 */
static struct page *tree_insert(struct ramfs_pages *t, unsigned long index, struct page *page, bool *raced)
{
	void *spare = NULL, **slot;
	struct page *there;

	for (;;) {
		spin_lock(&t->lock);
		slot = tree_slot(t, index, &spare);
		if (slot)
			break;
		spin_unlock(&t->lock);
		spare = get_zeroed_page(GFP_KERNEL);
		if (!spare) {
			put_page(page);
			return NULL;
		}
	}
	there = *slot;
	if (!there)
		*slot = there = page;
	get_page(there);
	spin_unlock(&t->lock);
	free_page(spare);
	*raced = there != page;
	if (*raced)
		put_page(page);
	return there;
}

/* The page with a reference; NULL: a hole. */
static struct page *find_get_page(struct ramfs_pages *t, unsigned long index)
{
	struct page *page;

	spin_lock(&t->lock);
	page = tree_lookup(t, index);
	if (page)
		get_page(page);
	spin_unlock(&t->lock);
	return page;
}

static struct page *create_page(struct inode *inode, unsigned long index)
{
	struct page *page;
	bool raced = true;

	if (!ramfs_charge_page(inode->i_sb))
		return ERR_PTR(-ENOSPC);
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (page)
		page = tree_insert(inode->i_private, index, page, &raced);
	if (page && !raced)
		__atomic_fetch_add(&inode->i_blocks, PAGE_SIZE / 512, __ATOMIC_RELAXED);
	else
		ramfs_uncharge_pages(inode->i_sb, 1);
	return page ? page : ERR_PTR(-ENOMEM);
}

/* With a reference; -ENOSPC: the file system is full, -ENOMEM: memory is. */
static struct page *find_or_create_page(struct inode *inode, unsigned long index)
{
	struct page *page = find_get_page(inode->i_private, index);

	return page ? page : create_page(inode, index);
}

/* A hole that is mapped becomes a page, so that writers and readers go on to see the same memory. */
static struct page *ramfs_get_page(struct file *file, unsigned long pgoff)
{
	if (pgoff >= DIV_ROUND_UP((u64)READ_ONCE(file->f_inode->i_size), PAGE_SIZE))
		return ERR_PTR(-EIO);
	return find_or_create_page(file->f_inode, pgoff);
}

/* Bytes copied out of one page; short when user memory faults. */
static size_t copy_page_out(struct page *page, unsigned off, char __user *to, size_t n)
{
	size_t left;

	if (!page)
		return n - clear_user(to, n);
	left = copy_to_user(to, (char *)page_to_virt(page) + off, n);
	put_page(page);
	return n - left;
}

static ssize_t ramfs_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct inode *inode = f->f_inode;
	loff_t size = READ_ONCE(inode->i_size), at = *pos;
	size_t done = 0;

	if (at >= size)
		return 0;
	n = min_t(u64, n, size - at);
	while (done < n) {
		unsigned off = at & (PAGE_SIZE - 1);
		size_t part = min_t(size_t, n - done, PAGE_SIZE - off), got;

		got = copy_page_out(find_get_page(inode->i_private, at >> PAGE_SHIFT), off, buf + done, part);
		done += got;
		at += got;
		if (got < part)
			break;
	}
	/* As relatime: only the first read after a change moves it. */
	if (!(f->f_flags & O_NOATIME) && READ_ONCE(inode->i_atime) <= READ_ONCE(inode->i_mtime))
		WRITE_ONCE(inode->i_atime, inode_now());
	*pos = at;
	return done || !n ? (ssize_t)done : -EFAULT;
}

/*
 * [l] Drop pages from index `from` on below `slot`, which covers indices from `base`, as many as *left says,
 * and count them there: if some are left of it, all are gone. Recursion of at most 4 levels. put_page never
 * sleeps.
 */
static void prune(void **slot, unsigned level, unsigned long base, unsigned long from, unsigned *left)
{
	unsigned long span = 1UL << ((level - (level > 0)) * RADIX_BITS);
	void **node = *slot;

	if (!node)
		return;
	if (!level) {
		if (base < from)
			return;
		put_page(*slot);
		*slot = NULL;
		--*left;
		return;
	}
	for (unsigned i = 0; i < RADIX_SIZE && *left; i++)
		if (node[i] && base + (i + 1) * span > from)
			prune(&node[i], level - 1, base + i * span, from, left);
	if (base >= from && *left) { /* nothing is left below */
		free_page(node);
		*slot = NULL;
	}
}

#define DROP_AT_ONCE 128 /* with the lock held, and preemption off */

static void drop_pages(struct inode *inode, unsigned long from)
{
	struct ramfs_pages *t = inode->i_private;
	unsigned left, dropped;

	do {
		left = DROP_AT_ONCE;
		spin_lock(&t->lock);
		prune(&t->root, t->height, 0, from, &left);
		if (!t->root)
			t->height = 0;
		spin_unlock(&t->lock);
		dropped = DROP_AT_ONCE - left;
		__atomic_fetch_sub(&inode->i_blocks, dropped * (PAGE_SIZE / 512), __ATOMIC_RELAXED);
		ramfs_uncharge_pages(inode->i_sb, dropped);
	} while (!left);
}

/* [i_lock] Bytes written to one page, or -errno when none. */
static ssize_t write_page(struct inode *inode, loff_t at, const void *from, size_t n, bool kernel)
{
	struct page *page = find_or_create_page(inode, at >> PAGE_SHIFT);
	size_t left;

	if (IS_ERR(page))
		return PTR_ERR(page);
	left = copy_in((char *)page_to_virt(page) + (at & (PAGE_SIZE - 1)), from, n, kernel);
	put_page(page);
	return left == n ? -EFAULT : (ssize_t)(n - left);
}

/* [i_lock] */
static ssize_t write_pages(struct inode *inode, const char *buf, size_t n, loff_t *pos, bool kernel)
{
	size_t done = 0;

	while (done < n) {
		size_t part = min_t(size_t, n - done, PAGE_SIZE - (*pos & (PAGE_SIZE - 1)));
		ssize_t got = write_page(inode, *pos, buf + done, part, kernel);

		if (got < 0) {
			/* Nobody else makes pages behind the end, so the one made in vain is the only one. */
			drop_pages(inode, DIV_ROUND_UP((u64)inode->i_size, PAGE_SIZE));
			return done ? (ssize_t)done : got;
		}
		done += got;
		*pos += got;
		/* Readers that see the size see the bytes. */
		if (*pos > inode->i_size)
			__atomic_store_n(&inode->i_size, *pos, __ATOMIC_RELEASE);
		if (got < part)
			break;
	}
	return done;
}

static ssize_t ramfs_write_any(struct file *f, const char *buf, size_t n, loff_t *pos, bool kernel)
{
	struct inode *inode = f->f_inode;
	ssize_t res;

	mutex_lock(&inode->i_lock);
	if (f->f_flags & O_APPEND)
		*pos = inode->i_size;
	res = generic_write_checks(*pos, &n);
	if (!res && *pos >= RAMFS_MAX_SIZE) {
		res = n ? -EFBIG : 0;
	} else if (!res) {
		if (n)
			file_remove_privs(inode);
		res = write_pages(inode, buf, min_t(u64, n, RAMFS_MAX_SIZE - *pos), pos, kernel);
		if (res > 0)
			inode->i_mtime = inode->i_ctime = inode_now();
	}
	mutex_unlock(&inode->i_lock);
	return res;
}

static ssize_t ramfs_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return ramfs_write_any(f, buf, n, pos, false);
}

static ssize_t ramfs_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	return ramfs_write_any(f, buf, n, pos, true);
}

/* [i_lock] What lies behind the new end is gone, from mappings too, and in the last page: it must read as
 * zeros if the file grows. */
static void shrink(struct inode *inode, loff_t size)
{
	unsigned off = size & (PAGE_SIZE - 1);
	struct page *page = off ? find_get_page(inode->i_private, size >> PAGE_SHIFT) : NULL;

	WRITE_ONCE(inode->i_size, size);
	if (page) {
		memset((char *)page_to_virt(page) + off, 0, PAGE_SIZE - off);
		put_page(page);
	}
	unmap_mapping_pages(inode, DIV_ROUND_UP((u64)size, PAGE_SIZE));
	drop_pages(inode, DIV_ROUND_UP((u64)size, PAGE_SIZE));
}

static int ramfs_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	struct iattr rest = *attr;

	if (attr->valid & ATTR_SIZE) {
		int err = inode_newsize_ok(inode, attr->size);

		if (err)
			return err;
		if (attr->size > RAMFS_MAX_SIZE)
			return -EFBIG;
		if (attr->size < inode->i_size)
			shrink(inode, attr->size);
		else
			WRITE_ONCE(inode->i_size, attr->size);
		inode->i_mtime = inode_now();
		rest.valid &= ~ATTR_SIZE;
	}
	return simple_setattr(dentry, &rest);
}

void ramfs_free_file(struct inode *inode)
{
	if (inode->i_private)
		drop_pages(inode, 0);
	kfree(inode->i_private);
}

static const struct file_operations ramfs_file_fops = {
	.read = ramfs_read,
	.write = ramfs_write,
	.write_kernel = ramfs_write_kernel,
	.llseek = default_llseek,
	.get_page = ramfs_get_page,
};
static const struct inode_operations ramfs_file_iops = {.setattr = ramfs_setattr};
