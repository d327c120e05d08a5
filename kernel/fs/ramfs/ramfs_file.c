/*
 * The contents of ramfs files: pages in a radix tree by their index, and holes where nothing was written. Holes read as
 * zeros and have no page.
 *
 * mmap maps the tree's own pages, so programs that map a file and programs that read or write it see the same memory.
 * Therefore a page is taken out of mappings before it leaves the tree (ramfs_shrink).
 *
 * Locks: i_lock serialises writers and truncation. The tree's lock [l] guards the pointers only. Page faults take it,
 * so no user memory is touched under it: a look-up takes a reference to the page, and the copying is done without the
 * lock. Readers take no other lock.
 */
#include "../internal.h"
#include "ramfs.h"

#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <fs/libfs.h>
#include <proc/cred.h>
#include <uapi/uio.h>

#define RADIX_BITS 9 /* a node is a page of 512 pointers */
#define RADIX_SIZE (1u << RADIX_BITS)

/*
 * The tree (struct ramfs_pages) grows in height as the file does:
 *
 *     height 0    root -> page 0                               a file of one page
 *     height 1    root -> node -> pages 0 to 511               up to 2 MiB
 *     height 2    root -> node -> nodes -> pages               up to 1 GiB
 */
static const struct file_operations ramfs_file_fops;

/* So many pages more (or less) in the file. Those of a memfd count for its user, whose end gives them back. */
static void ramfs_count_pages(struct inode *inode, int n)
{
	struct ramfs_pages *t = inode->i_private;

	__atomic_fetch_add(&inode->i_blocks, n * (int)(PAGE_SIZE / 512), __ATOMIC_RELAXED);
	if (t->user)
		atomic64_add(n, &t->user->shared_pages);
}

/* An empty file has no pages. The operations are set here, so that ramfs.c need not know them. 0 or -ENOMEM. */
int ramfs_init_file(struct inode *inode)
{
	struct ramfs_pages *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->seals = F_SEAL_SEAL;
	inode->i_private = t;
	inode->i_op = &ramfs_file_iops;
	inode->i_fop = &ramfs_file_fops;
	return 0;
}

u32 *ramfs_seals(const struct inode *inode)
{
	return inode->i_op == &ramfs_file_iops ? &((struct ramfs_pages *)inode->i_private)->seals : NULL;
}

/* Does the tree have the height for this index? */
static bool fits(const struct ramfs_pages *t, unsigned long index)
{
	return t->height * RADIX_BITS >= 64 || !(index >> (t->height * RADIX_BITS));
}

/* Which of a node's pointers leads to the page; level 0 is the lowest. */
static unsigned slot_of(unsigned long index, unsigned level)
{
	return (index >> (level * RADIX_BITS)) & (RADIX_SIZE - 1);
}

/* [l] Where the pointer to the page is, or NULL: a node on the way is lacking. */
static void **tree_find_slot(struct ramfs_pages *t, unsigned long index)
{
	void **slot = &t->root;

	if (!fits(t, index))
		return NULL;
	for (unsigned level = t->height; level--; slot = &((void **)*slot)[slot_of(index, level)])
		if (!*slot)
			return NULL;
	return slot;
}

/* [l] The page, or NULL: a hole. */
static struct page *tree_lookup(struct ramfs_pages *t, unsigned long index)
{
	void **slot = tree_find_slot(t, index);

	return slot ? *slot : NULL;
}

/*
 * [l] The place of page `index`. A node that is lacking is taken from *spare, because nothing can be allocated under
 * the spinlock; NULL when another one is needed. What was built so far stays.
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
 * Put `page` into the tree, unless another one is there (*raced). Takes over its reference. Returns the page that is
 * there, with a reference for the caller; NULL when out of memory. Each round allocates one node outside the lock;
 * nothing is lost between rounds, so they end.
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

/* The page with a reference, or NULL: a hole. */
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

