/*
 * The cache of names: dentries by parent and name, their references, and a bounded number of negative ones.
 *
 * A dentry joins a name in a directory to an inode; without an inode it is negative and remembers that the name does
 * not exist. A hash table by parent and name finds them. The lists d_subdirs give a directory its order for readdir. In
 * file systems that live in memory the dentries are the directory, so those of existing files are pinned by a reference
 * of their own (d_pin) until unlink.
 *
 *                   in the hash table          not in the hash table
 *     with inode    a name that exists         a name that was removed, while somebody has it open
 *     without       "no such file", cached     being made
 *
 * The life of a dentry: while it has references it stays. When the last one goes, a positive dentry that is not pinned,
 * or one that is unhashed, is freed; a negative one stays hashed on an LRU list of MAX_NEGATIVE entries, unless its
 * directory was removed: it would keep that, and the file system may go before the entry does. A look-up may take a
 * reference from 0, so the count goes from 1 to 0 and from 0 to 1 only with dcache_lock held.
 *
 * Locks: dcache_lock (a spinlock, never taken in an interrupt) guards the tree, the table and the lists. It is one lock
 * for the whole tree: path walks are short, and they then need no references between their steps (namei.c).
 */
#include "internal.h"

#include <fs/fsnotify.h>
#include <kernel/panic.h>
#include <lib/hash.h>
#include <lib/string.h>
#include <mm/slab.h>

#define DHASH_BITS   10
#define MAX_NEGATIVE 1024 /* unused negative dentries that are kept; the oldest goes first */

DEFINE_SPINLOCK(dcache_lock);
DEFINE_MUTEX(rename_mutex);

static struct hlist_head dentry_hashtable[1 << DHASH_BITS]; /* [dcache_lock] */
static LIST_HEAD(negative_lru);				    /* [dcache_lock] oldest first */
static unsigned nr_negative;				    /* [dcache_lock] on negative_lru */
static u64 next_off = 2;				    /* [dcache_lock] 0 and 1 are "." and ".." */
static struct kmem_cache *dentry_cache;

/* The same value that scan_component() computes while it looks for the end of a component. */
u32 name_hash(const char *name, unsigned len)
{
	u32 h = 0;

	for (unsigned i = 0; i < len; i++)
		h = name_hash_step(h, name[i]);
	return h;
}

/* Parents are at least 64 bytes apart, so the low bits of their addresses tell nothing and are left out. */
static struct hlist_head *d_bucket(const struct dentry *parent, u32 hash)
{
	return &dentry_hashtable[hash_64(((unsigned long)parent >> 6) + ((u64)hash << 20), DHASH_BITS)];
}

/* [dcache_lock] The hash is compared first, because it differs in nearly all cases; no reference is taken. */
noinline struct dentry *__d_lookup(struct dentry *parent, const char *name, unsigned len, u32 hash)
{
	struct dentry *d;

	hlist_for_each_entry(d, d_bucket(parent, hash), d_hash)
		if (d->d_namehash == hash && d->d_parent == parent && d->d_name.len == len &&
		    !memcmp(d->d_name.name, name, len))
			return d;
	return NULL;
}

/* A look-up for the kernel itself, in the cache alone. NULL if the name is not there or negative. */
struct dentry *d_find_child(struct dentry *parent, const char *name, int len)
{
	struct dentry *d;

	spin_lock(&dcache_lock);
	d = __d_lookup(parent, name, len, name_hash(name, len));
	if (d)
		d = d->d_inode ? __dget(d) : NULL;
	spin_unlock(&dcache_lock);
	return d;
}

/* [dcache_lock] Take a dentry off the list of unused negative ones, if it is there. */
static void lru_remove(struct dentry *d)
{
	if (!(d->d_flags & DCACHE_LRU))
		return;
	list_del(&d->d_lru);
	d->d_flags &= ~DCACHE_LRU;
	nr_negative--;
}

/* [dcache_lock] Take a dentry out of the reach of new look-ups. */
static void __d_unhash(struct dentry *d)
{
	if (hlist_unhashed(&d->d_hash))
		return;
	hlist_del(&d->d_hash);
	list_del_init(&d->d_child);
	lru_remove(d);
}

/*
 * Free a dentry that no one can reach any more. Returns its parent, whose reference the caller must drop: dput() does
 * that in a loop, so a deep path needs no recursion.
 */
static struct dentry *dentry_free(struct dentry *d)
{
	struct dentry *parent = d->d_parent != d ? d->d_parent : NULL;

	if (d->d_inode) {
		fsnotify_gone(d->d_inode);
		iput(d->d_inode);
	}
	if (d->d_name.name != d->d_iname)
		kfree(d->d_name.name);
	kmem_cache_free(dentry_cache, d);
	return parent;
}

