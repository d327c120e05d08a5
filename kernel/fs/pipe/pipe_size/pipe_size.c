/*
 * How much a pipe holds: F_GETPIPE_SZ and F_SETPIPE_SZ of fcntl(2). The ring has a power of two of places for pages, as
 * on Linux, so that a byte's number says its place. A new ring gets copies of the bytes: a page of the old one may hold
 * the oldest bytes and the newest, which have different places in another ring.
 *
 * WITHOUT ROOT'S RIGHTS a pipe may have the bytes of /proc/sys/fs/pipe-max-size, a new one as well. All pipes of a user
 * together may hold pipe-user-pages-soft: what is made beyond that is a small pipe, and none can grow; and
 * pipe-user-pages-hard, beyond which there are no new pipes. 0 is no limit. The pages are counted as they may come, not
 * as they are there, since the out-of-memory killer does not see what is in pipes.
 */
#include "../pipe.h"

#include <fs/file_part.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <kernel/init.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>

#define RING_PAGES_MAX (1u << 19) /* 2 GiB */

static unsigned pipe_max_size = 1 << 20; /* [a] bytes, as on Linux */
/* Pages that the pipes of one user may hold, 0: no limit. [a] */
static unsigned pipe_user_pages_soft, pipe_user_pages_hard;

/* As on Linux, or an eighth of memory where that is less. */
static int pipe_limits_init(void)
{
	pipe_user_pages_soft = min(16384UL, totalram_pages() / 8);
	return 0;
}
fs_initcall(pipe_limits_init);

/* So many pages more or less for the pipe's user. Counted before they are compared: two tasks cannot share the last. */
static unsigned account_pages(const struct pipe_inode_info *pipe, int pages)
{
	return atomic_add_return(pages, &pipe->user->pipe_pages);
}

/* Is a user with so many pages beyond the limit, and is that a limit to the caller? */
static bool over_limit(unsigned pages, const unsigned *limit)
{
	unsigned max = READ_ONCE(*limit);

	return max && pages > max && !capable(CAP_SYS_RESOURCE) && !capable(CAP_SYS_ADMIN);
}

/* pipe_limits.uncharge */
static void pipe_uncharge(const struct pipe_inode_info *pipe)
{
	account_pages(pipe, -(int)(pipe->size >> PAGE_SHIFT));
	put_user_struct(pipe->user);
}

/* pipe_limits.charge. Beyond the soft limit a pipe has SMALL_PIPE, even where pipe-max-size is less, as on Linux. */
static bool pipe_charge_new(struct pipe_inode_info *pipe)
{
	unsigned pages = PIPE_PAGES, sum;

	if (pages << PAGE_SHIFT > READ_ONCE(pipe_max_size) && !capable(CAP_SYS_RESOURCE))
		pages = READ_ONCE(pipe_max_size) >> PAGE_SHIFT;
	pipe->user = get_task_user(current);
	pipe->size = pages << PAGE_SHIFT;
	sum = account_pages(pipe, pages);
	if (over_limit(sum, &pipe_user_pages_soft)) {
		pipe->size = SMALL_PIPE;
		sum = account_pages(pipe, (int)(SMALL_PIPE >> PAGE_SHIFT) - (int)pages);
	}
	if (!over_limit(sum, &pipe_user_pages_hard))
		return true;
	pipe_uncharge(pipe);
	return false;
}

/* F_GETPIPE_SZ: capacity in bytes, -EBADF: no pipe. */
static long pipe_size(struct file *f)
{
	return pipe_of(f) ? (long)READ_ONCE(pipe_of(f)->size) : -EBADF;
}

/* The pages that a ring for so many bytes has; 0: no ring is so large. */
static unsigned ring_pages(unsigned long size)
{
	unsigned pages = 1;

	while (pages < RING_PAGES_MAX && (unsigned long)pages << PAGE_SHIFT < size)
		pages *= 2;
	return (unsigned long)pages << PAGE_SHIFT < size ? 0 : pages;
}

/* [l] Copy what the pipe holds into `to`, whose ring is empty. 0 or -ENOMEM; then `to` has a part. */
static int copy_ring(struct pipe_inode_info *to, struct pipe_inode_info *from)
{
	u64 at = from->tail;

	to->tail = to->head = at;
	while (at < from->head) {
		unsigned off = at & (PAGE_SIZE - 1);
		size_t part = min_t(u64, from->head - at, PAGE_SIZE - off);

		if (pipe_fill(to, *pipe_slot(from, at) + off, part, true) != part)
			return -ENOMEM;
		at += part;
	}
	return 0;
}