/*
 * Make a page for a hole, counted for the file system. Two faults may do this at once: the loser gives its charge back.
 * `zero`: __GFP_ZERO, or 0 for a page that is filled before the file reaches so far. With a reference; ERR_PTR(-ENOSPC,
 * -ENOMEM).
 */
static struct page *create_page(struct inode *inode, unsigned long index, gfp_t zero)
{
	struct page *page;
	bool raced = true;

	if (!ramfs_charge_page(inode->i_sb))
		return ERR_PTR(-ENOSPC);
	page = alloc_page(GFP_KERNEL | zero);
	if (page)
		page = tree_insert(inode->i_private, index, page, &raced);
	if (page && !raced)
		ramfs_count_pages(inode, 1);
	else
		ramfs_uncharge_pages(inode->i_sb, 1);
	return page ? page : ERR_PTR(-ENOMEM);
}

struct page *ramfs_find_page(struct inode *inode, unsigned long index)
{
	return find_get_page(inode->i_private, index);
}

struct page *ramfs_new_page(struct inode *inode, unsigned long index)
{
	return create_page(inode, index, __GFP_ZERO);
}

/* The page with a reference, made if there is a hole. -ENOSPC: the file system is full; -ENOMEM: memory is. */
static struct page *find_or_create_page(struct inode *inode, unsigned long index)
{
	struct page *page = find_get_page(inode->i_private, index);

	return page ? page : create_page(inode, index, __GFP_ZERO);
}

/*
 * For mmap and the kernel's own reading. A hole becomes a page, so that writers and readers go on to see the same
 * memory as the mapping.
 */
static struct page *ramfs_get_page(struct file *file, unsigned long pgoff)
{
	if (pgoff >= DIV_ROUND_UP((u64)i_size_read(file->f_inode), PAGE_SIZE))
		return ERR_PTR(-EIO);
	return find_or_create_page(file->f_inode, pgoff);
}

/*
 * For faults, which map the neighbours of a page as well: those of the page's own node, and before the end. The size is
 * read first, as in ramfs_get_page(): a cut that comes after that unmaps what is mapped here (ramfs_shrink).
 */
static unsigned ramfs_find_pages(struct file *file, unsigned long pgoff, struct page **pages, unsigned n)
{
	unsigned long end = DIV_ROUND_UP((u64)i_size_read(file->f_inode), PAGE_SIZE);
	struct ramfs_pages *t = file->f_inode->i_private;
	unsigned found = 0;
	void **slot;

	if (pgoff >= end)
		return 0;
	n = min_t(unsigned long, n, end - pgoff);
	spin_lock(&t->lock);
	n = min(n, t->height ? RADIX_SIZE - slot_of(pgoff, 0) : 1);
	slot = tree_find_slot(t, pgoff);
	for (; slot && found < n && slot[found]; found++) {
		pages[found] = slot[found];
		get_page(pages[found]);
	}
	spin_unlock(&t->lock);
	return found;
}

/*
 * Copy from one page (NULL: a hole, zeros); drops its reference. Returns the bytes that were copied, fewer than n when
 * user memory faults.
 */
static size_t copy_page_out(struct page *page, unsigned off, char __user *to, size_t n)
{
	size_t left;

	if (!page)
		return n - clear_user(to, n);
	left = copy_to_user(to, (char *)page_to_virt(page) + off, n);
	put_page(page);
	return n - left;
}

/* The size is read once, so a read does not return more than the file had at its beginning. */
static ssize_t ramfs_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	struct inode *inode = f->f_inode;
	loff_t size = i_size_read(inode), at = *pos;
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
	file_accessed(f);
	*pos = at;
	return done || !n ? (ssize_t)done : -EFAULT;
}

/*
 * [l] Drop the pages from..to - 1 below `slot`, which covers the indices from `base`, but at most *left of them;
 * *left counts down. A node is freed when everything below it is gone, and that is certain only if the whole of it
 * lies in the range and some of *left remains. The recursion has at most 4 levels. put_page() never sleeps, so it may
 * be called under the lock.
 */