/*
 * [dcache_lock] The last reference of `d` is gone: keep it if it is a cached "no such file", else unhash it. Returns
 * the dentry that must be freed now, or NULL: `d` itself, or the oldest of too many negative ones. An oldest one that
 * is in use again only leaves the list; it comes back when its last reference goes.
 */
static struct dentry *d_retire(struct dentry *d)
{
	if (d->d_inode || hlist_unhashed(&d->d_hash) || d->d_parent->d_flags & DCACHE_UNLINKED) {
		__d_unhash(d);
		return d;
	}
	if (!(d->d_flags & DCACHE_LRU)) {
		list_add_tail(&d->d_lru, &negative_lru);
		d->d_flags |= DCACHE_LRU;
		nr_negative++;
	} else {
		list_move_tail(&d->d_lru, &negative_lru);
	}
	if (nr_negative <= MAX_NEGATIVE)
		return NULL;
	d = list_first_entry(&negative_lru, struct dentry, d_lru);
	if (atomic_read(&d->d_count)) {
		lru_remove(d);
		return NULL;
	}
	__d_unhash(d);
	return d;
}

/*
 * Drop what may be the last reference. 1 -> 0 only happens with the lock, since look-ups under it take references from
 * 0. Returns the parent to drop next, or NULL.
 */
static struct dentry *dput_last(struct dentry *d)
{
	struct dentry *victim = NULL;

	spin_lock(&dcache_lock);
	if (atomic_dec_and_test(&d->d_count))
		victim = d_retire(d);
	spin_unlock(&dcache_lock);
	return victim ? dentry_free(victim) : NULL;
}

/*
 * Thread context: the last reference of an inode may free its pages. References above the last are dropped without the
 * lock.
 */
void dput(struct dentry *d)
{
	while (d) {
		int count = atomic_read(&d->d_count);

		while (count > 1)
			if (__atomic_compare_exchange_n(&d->d_count.counter, &count, count - 1, true, __ATOMIC_RELEASE,
							__ATOMIC_RELAXED))
				return;
		d = dput_last(d);
	}
}

/* Short names lie in the dentry itself, longer ones in memory of their own. False: no memory. */
static bool d_set_name(struct dentry *d, const char *name, unsigned len)
{
	char *to = d->d_iname;

	if (len >= sizeof(d->d_iname)) {
		to = kmalloc(len + 1, GFP_KERNEL);
		if (!to)
			return false;
	}
	memcpy(to, name, len);
	to[len] = '\0';
	d->d_name.name = to;
	d->d_name.len = len;
	d->d_namehash = name_hash(to, len);
	return true;
}

/*
 * A negative, unhashed dentry with one reference; NULL when out of memory. `parent` NULL: it is a root. It holds a
 * reference to its parent.
 */
struct dentry *d_alloc(struct dentry *parent, const char *name, int len)
{
	struct dentry *d = kmem_cache_zalloc(dentry_cache, GFP_KERNEL);

	if (!d)
		return NULL;
	if (!d_set_name(d, name, len)) {
		kmem_cache_free(dentry_cache, d);
		return NULL;
	}
	atomic_set(&d->d_count, 1);
	INIT_LIST_HEAD(&d->d_child);
	INIT_LIST_HEAD(&d->d_subdirs);
	d->d_parent = parent ? dget(parent) : d;
	if (parent) {
		d->d_sb = parent->d_sb;
		d->d_op = parent->d_op;
	}
	return d;
}

/* A root is its own parent, and is not hashed: nothing looks it up by name. */
struct dentry *d_make_root(struct super_block *sb, struct inode *inode)
{
	struct dentry *d = inode ? d_alloc(NULL, "/", 1) : NULL;

	if (!d) {
		if (inode)
			iput(inode);
		return NULL;
	}
	d->d_sb = sb;
	d->d_inode = inode;
	return d;
}

/* [dcache_lock] Make a dentry visible in the table and, as the newest, in its directory. */
static void __d_hash(struct dentry *d)
{
	hlist_add_head(&d->d_hash, d_bucket(d->d_parent, d->d_namehash));
	list_add_tail(&d->d_child, &d->d_parent->d_subdirs);
}

/*
 * A name that becomes positive moves to the end of its directory and gets the next position for readdir, so positions
 * grow along the list, and a reader in the middle of the directory misses no older name.
 */
void d_add(struct dentry *d, struct inode *inode)
{
	spin_lock(&dcache_lock);
	lru_remove(d);
	if (hlist_unhashed(&d->d_hash))
		__d_hash(d);
	else
		list_move_tail(&d->d_child, &d->d_parent->d_subdirs);
	if (inode) {
		d->d_off = next_off++;
		/* Release: a caller that holds a reference may look at d_inode again without the lock. */
		smp_store_release(&d->d_inode, inode);
	}
	spin_unlock(&dcache_lock);
}

