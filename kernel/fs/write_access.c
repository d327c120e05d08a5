/*
 * Writers against runners of one file. While a program runs, its file cannot be written, and while a file is open for
 * writing it cannot be executed: the second of the two gets -ETXTBSY.
 *
 * inode->i_writecount is above zero by one for each writer, or below zero by one for each runner, and a single
 * compare-and-exchange moves it. So no lock is needed, and two CPUs that open for writing and execute at the same
 * moment agree on which was first.
 *
 * A writer counts from before its open succeeds until after its last write (the last fput, which a shared mapping
 * delays); a runner from before the first byte is read until the end of its memory (the last mmput). What one of them
 * does is thus wholly before or wholly behind the other. An exec or open that fails gives back what it took.
 */
#include "internal.h"

/*
 * Move the count one step away from zero, unless it is on the other side of zero. Acquire: what the caller reads or
 * writes comes after.
 */
static int count_away(atomic_t *count, int step)
{
	int old = atomic_read(count);

	do {
		if (old * step < 0)
			return -ETXTBSY;
	} while (!__atomic_compare_exchange_n(&count->counter, &old, old + step, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return 0;
}

int get_write_access(struct inode *inode)
{
	return count_away(&inode->i_writecount, 1);
}

/* Release: a runner that comes now reads all that was written. */
void put_write_access(struct inode *inode)
{
	__atomic_fetch_sub(&inode->i_writecount.counter, 1, __ATOMIC_RELEASE);
}

int deny_write_access(struct file *file)
{
	return count_away(&file->f_inode->i_writecount, -1);
}

/* Release: the runner's last read does not see what a writer that comes now writes. */
void allow_write_access(struct file *file)
{
	__atomic_fetch_add(&file->f_inode->i_writecount.counter, 1, __ATOMIC_RELEASE);
}
