/*
 * The bits in programs that say whether events are on.
 *
 * Each program (address space) that has registered a bit has a struct user_program with its places. A bit is written by
 * the task that switches the event, which may be any: under event_mutex and the program's mmap_lock, through the
 * kernel's own mapping of the page, and only if that needs no fault. Where the page is not there, or is shared since a
 * fork, a work makes the fault without event_mutex, because it may wait for a disk, and then writes the bit.
 *
 * Why no bit stays wrong:
 *
 * - A place is added under event_mutex and mmap_lock with the event's state of that moment.
 * - fork copies pages and places under the parent's mmap_lock. The child is in the list of programs before that is
 *   released, at its head. A round of user_programs_update() that has been at the parent before has changed what is
 *   copied. One that comes to the parent afterwards comes to the child, too: a round moves each program that it takes
 *   to the list's end, and goes on until the first one is of this round.
 * - A place whose bit could not be written is `stale`; the work looks for such places until there are none. A fork
 *   copies the mark with the place. A fault that fails counts only for the changes before it.
 *
 * Why nothing is used after it was freed:
 *
 * - A program counts for its mm_struct (mmgrab), not for its users. exit sets `gone` under mmap_lock before anything is
 *   unmapped, and all others look at it under that lock.
 * - A program is freed under event_mutex, from the list of dead ones, and not while the work has pinned it.
 * - A place holds a reference to its event, so an event goes after the last program that has a bit for it.
 */
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <mm/mm.h>
#include <mm/mm_part.h>
#include <mm/oom.h>
#include <mm/slab.h>
#include <mm/uaccess.h>
#include <sched/sched.h>

#include "events/event_file.h"
#include "internal.h"

#define HASH_BITS 5
#define TRIES_MAX 10 /* faults for one bit: the program may take the page away again each time */

/* Locks: e event_mutex; m mmap_lock of the program; both of them to change the list of places; I immutable. */
struct user_place {
	struct list_head list;	  /* [e and m] */
	struct user_event *event; /* [I] a reference is held */
	unsigned long addr;	  /* [I] */
	u8 bit;			  /* [I] of the word there */
	u8 tries;		  /* [e] faults since then */
	u64 round;		  /* [e] the event's last change */
	bool stale;		  /* [e and m] the bit is not what the event is */
};

/* Locks: the same, and p user_programs_lock. */
struct user_program {
	struct list_head list;	 /* [p] of programs or dead_programs */
	struct hlist_node node;	 /* [p] of a bucket; dead ones are in none */
	struct mm_struct *mm;	 /* [I] counted by mmgrab */
	struct list_head places; /* [e and m] */
	u64 round;		 /* [e] the last change that has been here */
	unsigned pins;		 /* [e] the work uses it without event_mutex */
	bool gone;		 /* [m] its memory is not to be touched any more */
};

static DEFINE_SPINLOCK(user_programs_lock);	  /* no other lock is taken inside it */
static LIST_HEAD(programs);			  /* [p] */
static LIST_HEAD(dead_programs);		  /* [p] */
static struct hlist_head buckets[1 << HASH_BITS]; /* [p] by mm */
static unsigned nr_programs;			  /* [p; read without] in buckets */
static u64 round;				  /* [e] */

static void fault_work_fn(struct work_struct *work);
static DECLARE_WORK(fault_work, fault_work_fn);

/* ---- Programs */

static struct hlist_head *bucket_of(const struct mm_struct *mm)
{
	return &buckets[hash_long((unsigned long)mm, HASH_BITS)];
}

/* The program stays while event_mutex is held, or its mm has users. */
static struct user_program *find_program(const struct mm_struct *mm)
{
	struct user_program *p, *found = NULL;

	if (likely(!READ_ONCE(nr_programs)))
		return NULL;
	spin_lock(&user_programs_lock);
	hlist_for_each_entry(p, bucket_of(mm), node)
		if (p->mm == mm)
			found = p;
	spin_unlock(&user_programs_lock);
	return found;
}

static struct user_program *alloc_program(struct mm_struct *mm)
{
	struct user_program *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	mmgrab(mm);
	p->mm = mm;
	INIT_LIST_HEAD(&p->places);
	return p;
}

/* At the list's head: a round that is under way comes to it. */
static void publish_program(struct user_program *p)
{
	spin_lock(&user_programs_lock);
	hlist_add_head(&p->node, bucket_of(p->mm));
	list_add(&p->list, &programs);
	WRITE_ONCE(nr_programs, nr_programs + 1);
	spin_unlock(&user_programs_lock);
}

/* [e] Its places go, with their references. */
static void free_program(struct user_program *p)
{
	struct user_place *place, *next;

	list_for_each_entry_safe(place, next, &p->places, list) {
		user_event_put(place->event);
		kfree(place);
	}
	mmdrop(p->mm);
	kfree(p);
}

/* [e] Take the first dead program without a pin from the list. NULL when all are pinned, or the list is empty. */
static struct user_program *take_dead(void)
{
	struct user_program *p, *found = NULL;

