/*
 * The memory of a victim of the OOM killer that does not end. A killed process gives its memory back when its last
 * thread has ended, but a thread that sleeps in the kernel may be unable to: it waits for a device, or for a lock of a
 * task that waits for memory. So after some time the private memory of a victim is taken away from it. That does no
 * harm, since its threads never return to user mode; a thread that still reads or writes its memory in the kernel finds
 * nothing mapped there.
 *
 * The time is Linux's. A victim that ends by itself hands on the robust futexes that it holds, which lie in this
 * memory.
 *
 * Locks: a worker takes the victim's mmap_lock, if it is free, and nothing else. The work may be queued under
 * oom_mutex.
 */
#include <irq/workqueue.h>
#include <lib/atomic.h>
#include <mm/oom.h>

#include "../vma.h"
#include "oom.h"

#define REAP_DELAY (2 * NSEC_PER_SEC)
#define REAP_AGAIN (10 * NSEC_PER_MSEC) /* while the lock is taken */

static struct mm_struct *reap_mm; /* [a] whose turn is next, with a reference to the structure */

/* [m] Areas of files stay: their pages are the files'. */
static void reap_areas(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *next;

	list_for_each_entry_safe(vma, next, &mm->area_list, list)
		if (!vma->vm_file || vma_is_anonymous(vma))
			unmap_locked(mm, vma->vm_start, vma->vm_end); /* no area is split, so it cannot fail */
}

/* True: nothing is left to be done. */
static bool try_to_reap(struct mm_struct *mm)
{
	bool done;

	if (!mmget_not_zero(mm))
		return true;
	done = mutex_trylock(&mm->mmap_lock);
	if (done) {
		reap_areas(mm);
		mutex_unlock(&mm->mmap_lock);
		oom_victim_gone(mm);
	}
	mmput(mm);
	return done;
}

static void reap_victim(struct work_struct *work)
{
	struct mm_struct *mm = xchg(&reap_mm, NULL);

	if (!mm)
		return;
	if (try_to_reap(mm) || cmpxchg(&reap_mm, NULL, mm))
		mmdrop(mm); /* done, or another victim has taken its place */
	else
		schedule_delayed_work(to_delayed_work(work), REAP_AGAIN);
}
static DECLARE_DELAYED_WORK(reap_work, reap_victim);

/* A victim that is still there when the next one is chosen has had its time. */
void oom_reap_later(struct mm_struct *mm)
{
	struct mm_struct *old;

	mmgrab(mm);
	old = xchg(&reap_mm, mm);
	if (old)
		mmdrop(old);
	mod_delayed_work(NULL, &reap_work, REAP_DELAY);
}
