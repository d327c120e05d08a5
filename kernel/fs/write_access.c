/*
 * Writers against runners of one file. The count is above zero by one for each writer, or below by one for each
 * runner, and a single compare-and-exchange moves it: two CPUs that open for writing and execute at the same moment
 * agree on who was first. A writer counts from before its open succeeds to after its last write (the last fput, which a
 * shared mapping delays); a runner from before the first byte is read to the end of its memory.
 */
#include "internal.h"

/* One step away from zero, unless the count is on the other side of it. */
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

/* Ordered behind the last write: a runner that comes now reads all of it. */
void put_write_access(struct inode *inode)
{
	__atomic_fetch_sub(&inode->i_writecount.counter, 1, __ATOMIC_RELEASE);
}

int deny_write_access(struct file *file)
{
	return count_away(&file->f_inode->i_writecount, -1);
}

/* Ordered behind the last read: it does not see what a writer that comes now writes. */
void allow_write_access(struct file *file)
{
	__atomic_fetch_add(&file->f_inode->i_writecount.counter, 1, __ATOMIC_RELEASE);
}