	spin_lock(&user_programs_lock);
	list_for_each_entry(p, &dead_programs, list)
		if (!found && !p->pins)
			found = p;
	if (found)
		list_del(&found->list);
	spin_unlock(&user_programs_lock);
	return found;
}

void user_programs_reap(void)
{
	struct user_program *p;

	while ((p = take_dead()) != NULL)
		free_program(p);
}

/* ---- Bits */

/*
 * [e, m] False: a fault is needed. Programs change other bits of the word meanwhile. Machines are little-endian, so the
 * bit of a word of 64 bits is in its first or second half.
 */
static bool write_bit(struct mm_struct *mm, unsigned long addr, unsigned bit, bool on)
{
	u32 *half = mm_writable_now(mm, addr + bit / 32 * 4), mask = 1u << bit % 32;

	if (half && on)
		__atomic_fetch_or(half, mask, __ATOMIC_SEQ_CST);
	else if (half)
		__atomic_fetch_and(half, ~mask, __ATOMIC_SEQ_CST);
	return half;
}

/* [e, m] */
static void update_place(struct user_program *p, struct user_place *place)
{
	place->stale = !write_bit(p->mm, place->addr, place->bit, user_event_is_on(place->event));
	if (place->stale)
		queue_work(user_events_wq, &fault_work);
}

/* [e] The next program of this round; NULL: it has been at all. */
static struct user_program *next_of_round(void)
{
	struct user_program *p;

	spin_lock(&user_programs_lock);
	p = list_first_entry_or_null(&programs, struct user_program, list);
	if (p && p->round == round)
		p = NULL;
	if (p) {
		p->round = round;
		list_move_tail(&p->list, &programs);
	}
	spin_unlock(&user_programs_lock);
	return p;
}

/* The list of places does not change while event_mutex is held. */
void user_programs_update(const struct user_event *e)
{
	struct user_program *p;
	struct user_place *place;

	round++;
	while ((p = next_of_round()) != NULL)
		list_for_each_entry(place, &p->places, list) {
			if (place->event != e)
				continue;
			place->tries = 0;
			place->round = round;
			mutex_lock(&p->mm->mmap_lock);
			if (!p->gone)
				update_place(p, place);
			mutex_unlock(&p->mm->mmap_lock);
		}
}

/* ---- Faults, by the work */

/* [e] A place that needs a fault, with its program in *owner, pinned. NULL when no place does. */
static struct user_place *find_stale(struct user_program **owner)
{
	struct user_place *place, *found = NULL;
	struct user_program *p;

	spin_lock(&user_programs_lock);
	list_for_each_entry(p, &programs, list)
		list_for_each_entry(place, &p->places, list)
			if (place->stale && place->tries < TRIES_MAX && !found) {
				found = place;
				*owner = p;
			}
	if (found)
		(*owner)->pins++;
	spin_unlock(&user_programs_lock);
	return found;
}

/*
 * [m] inside: the fault alone. -ENOENT: the memory is going, -ENOMEM: memory was full, and there may be some by now,
 * -EFAULT: the program may not write there.
 */
static int fault_in(struct user_program *p, unsigned long addr)
{
	int err;

	mutex_lock(&p->mm->mmap_lock);
	err = p->gone ? -ENOENT : handle_mm_fault_locked(p->mm, addr, FAULT_FLAG_WRITE);
	mutex_unlock(&p->mm->mmap_lock);
	if (err == -ENOMEM)
		out_of_memory(GFP_USER, 0);
	return err;
}

/*
 * [e] The fault has failed: the bit is left alone until the event changes again. If it has changed meanwhile, there may
 * be another page by now, and the fault is made again.
 */
static void give_up(const struct user_program *p, struct user_place *place, u64 when)
{
	if (place->round > when)
		return;
	place->tries = TRIES_MAX;
	pr_warn("user_events: Fault for mm: 0x%p @ 0x%lx event: %s\n", p->mm, place->addr, place->event->name);
}

/*
 * [e] The bits at this address are written after the fault, which was begun after the change `when`. The place itself
 * may have gone meanwhile.
 */
static void fault_done(struct user_program *p, unsigned long addr, u64 when, int err)
{
	struct user_place *place;

	mutex_lock(&p->mm->mmap_lock);
	list_for_each_entry(place, &p->places, list) {
		if (place->addr != addr || !place->stale || p->gone)
			continue;
		place->tries++;
		if (err && (err != -ENOMEM || place->tries == TRIES_MAX))
			give_up(p, place, when);
		else if (!err)
			update_place(p, place);
	}
	mutex_unlock(&p->mm->mmap_lock);
}