/* For file systems in memory: a reference that the linked dentry holds to itself. */
void d_pin(struct dentry *d)
{
	spin_lock(&dcache_lock);
	if (!(d->d_flags & DCACHE_PINNED)) {
		d->d_flags |= DCACHE_PINNED;
		atomic_inc(&d->d_count);
	}
	spin_unlock(&dcache_lock);
}

/*
 * Paths of a dentry that was dropped end in " (deleted)". The pin's reference is left to the caller, because dput()
 * must not be called under the lock.
 */
bool __d_drop(struct dentry *d)
{
	bool pinned = d->d_flags & DCACHE_PINNED;

	__d_unhash(d);
	if (d->d_inode)
		d->d_flags |= DCACHE_UNLINKED;
	d->d_flags &= ~DCACHE_PINNED;
	return pinned;
}

/* The reference of the pin is dropped outside the lock, because dput() takes it. */
void d_delete(struct dentry *d)
{
	bool pinned;

	spin_lock(&dcache_lock);
	pinned = __d_drop(d);
	spin_unlock(&dcache_lock);
	if (pinned)
		dput(d);
}

/*
 * [dcache_lock] Exchange the names. Short ones live in the dentries themselves, so their bytes are exchanged and the
 * pointers set to the new homes.
 */
static void swap_names(struct dentry *a, struct dentry *b)
{
	bool a_inline = a->d_name.name == a->d_iname, b_inline = b->d_name.name == b->d_iname;
	char tmp[sizeof(a->d_iname)];

	memcpy(tmp, a->d_iname, sizeof(tmp));
	memcpy(a->d_iname, b->d_iname, sizeof(tmp));
	memcpy(b->d_iname, tmp, sizeof(tmp));
	swap(a->d_name.name, b->d_name.name);
	if (b_inline)
		a->d_name.name = a->d_iname;
	if (a_inline)
		b->d_name.name = b->d_iname;
	swap(a->d_name.len, b->d_name.len);
	swap(a->d_namehash, b->d_namehash);
}

/*
 * `new` is dropped and takes the old name, which only a deleted path still shows. Parents are exchanged together with
 * the references that the two held. The moved dentry becomes the newest of its directory.
 */
void d_move(struct dentry *old, struct dentry *new)
{
	bool pinned;

	spin_lock(&dcache_lock);
	pinned = __d_drop(new);
	hlist_del(&old->d_hash);
	list_del_init(&old->d_child);
	swap_names(old, new);
	swap(old->d_parent, new->d_parent);
	__d_hash(old);
	old->d_off = next_off++;
	spin_unlock(&dcache_lock);
	if (pinned)
		dput(new);
}

/* Both dentries leave their directories, exchange names and parents, and become the newest of their new ones. */
void d_exchange(struct dentry *a, struct dentry *b)
{
	spin_lock(&dcache_lock);
	hlist_del(&a->d_hash);
	hlist_del(&b->d_hash);
	list_del_init(&a->d_child);
	list_del_init(&b->d_child);
	swap_names(a, b);
	swap(a->d_parent, b->d_parent);
	__d_hash(a);
	__d_hash(b);
	a->d_off = next_off++;
	b->d_off = next_off++;
	spin_unlock(&dcache_lock);
}

/* Is `a` the dentry d or one above it? The caller keeps the parents as they are, by rename_mutex. */
bool d_is_ancestor(struct dentry *a, struct dentry *d)
{
	for (;; d = d->d_parent) {
		if (d == a)
			return true;
		if (d == d->d_parent)
			return false;
	}
}

/* Cached "no such file" entries do not make a directory full. */
bool d_has_children(struct dentry *dir)
{
	struct dentry *d;
	bool any = false;

	spin_lock(&dcache_lock);
	list_for_each_entry(d, &dir->d_subdirs, d_child)
		if (d->d_inode) {
			any = true;
			break;
		}
	spin_unlock(&dcache_lock);
	return any;
}

/* [dcache_lock] An unused negative child, unhashed; NULL when there is no such child. */
static struct dentry *take_negative_child(struct dentry *dir)
{
	struct dentry *d;

	list_for_each_entry(d, &dir->d_subdirs, d_child)
		if (!d->d_inode && !atomic_read(&d->d_count)) {
			__d_unhash(d);
			return d;
		}
	return NULL;
}

/*
 * A directory that is removed must not be kept alive by names that do not exist: each of those dentries holds a
 * reference to it. A walk may hold one of them at this moment; that one goes with its last reference (d_retire). One at
 * a time, because freeing needs the lock released. The caller holds a reference to dir.
 */
void shrink_negative_children(struct dentry *dir)
{
	struct dentry *d;

	for (;;) {
		spin_lock(&dcache_lock);
		d = take_negative_child(dir);
		spin_unlock(&dcache_lock);
		if (!d)
			return;
		dput(dentry_free(d));
	}
}

void dcache_init(void)
{
	dentry_cache = kmem_cache_create("dentry", sizeof(struct dentry), 64, SLAB_PANIC, NULL);
}
