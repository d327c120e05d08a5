/*
 * Which places of which files are watched, and the consumers of each.
 *
 * A place is a file and an offset in it. It is found by the file's inode when a process maps the file (spaces.c). Its
 * consumers are told of hits in every process.
 *
 * WHY NO PROCESS IS MISSED OR LEFT WATCHED. A new place enters the table before the walk over all address spaces, and
 * one that ends leaves it before the walk. A process that maps the file holds its mmap_lock from before it looks into
 * the table until the breakpoints stand, and the walk takes each mmap_lock. So a mapping that did not see the change in
 * the table is finished when the walk comes to it. A child that fork has copied stands behind its parent in the list of
 * address spaces, so the walk comes to it later than to the parent.
 */
#include <fs/vfs.h>
#include <kernel/export.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/spinlock.h>

#include "internal.h"

#define TABLE_SIZE 64u

DEFINE_MUTEX(uprobe_mutex);
static DEFINE_SPINLOCK(uprobes_lock);
static struct hlist_head table[TABLE_SIZE]; /* [l] by inode */
unsigned nr_uprobes;

static struct hlist_head *bucket(const struct inode *inode)
{
	return &table[((unsigned long)inode >> 6) % TABLE_SIZE];
}

/* A hit may hold a pointer under RCU, and the inode's last reference may only go where one can sleep. */
static void free_uprobe(struct rcu_head *head)
{
	kfree(container_of(head, struct uprobe, rcu));
	no_tail_call();
}

void uprobe_put(struct uprobe *uprobe)
{
	if (atomic_dec_and_test(&uprobe->refs))
		call_rcu(&uprobe->rcu, free_uprobe);
}

/* The room is for all there are; one that comes meanwhile is told to this address space by who registers it. */
struct uprobe **uprobes_of(const struct inode *inode, unsigned *n)
{
	unsigned room = READ_ONCE(nr_uprobes);
	struct uprobe **found, *uprobe;

	*n = 0;
	found = room ? kvmalloc(room * sizeof(*found), GFP_KERNEL) : NULL;
	if (!found)
		return NULL;
	spin_lock(&uprobes_lock);
	hlist_for_each_entry(uprobe, bucket(inode), node) {
		if (uprobe->inode != inode || *n == room)
			continue;
		uprobe_get(uprobe);
		found[(*n)++] = uprobe;
	}
	spin_unlock(&uprobes_lock);
	return found;
}

/* [u] The place, if it is watched already. */
static struct uprobe *find_uprobe(const struct inode *inode, unsigned long offset)
{
	struct uprobe *uprobe;

	hlist_for_each_entry(uprobe, bucket(inode), node)
		if (uprobe->inode == inode && uprobe->offset == offset)
			return uprobe;
	return NULL;
}

/* What stands at the offset and before it. Behind the end of the file there are zeros. 0 or -EIO. */
static int read_insn(struct file *file, unsigned long offset, struct uprobe_insn *insn)
{
	unsigned long before = min(offset, (unsigned long)UPROBE_BEFORE);
	loff_t pos = offset - before;

	memset(insn, 0, sizeof(*insn));
	if (kernel_read(file, insn->before + UPROBE_BEFORE - before, before, &pos) != (ssize_t)before)
		return -EIO;
	return kernel_read(file, insn->bytes, UPROBE_MAX_INSN, &pos) > 0 ? 0 : -EIO;
}

/* A new place, which is in no table yet. ERR_PTR: as uprobe_register(). */
static struct uprobe *make_uprobe(struct file *file, unsigned long offset, unsigned long ref_ctr_offset)
{
	struct uprobe *uprobe = kzalloc(sizeof(*uprobe), GFP_KERNEL);
	int err;

	if (!uprobe)
		return ERR_PTR(-ENOMEM);
	atomic_set(&uprobe->refs, 1);
	uprobe->inode = file->f_inode;
	uprobe->offset = offset;
	uprobe->ref_ctr_offset = ref_ctr_offset;
	err = read_insn(file, offset, &uprobe->insn);
	if (!err && !memcmp(uprobe->insn.bytes, arch_uprobe_break, UPROBE_BREAK_SIZE))
		err = -ENOTSUPP;
	if (!err)
		err = arch_uprobe_analyze(&uprobe->insn);
	if (err) {
		kfree(uprobe);
		return ERR_PTR(err);
	}
	ihold(uprobe->inode);
	return uprobe;
}