/* Write the bits of all stale places, one by one. Another work frees programs that end meanwhile. */
static void fault_work_fn(struct work_struct *work)
{
	struct user_program *p = NULL;
	struct user_place *place;

	mutex_lock(&event_mutex);
	while ((place = find_stale(&p)) != NULL) {
		unsigned long addr = place->addr;
		u64 when = round;
		int err;

		mutex_unlock(&event_mutex);
		err = fault_in(p, addr);
		mutex_lock(&event_mutex);
		fault_done(p, addr, when, err);
		p->pins--;
	}
	mutex_unlock(&event_mutex);
	user_events_reap_later();
}

/* ---- What programs ask for */

bool user_program_may_write(unsigned long addr)
{
	return !handle_mm_fault(current->mm, addr, FAULT_FLAG_WRITE);
}

/* [e, m] NULL: the program has none for this bit. */
static struct user_place *find_place(struct user_program *p, unsigned long addr, unsigned bit)
{
	struct user_place *place, *found = NULL;

	if (p)
		list_for_each_entry(place, &p->places, list)
			if (place->addr == addr && place->bit == bit)
				found = place;
	return found;
}

/* [e, m of the current program] -EFAULT: the page has gone. */
static int add_place(struct user_place *place)
{
	struct mm_struct *mm = current->mm;
	struct user_program *p = find_program(mm);

	if (find_place(p, place->addr, place->bit))
		return -EADDRINUSE;
	if (!p) {
		p = alloc_program(mm);
		if (!p)
			return -ENOMEM;
		publish_program(p);
	}
	if (!write_bit(mm, place->addr, place->bit, user_event_is_on(place->event)))
		return -EFAULT;
	atomic_inc(&place->event->refs);
	list_add_tail(&place->list, &p->places);
	return 0;
}

/* The page is made without event_mutex, and may be taken away again before the bit is written. */
int user_program_register(const struct user_reg *reg, struct user_event *e)
{
	struct user_place *place = kzalloc(sizeof(*place), GFP_KERNEL);
	int err = -EFAULT;

	if (!place)
		return -ENOMEM;
	place->event = e;
	place->addr = reg->enable_addr;
	place->bit = reg->enable_bit;
	for (unsigned i = 0; i < TRIES_MAX && err == -EFAULT; i++) {
		if (!user_program_may_write(place->addr))
			break;
		mutex_lock(&event_mutex);
		mutex_lock(&current->mm->mmap_lock);
		err = add_place(place);
		mutex_unlock(&current->mm->mmap_lock);
		mutex_unlock(&event_mutex);
	}
	if (err)
		kfree(place);
	return err;
}

/* The bit is cleared whatever the event does, unless another thread has registered it again after a fault. */
int user_program_unregister(const struct user_unreg *reg)
{
	struct mm_struct *mm = current->mm;
	bool found = false, done = false;

	for (unsigned i = 0; i < TRIES_MAX && !done; i++) {
		struct user_place *place;

		if (i && !user_program_may_write(reg->disable_addr))
			break;
		mutex_lock(&event_mutex);
		mutex_lock(&mm->mmap_lock);
		place = find_place(find_program(mm), reg->disable_addr, reg->disable_bit);
		if (place && !i) {
			list_del(&place->list);
			user_event_put(place->event);
			kfree(place);
			place = NULL;
			found = true;
		}
		done = !found || place || write_bit(mm, reg->disable_addr, reg->disable_bit, false);
		mutex_unlock(&mm->mmap_lock);
		mutex_unlock(&event_mutex);
	}
	if (!found)
		return -ENOENT;
	return done ? 0 : -EFAULT;
}

/* ---- What address spaces tell */

/* [m of both] The parent's places do not change, and its references keep the events. */
static int user_program_dup(struct mm_struct *new, struct mm_struct *old)
{
	struct user_program *from = find_program(old), *p;
	const struct user_place *place;
	int err = 0;

	if (likely(!from || list_empty(&from->places)))
		return 0;
	p = alloc_program(new);
	if (!p)
		return -ENOMEM;
	list_for_each_entry(place, &from->places, list) {
		struct user_place *copy = kzalloc(sizeof(*copy), GFP_KERNEL);

		if (!copy) {
			err = -ENOMEM;
			break;
		}
		*copy = *place;
		atomic_inc(&copy->event->refs);
		list_add_tail(&copy->list, &p->places);
	}
	publish_program(p); /* after an error, too: it goes with the child's address space, as its references must */
	return err;
}

/* event_mutex may be held, so the rest is left to a work. */
static void user_program_exit(struct mm_struct *mm)
{
	struct user_program *p = find_program(mm);

	if (likely(!p))
		return;
	mutex_lock(&mm->mmap_lock);
	p->gone = true;
	mutex_unlock(&mm->mmap_lock);
	spin_lock(&user_programs_lock);
	hlist_del(&p->node);
	list_move_tail(&p->list, &dead_programs);
	WRITE_ONCE(nr_programs, nr_programs - 1);
	spin_unlock(&user_programs_lock);
	user_events_reap_later();
}

static const struct mm_part user_program_part = {.dup = user_program_dup, .exit = user_program_exit};
REGISTER_MM_PART(user_program_part);
