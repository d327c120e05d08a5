/*
 * Copies of descriptor tables, by which a task leaves a table that it shares: fork, execve, unshare(2), and
 * close_range(2), which may copy only what it does not close.
 *
 * Locks: files->lock [l] of the old table while it is copied. The new one is the caller's alone until it is installed.
 */
#include "files.h"

#include <lib/bitmap.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/syscall.h>
#include <sched/sched.h>

static bool range_has(const struct fd_range *range, unsigned fd)
{
	return range && fd >= range->first && fd <= range->last;
}

/*
 * [l] How many entries must be copied, in whole words of the bit maps: up to the last descriptor that is open and not
 * in the hole. Words of which all descriptors are in the hole are passed over without a look at each.
 */
static unsigned count_fds(const struct files_struct *files, const struct fd_range *hole)
{
	unsigned words = files->max / 64;

	while (words > 1) {
		unsigned long bits = files->open[words - 1];
		unsigned first = (words - 1) * 64;

		if (bits && range_has(hole, first) && range_has(hole, first + 63))
			bits = 0;
		for (; bits; bits &= bits - 1)
			if (!range_has(hole, first + __builtin_ctzl(bits)))
				return words * 64;
		words--;
	}
	return 64;
}

/* [old->lock] Copy the open files. Slots that other threads have reserved are left out: they have no file to share. */
static void copy_fds(struct files_struct *new, const struct files_struct *old, unsigned count,
		     const struct fd_range *hole)
{
	for (unsigned w = 0; w < count / 64; w++) {
		unsigned long bits = old->open[w];

		new->cloexec[w] = old->cloexec[w];
		for (; bits; bits &= bits - 1) {
			unsigned fd = w * 64 + __builtin_ctzl(bits);

			if (!old->fd[fd] || range_has(hole, fd))
				continue;
			new->fd[fd] = get_file(old->fd[fd]);
			new->open[w] |= BIT(fd % 64);
		}
	}
	new->next_fd = find_first_zero_bit(new->open, new->max);
}

/*
 * The copy is made larger until the old table, which may grow meanwhile, fits in it; growing sleeps, so it needs the
 * lock released. A table that holds more than fs.nr_open allows now is not copied, as on Linux, where the limit counts
 * in whole words, too.
 */
struct files_struct *dup_fd(struct files_struct *old, const struct fd_range *hole)
{
	struct files_struct *new = alloc_files();
	unsigned count;
	int err;

	if (!new)
		return ERR_PTR(-ENOMEM);
	for (;;) {
		spin_lock(&old->lock);
		count = count_fds(old, hole);
		if (count <= new->max)
			break;
		spin_unlock(&old->lock);
		err = count > ALIGN(READ_ONCE(sysctl_nr_open), 64U) ? -EMFILE : grow_files(new, count - 1);
		if (err) {
			put_files_struct(new);
			return ERR_PTR(err);
		}
	}
	copy_fds(new, old, count, hole);
	spin_unlock(&old->lock);
	return new;
}

/*
 * The copy is complete before the pointer changes, so a looker finds either table whole. Record locks belong to the old
 * table; so only tasks that really share it may count as its users, or a process would lose its locks by execve.
 */
int unshare_files(const struct fd_range *hole)
{
	struct files_struct *old = current->files, *new;

	if (smp_load_acquire(&old->count.counter) == 1) /* as in fdget_raw() */
		return 0;
	new = dup_fd(old, hole);
	if (IS_ERR(new))
		return PTR_ERR(new);
	WRITE_ONCE(current->files, new);
	put_files_struct(old);
	return 0;
}

#define CLOSE_RANGE_UNSHARE 2u
#define CLOSE_RANGE_CLOEXEC 4u

/*
 * close_range(2): close all descriptors of the range, or (CLOEXEC) only mark them for exec, in a table that becomes the
 * caller's own first (UNSHARE); what would be closed there at once is not copied. The loop goes from one open
 * descriptor to the next, so a range up to the largest number ends where the table does. The file that the search
 * returns only shows that the descriptor is open; another thread may close it in between, and then fd_take() finds
 * nothing.
 */
SYSCALL_DEFINE3(close_range, unsigned int, fd, unsigned int, max_fd, unsigned int, flags)
{
	bool mark = flags & CLOSE_RANGE_CLOEXEC;
	struct fd_range range = {fd, max_fd};
	int err = 0;

	if ((flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) || fd > max_fd)
		return -EINVAL;
	if (flags & CLOSE_RANGE_UNSHARE)
		err = unshare_files(mark ? NULL : &range);
	while (!err) {
		struct file *f = fget_task_next(current, &fd);

		if (!f)
			return 0;
		fput(f);
		if (fd > max_fd)
			return 0;
		if (mark)
			fd_set_cloexec(fd, true);
		else if ((f = fd_take(fd)))
			filp_close(f, current->files);
		fd++;
	}
	return err;
}
