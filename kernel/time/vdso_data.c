/*
 * The page by which programs read the clock without a system call. The kernel is its only writer; the vDSO's functions
 * read it (vdso/vdso.c).
 *
 * It changes when the wall clock is set, and when the machine gives up its counter as the clock. A tick changes
 * nothing: a reader computes the time from the counter, the whole way since the counter's zero.
 *
 * Why a reader never mixes two settings. A writer, which holds vdso_lock, makes `seq` odd, then changes the fields,
 * then makes it even; a release fence stands on both sides of the fields. A reader loads `seq` with acquire, then the
 * fields, then `seq` again behind an acquire fence. If one of its loads of a field sees a new value, the fences order
 * the second load of `seq` after the store of the odd number, so the reader finds a number that differs from its
 * first, and begins again. If it began with the even number behind a change, the acquire shows it all of that change.
 *
 * The counter is read between the two looks at `seq`. It may be read a little later than the second look: then the
 * result is a moment of the old setting that lies after the change. No program can tell that from a call that was
 * slower, since a call that begins after the setting has returned finds the new number.
 */
#include <asm/vdso.h>
#include <kernel/init.h>
#include <lib/errno.h>
#include <mm/page.h>
#include <sched/spinlock.h>
#include <time/clock.h>
#include <time/vdso.h>

static struct page *data_page; /* [early boot, then immutable] */
static DEFINE_SPINLOCK(vdso_lock);

struct page *vdso_data_page(void)
{
	return data_page;
}

/*
 * The caller has changed the clock already, and the values are read under the lock: when two changes come at once, the
 * one that gets the lock last writes what both have made.
 */
void vdso_update_clock(void)
{
	struct vdso_data *d;
	unsigned long flags;

	if (!data_page)
		return;
	d = page_to_virt(data_page);
	spin_lock_irqsave(&vdso_lock, flags);
	WRITE_ONCE(d->seq, d->seq + 1);
	smp_wmb(); /* odd before the fields change */
	WRITE_ONCE(d->counter, arch_vdso_counter());
	WRITE_ONCE(d->mult, clock_mult);
	WRITE_ONCE(d->wall_offset, wall_clock_offset());
	smp_store_release(&d->seq, d->seq + 1); /* even after they have */
	spin_unlock_irqrestore(&vdso_lock, flags);
}

/* Before the first program, and while one CPU runs. */
static int vdso_data_init(void)
{
	data_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!data_page)
		return -ENOMEM;
	vdso_update_clock();
	return 0;
}
early_initcall(vdso_data_init);