static void ramfs_prune_slots(void **slot, unsigned level, unsigned long base, unsigned long from, unsigned long to,
			      unsigned *left)
{
	void **node = *slot;
	unsigned long span;

	if (!node)
		return;
	if (!level) {
		if (base < from || base >= to)
			return;
		put_page(*slot);
		*slot = NULL;
		--*left;
		return;
	}
	span = 1UL << ((level - 1) * RADIX_BITS); /* indices below one slot of the node */
	for (unsigned i = 0; i < RADIX_SIZE && *left; i++)
		if (node[i] && base + (i + 1) * span > from && base + i * span < to)
			ramfs_prune_slots(&node[i], level - 1, base + i * span, from, to, left);
	if (base >= from && base + RADIX_SIZE * span <= to && *left) { /* no page is left below */
		free_page(node);
		*slot = NULL;
	}
}

#define DROP_AT_ONCE 128 /* pages that are dropped in one piece with the lock held, and so with preemption off */

/*
 * Drop the pages from..to - 1, in pieces, and give back their charge. A tree that has no page left keeps its height,
 * unless its root has gone.
 */
void ramfs_drop_range(struct inode *inode, unsigned long from, unsigned long to)
{
	struct ramfs_pages *t = inode->i_private;
	unsigned left, dropped;

	do {
		left = DROP_AT_ONCE;
		spin_lock(&t->lock);
		ramfs_prune_slots(&t->root, t->height, 0, from, to, &left);
		if (!t->root)
			t->height = 0;
		spin_unlock(&t->lock);
		dropped = DROP_AT_ONCE - left;
		ramfs_count_pages(inode, -(int)dropped);
		ramfs_uncharge_pages(inode->i_sb, dropped);
	} while (!left);
}

#define ALL_PAGES (~0UL) /* as an end */

/*
 * [i_lock] Write to one page. Bytes written, or -errno when no byte was. A page that was made behind the end for a
 * write that failed is dropped; under i_lock no other task makes pages there. One that fallocate(2) has made stays.
 */
static ssize_t write_page(struct inode *inode, loff_t at, const void *from, size_t n, bool kernel)
{
	unsigned long index = at >> PAGE_SHIFT;
	struct page *page = find_get_page(inode->i_private, index);
	bool fresh = !page, behind_end = index >= DIV_ROUND_UP((u64)inode->i_size, PAGE_SIZE);
	size_t left;

	if (fresh)
		page = create_page(inode, index, kernel && n == PAGE_SIZE && behind_end ? 0 : __GFP_ZERO);
	if (IS_ERR(page))
		return PTR_ERR(page);
	left = copy_in((char *)page_to_virt(page) + (at & (PAGE_SIZE - 1)), from, n, kernel);
	flush_dcache_page(page);
	put_page(page);
	if (left < n)
		return n - left;
	if (fresh && behind_end)
		ramfs_drop_range(inode, index, index + 1);
	return -EFAULT;
}

/* [i_lock] Do the file's seals allow to write here? 0 or -EPERM. */
static int check_write_seals(const struct inode *inode, loff_t end)
{
	u32 seals = ((struct ramfs_pages *)inode->i_private)->seals;

	if (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) || (seals & F_SEAL_GROW && end > inode->i_size))
		return -EPERM;
	return 0;
}

/* [i_lock] Page by page, each of which the seals must allow. The size grows only after the bytes are stored. */
static ssize_t write_pages(struct inode *inode, const char *buf, size_t n, loff_t *pos, bool kernel)
{
	size_t done = 0;

	while (done < n) {
		size_t part = min_t(size_t, n - done, PAGE_SIZE - (*pos & (PAGE_SIZE - 1)));
		ssize_t got = check_write_seals(inode, *pos + part);

		if (!got)
			got = write_page(inode, *pos, buf + done, part, kernel);
		if (got < 0)
			return done ? (ssize_t)done : got;
		done += got;
		*pos += got;
		if (*pos > inode->i_size)
			__atomic_store_n(&inode->i_size, *pos, __ATOMIC_RELEASE);
		if (got < part)
			break;
	}
	return done;
}