/*
 * [l] Another ring with the same bytes. 0, -EBUSY or -ENOMEM. An empty ring has no page, so an empty pipe begins at the
 * start of one: where the head stands in the middle of a page, pipe_give_page() relies on it that the page is there.
 */
static int resize_ring(struct pipe_inode_info *pipe, unsigned pages)
{
	struct pipe_inode_info to = {.mask = pages - 1};
	int err;

	if (pipe_used(pipe) > (u64)pages << PAGE_SHIFT)
		return -EBUSY;
	to.pages = kvzalloc(pages * sizeof(to.pages[0]), GFP_KERNEL);
	if (!to.pages)
		return -ENOMEM;
	err = copy_ring(&to, pipe);
	if (err) {
		pipe_free_pages(&to);
		return err;
	}
	pipe_free_pages(pipe);
	pipe->pages = to.pages;
	pipe->mask = to.mask;
	if (!pipe_used(pipe))
		pipe->head = pipe->tail = 0;
	WRITE_ONCE(pipe->size, pages << PAGE_SHIFT);
	return 0;
}

/* [l] 0 or -errno. Who makes a pipe smaller may always do it. */
static int set_pages(struct pipe_inode_info *pipe, unsigned pages)
{
	int more = (int)pages - (int)(pipe->size >> PAGE_SHIFT), err;
	unsigned sum;

	if (more > 0 && (unsigned long)pages << PAGE_SHIFT > READ_ONCE(pipe_max_size) && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	sum = account_pages(pipe, more);
	if (more > 0 && (over_limit(sum, &pipe_user_pages_soft) || over_limit(sum, &pipe_user_pages_hard)))
		err = -EPERM;
	else
		err = resize_ring(pipe, pages);
	if (err)
		account_pages(pipe, -more);
	return err;
}

/*
 * F_SETPIPE_SZ: at least so many bytes. The new capacity, -EBADF, -EINVAL, -EPERM: only root may have so much, -EBUSY:
 * the pipe holds more, -ENOMEM. Writers may have room now.
 */
static long pipe_set_size(struct file *f, unsigned long size)
{
	struct pipe_inode_info *pipe = pipe_of(f);
	unsigned pages = ring_pages((unsigned)size);
	int err;

	if (!pipe)
		return -EBADF;
	if (!pages)
		return -EINVAL;
	mutex_lock(&pipe->lock);
	err = set_pages(pipe, pages);
	if (!err)
		wake_up_interruptible_all(&pipe->wr_wait);
	mutex_unlock(&pipe->lock);
	return err ? err : (long)pages << PAGE_SHIFT;
}

static int max_size_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(pipe_max_size));
	return 0;
}

static int max_size_store(char *text, void *data)
{
	unsigned n;
	int err = kstrtouint(text, 0, &n);

	if (err || !ring_pages(n))
		return -EINVAL;
	WRITE_ONCE(pipe_max_size, ring_pages(n) << PAGE_SHIFT);
	return 0;
}

static const struct text_file max_size_entry = {
	.path = "sys/fs/pipe-max-size", .mode = 0644, .show = max_size_show, .store = max_size_store};
REGISTER_PROC(max_size_entry);

#define PIPE_LIMIT(name, file)                                                     \
	static const struct text_file name##_entry = {.path = "sys/fs/" file,      \
						      .mode = 0644,                \
						      .show = sysctl_limit_show,   \
						      .store = sysctl_limit_store, \
						      .data = &(name)};            \
	REGISTER_PROC(name##_entry)
PIPE_LIMIT(pipe_user_pages_soft, "pipe-user-pages-soft");
PIPE_LIMIT(pipe_user_pages_hard, "pipe-user-pages-hard");

static const struct pipe_limits pipe_size_limits = {.charge = pipe_charge_new, .uncharge = pipe_uncharge};
REGISTER_PIPE_LIMITS(pipe_size_limits);

/* file_part.fcntl */
static long pipe_fcntl(unsigned fd, struct file *f, unsigned cmd, unsigned long arg)
{
	if (cmd == F_GETPIPE_SZ)
		return pipe_size(f);
	return cmd == F_SETPIPE_SZ ? pipe_set_size(f, arg) : FCNTL_UNKNOWN;
}

static const struct file_part pipe_part = {.fcntl = pipe_fcntl};
REGISTER_FILE_PART(pipe_part);
