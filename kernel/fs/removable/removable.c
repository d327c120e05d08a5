/*
 * Files whose operations may go (<fs/removable.h>).
 *
 * Between a program and the operations of a module stands a set of operations of our own. Each of them counts itself in
 * `calls` while it is inside of the module. Removal makes the count negative, so that no more operations come in, and
 * sleeps until the last one has left:
 *
 *	calls	0, 1, 2 ...		open; so many operations are inside
 *		GONE + 2, GONE + 1	being removed; two, one are inside
 *		GONE			no operation is inside, and no operation comes in
 *
 * A task that sleeps in poll(2) is inside of no operation, but on a wait queue of the module: poll_leave() takes it off
 * that queue and wakes it, and it finds that the file is gone.
 *
 * Then it calls `release` for the files that are still open, since the module wants to free what it has allocated in
 * `open`. The lock makes sure that it is called once, by the removal or by close(2), and that the removal does not end
 * in the middle of it.
 */
#include "../internal.h"

#include <fs/libfs.h>
#include <fs/poll.h>
#include <fs/removable.h>
#include <kernel/module.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/wait.h>

#define GONE (-0x40000000)

/* An open file. */
struct opener {
	struct list_head list; /* [o] */
	struct file *file;
};

/* False: it is gone. Else removable_leave() follows. */
static bool removable_enter(struct removable_file *r)
{
	int calls = atomic_read(&r->calls);

	while (calls >= 0)
		if (__atomic_compare_exchange_n(&r->calls.counter, &calls, calls + 1, true, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static void removable_leave(struct removable_file *r)
{
	if (atomic_dec_return(&r->calls) == GONE)
		complete(r->idle);
}

/* What an operation returns: the module's if it is there and has one, `gone` and `missing` otherwise. */
#define CALL(f, op, gone, missing, ...)                                            \
	({                                                                         \
		struct removable_file *_r = removable_of((f)->f_inode);            \
		__typeof__(missing) _ret = (gone);                                 \
		if (removable_enter(_r)) {                                         \
			_ret = _r->fop->op ? _r->fop->op(__VA_ARGS__) : (missing); \
			removable_leave(_r);                                       \
		}                                                                  \
		_ret;                                                              \
	})

static ssize_t removable_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return CALL(f, read, (ssize_t)-EIO, (ssize_t)-EINVAL, f, buf, n, pos);
}

static ssize_t removable_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return CALL(f, write, (ssize_t)-EIO, (ssize_t)-EINVAL, f, buf, n, pos);
}

static loff_t removable_llseek(struct file *f, loff_t off, int whence)
{
	return CALL(f, llseek, (loff_t)-EIO, default_llseek(f, off, whence), f, off, whence);
}

static unsigned removable_poll(struct file *f, struct poll_table *pt)
{
	struct removable_file *r = removable_of(f->f_inode);
	unsigned mask = POLLERR | POLLHUP;

	if (removable_enter(r)) {
		mask = r->fop->poll ? poll_removable(f, pt, &r->pollers, r->fop->poll) : DEFAULT_POLLMASK;
		removable_leave(r);
	}
	return mask;
}

static long removable_ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	return CALL(f, unlocked_ioctl, (long)-EIO, (long)-ENOTTY, f, cmd, arg);
}

/* [inside] The module's open, and a note that its release must be called. */
static int open_and_note(struct removable_file *r, struct inode *inode, struct file *f)
{
	struct opener *o = kmalloc(sizeof(*o), GFP_KERNEL);
	int err = o ? 0 : -ENOMEM;

	f->private_data = NULL;
	if (!err && r->fop->open)
		err = r->fop->open(inode, f);
	if (err) {
		kfree(o);
		return err;
	}
	o->file = f;
	mutex_lock(&r->lock);
	list_add(&o->list, &r->openers);
	mutex_unlock(&r->lock);
	return 0;
}

/* A module that is on its way out gives no reference: then the file is as good as gone. */
static int removable_open(struct inode *inode, struct file *f)
{
	struct removable_file *r = removable_of(inode);
	int err = -ENODEV;

	if (!removable_enter(r))
		return -ENOENT;
	if (try_module_get(r->fop->owner)) {
		f->f_owner = r->fop->owner;
		err = open_and_note(r, inode, f);
		if (err) {
			module_put(f->f_owner);
			f->f_owner = NULL;
		}
	}
	removable_leave(r);
	return err;
}

/* [o] */
static void release_opener(struct removable_file *r, struct opener *o)
{
	list_del(&o->list);
	if (r->fop->release)
		r->fop->release(o->file->f_inode, o->file);
	kfree(o);
}

/* Nothing is left to do when the removal was faster. */
static int removable_release(struct inode *inode, struct file *f)
{
	struct removable_file *r = removable_of(inode);
	struct opener *o, *next;

	mutex_lock(&r->lock);
	list_for_each_entry_safe(o, next, &r->openers, list)
		if (o->file == f)
			release_opener(r, o);
	mutex_unlock(&r->lock);
	return 0;
}

static const struct file_operations removable_fops = {.open = removable_open,
						      .release = removable_release,
						      .read = removable_read,
						      .write = removable_write,
						      .llseek = removable_llseek,
						      .poll = removable_poll,
						      .unlocked_ioctl = removable_ioctl};

static const struct text_kind removable_kind;

void removable_init(struct removable_file *r, const struct file_operations *fop, mode_t mode)
{
	r->fop = fop;
	r->text = (struct text_file){.fop = &removable_fops, .mode = mode, .kind = &removable_kind};
	atomic_set(&r->calls, 0);
	atomic_set(&r->inodes, 1);
	mutex_init(&r->lock);
	INIT_LIST_HEAD(&r->openers);
	spin_lock_init(&r->pollers.lock);
	INIT_LIST_HEAD(&r->pollers.entries);
}

void removable_put(struct removable_file *r)
{
	if (atomic_dec_and_test(&r->inodes))
		kfree(r);
}

struct dentry *removable_attach(struct dentry *dir, const char *name, struct removable_file *r, void *data)
{
	struct inode *inode = new_inode(dir->d_sb, S_IFREG | (r->text.mode & 07777));

	if (inode) {
		atomic_inc(&r->inodes);
		inode->i_fop = &removable_fops;
		inode->i_text = &r->text;
		inode->i_private = data;
	}
	return simple_attach(dir, name, inode);
}

/* A count that is negative already has no task to wait for: only one task removes a file. */
void removable_end(struct removable_file *r)
{
	DECLARE_COMPLETION(idle);
	struct opener *o, *next;

	if (atomic_read(&r->calls) < 0)
		return;
	/* cppcheck-suppress autoVariables ; it is not looked at once the wait is over */
	r->idle = &idle;
	if (atomic_add_return(GONE, &r->calls) != GONE)
		wait_for_completion(&idle);
	poll_leave(&r->pollers);
	mutex_lock(&r->lock);
	list_for_each_entry_safe(o, next, &r->openers, list)
		release_opener(r, o);
	mutex_unlock(&r->lock);
}

static void removable_gone(struct inode *inode)
{
	removable_end(removable_of(inode));
}

void removable_evict(struct inode *inode)
{
	if (inode->i_fop == &removable_fops)
		removable_put(removable_of(inode));
}

static const struct text_kind removable_kind = {.gone = removable_gone, .evict = removable_evict};