/* [u] Into the table, or out of it. */
static void link_uprobe(struct uprobe *uprobe, bool in)
{
	spin_lock(&uprobes_lock);
	if (in)
		hlist_add_head(&uprobe->node, bucket(uprobe->inode));
	else
		hlist_del(&uprobe->node);
	nr_uprobes += in ? 1 : -1;
	spin_unlock(&uprobes_lock);
}

/* [u] In all address spaces, as the table says. 0, or -ENOMEM: some of them have it not. */
static int tell_all(struct uprobe *uprobe, bool install)
{
	int err = 0;

	for (struct mm_struct *mm = mm_next(NULL); mm; mm = mm_next(mm)) {
		mutex_lock(&mm->mmap_lock);
		if (!install)
			uprobe_remove(mm, uprobe);
		else if (!err)
			err = uprobe_install(mm, uprobe);
		mutex_unlock(&mm->mmap_lock);
	}
	return err;
}

/* [u] The last consumer has gone. */
static void drop_uprobe(struct uprobe *uprobe)
{
	link_uprobe(uprobe, false);
	tell_all(uprobe, false);
	iput(uprobe->inode);
	uprobe_put(uprobe);
}

/* [u] The consumer leaves the list. A hit that stands at it finds the next one. */
static void unlink_consumer(struct uprobe *uprobe, struct uprobe_consumer *uc)
{
	struct uprobe_consumer **at = &uprobe->consumers;

	while (*at && *at != uc)
		at = &(*at)->next;
	if (*at)
		smp_store_release(at, uc->next);
}

/* [u] 0; or -ENOMEM: the consumer is not told. */
static int join(struct uprobe *uprobe, struct uprobe_consumer *uc)
{
	bool first = !uprobe->consumers;
	int err;

	uc->next = uprobe->consumers;
	smp_store_release(&uprobe->consumers, uc);
	if (!first)
		return 0;
	link_uprobe(uprobe, true);
	err = tell_all(uprobe, true);
	if (err) {
		unlink_consumer(uprobe, uc);
		drop_uprobe(uprobe);
	}
	return err;
}

/* Linux's checks, in its order. */
static int check_place(const struct file *file, loff_t offset, loff_t ref_ctr_offset, const struct uprobe_consumer *uc)
{
	if (!uc->handler && !uc->ret_handler)
		return -EINVAL;
	if (!S_ISREG(file->f_inode->i_mode) || !file->f_op->get_page)
		return -EIO;
	if (offset < 0 || offset >= i_size_read(file->f_inode) || offset % UPROBE_ALIGN || ref_ctr_offset < 0 ||
	    ref_ctr_offset % sizeof(u16))
		return -EINVAL;
	return 0;
}

/* The consumer may have been called before an error was found, so it is waited for then, too. */
struct uprobe *uprobe_register(struct file *file, loff_t offset, loff_t ref_ctr_offset, struct uprobe_consumer *uc)
{
	int err = check_place(file, offset, ref_ctr_offset, uc);
	struct uprobe *uprobe;

	if (err)
		return ERR_PTR(err);
	mutex_lock(&uprobe_mutex);
	uprobe = find_uprobe(file->f_inode, offset);
	if (uprobe && uprobe->ref_ctr_offset != (unsigned long)ref_ctr_offset)
		uprobe = ERR_PTR(-EINVAL);
	else if (!uprobe)
		uprobe = make_uprobe(file, offset, ref_ctr_offset);
	if (!IS_ERR(uprobe)) {
		err = join(uprobe, uc);
		if (err)
			uprobe = ERR_PTR(err);
	}
	mutex_unlock(&uprobe_mutex);
	if (err)
		uprobe_synchronize(); /* the consumer was there for a moment */
	return uprobe;
}
EXPORT_SYMBOL(uprobe_register);

void uprobe_unregister(struct uprobe *uprobe, struct uprobe_consumer *uc)
{
	mutex_lock(&uprobe_mutex);
	unlink_consumer(uprobe, uc);
	if (!uprobe->consumers)
		drop_uprobe(uprobe);
	mutex_unlock(&uprobe_mutex);
	uprobe_synchronize();
}
EXPORT_SYMBOL(uprobe_unregister);