/* A write from user or kernel memory. i_lock makes O_APPEND's look at the end and the write one step. */
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

/*
 * [i_lock] Cut the file. First the size, so that new faults fail behind it; then the rest of the last page becomes
 * zeros, since it must read as zeros if the file grows again; then the pages leave the mappings, and last the tree.
 */
static void ramfs_shrink(struct inode *inode, loff_t size)
{
	unsigned off = size & (PAGE_SIZE - 1);
	struct page *page = off ? find_get_page(inode->i_private, size >> PAGE_SHIFT) : NULL;

	WRITE_ONCE(inode->i_size, size);
	if (page) {
		memset((char *)page_to_virt(page) + off, 0, PAGE_SIZE - off);
		flush_dcache_page(page);
		put_page(page);
	}
	unmap_mapping_pages(inode, DIV_ROUND_UP((u64)size, PAGE_SIZE));
	ramfs_drop_range(inode, DIV_ROUND_UP((u64)size, PAGE_SIZE), ALL_PAGES);
}

/* [i_lock] The size is handled here, everything else by simple_setattr(). */
static int ramfs_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct inode *inode = dentry->d_inode;
	struct iattr rest = *attr;
	u32 seals = *ramfs_seals(inode);

	if (seals & F_SEAL_EXEC && attr->valid & ATTR_MODE && (inode->i_mode ^ attr->mode) & 0111)
		return -EPERM;
	if (attr->valid & ATTR_SIZE) {
		int err = inode_newsize_ok(inode, attr->size);

		if (seals & F_SEAL_SHRINK && attr->size < inode->i_size)
			return -EPERM;
		if (seals & F_SEAL_GROW && attr->size > inode->i_size)
			return -EPERM;
		if (err)
			return err;
		if (attr->size > RAMFS_MAX_SIZE)
			return -EFBIG;
		if (attr->size <= inode->i_size) /* also to the same size: fallocate(2) may have made pages behind it */
			ramfs_shrink(inode, attr->size);
		else
			WRITE_ONCE(inode->i_size, attr->size);
		inode->i_mtime = inode_now();
		rest.valid &= ~ATTR_SIZE;
	}
	return simple_setattr(dentry, &rest);
}

/*
 * No mapping is left, since a mapping holds the file and the file its dentry. The tree may be missing if its allocation
 * failed.
 */
void ramfs_free_file(struct inode *inode)
{
	struct ramfs_pages *t = inode->i_private;

	if (!t)
		return;
	ramfs_drop_range(inode, 0, ALL_PAGES);
	if (t->user)
		put_user_struct(t->user);
	kfree(t);
}

/*
 * [mmap_lock] A sealed file has no shared mapping that may be written, or becomes so. A seal that comes at this moment
 * either finds the mapping counted, or has closed the count (back_by_file).
 */
static int ramfs_mmap(struct file *f, struct vm_area_struct *vma)
{
	u32 seals = READ_ONCE(*ramfs_seals(f->f_inode));

	if (!(vma->vm_flags & VM_SHARED) || !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))
		return 0;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vma->vm_flags &= ~VM_MAYWRITE;
	return 0;
}

static const struct file_operations ramfs_file_fops = {
	.read = ramfs_read,
	.write = ramfs_write,
	.write_kernel = ramfs_write_kernel,
	.llseek = default_llseek,
	.get_page = ramfs_get_page,
	.find_pages = ramfs_find_pages,
	.mmap = ramfs_mmap,
};
const struct inode_operations ramfs_file_iops = {.setattr = ramfs_setattr};
