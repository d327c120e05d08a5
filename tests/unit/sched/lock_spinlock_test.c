/*
 * Spinlocks as functions: what each variant masks, that it does so before it takes the lock, and that it has the lock
 * afterwards. A variant that took no lock would let two CPUs into one list, which goes well nearly always. There is one
 * thread: the lock is held while the variant asks for it, and the wait is where the test looks, and releases it.
 */
/* sources: kernel/lock/spinlock.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <irq/softirq.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <sched/spinlock.h>

struct task_struct host_main, *host_current = &host_main;
unsigned long host_irqs_off;
unsigned long __per_cpu_offset[NR_CPUS];

static spinlock_t lock;
static unsigned waits;
/* When the wait began: what was masked. */
static u32 count_in_wait;
static bool irqs_off_in_wait;
/* Whether the lock was still held when preemption came back. */
static bool rescheduled, locked_at_reschedule, irqs_off_at_reschedule;

void host_relax(void)
{
	if (waits++ == 0) {
		count_in_wait = preempt_count();
		irqs_off_in_wait = host_irqs_off;
	}
	if (waits == 3)
		lock.locked = 0;
	if (waits > 3)
		fail_msg("it waits for a lock that is free");
}
void preempt_schedule(void)
{
	assert_int_equal(preempt_count(), 0);
	rescheduled = true;
	locked_at_reschedule = lock.locked;
	irqs_off_at_reschedule = host_irqs_off;
}
void preempt_schedule_notrace(void)
{
	preempt_schedule();
}
void local_bh_disable(void)
{
	host_main.preempt_count += SOFTIRQ_DISABLE_OFFSET;
}
void local_bh_enable(void)
{
	host_main.preempt_count -= SOFTIRQ_DISABLE_OFFSET;
	if (need_resched() && !preempt_count())
		preempt_schedule();
}

/* Each variant, in one form. */
static unsigned long flags;
static void lock_plain(void)
{
	spin_lock(&lock);
}
static void unlock_plain(void)
{
	spin_unlock(&lock);
}
static void lock_irq(void)
{
	spin_lock_irq(&lock);
}
static void unlock_irq(void)
{
	spin_unlock_irq(&lock);
}
static void lock_bh(void)
{
	spin_lock_bh(&lock);
}
static void unlock_bh(void)
{
	spin_unlock_bh(&lock);
}
static void lock_irqsave(void)
{
	spin_lock_irqsave(&lock, flags);
}
static void unlock_irqrestore(void)
{
	spin_unlock_irqrestore(&lock, flags);
}

static const struct variant {
	void (*lock)(void), (*unlock)(void);
	u32 count;     /* what it adds to preempt_count */
	bool irqs_off; /* whether it masks interrupts */
	bool restores; /* and unmasks them only if they were on */
} variants[] = {
	{lock_plain, unlock_plain, PREEMPT_OFFSET, false, true},
	{lock_irq, unlock_irq, PREEMPT_OFFSET, true, false},
	{lock_bh, unlock_bh, PREEMPT_OFFSET + SOFTIRQ_DISABLE_OFFSET, false, true},
	{lock_irqsave, unlock_irqrestore, PREEMPT_OFFSET, true, true},
};

/* Free, and held by another one who releases it: masked first, locked then, and all is undone by the unlocking. */
static void test_variants(void **state)
{
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++)
		for (unsigned held = 0; held < 2; held++)
			for (unsigned was_off = 0; was_off <= v->restores; was_off++) {
				waits = 0;
				lock.locked = held;
				host_irqs_off = was_off;
				v->lock();
				assert_int_equal(waits, held ? 3 : 0);
				if (held) {
					assert_int_equal(count_in_wait, v->count);
					assert_int_equal(irqs_off_in_wait, was_off || v->irqs_off);
				}
				assert_true(spin_is_locked(&lock));
				assert_int_equal(preempt_count(), v->count);
				assert_int_equal(!!host_irqs_off, was_off || v->irqs_off);
				v->unlock();
				assert_false(spin_is_locked(&lock));
				assert_int_equal(preempt_count(), 0);
				assert_int_equal(!!host_irqs_off, was_off);
			}
}

/* What has become due meanwhile comes at the unlocking, when the lock is free and interrupts are as they were. */
static void test_reschedules(void **state)
{
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		host_irqs_off = 0;
		rescheduled = false;
		v->lock();
		set_tsk_thread_flag(&host_main, TIF_NEED_RESCHED);
		v->unlock();
		clear_tsk_thread_flag(&host_main, TIF_NEED_RESCHED);
		assert_true(rescheduled);
		assert_false(locked_at_reschedule);
		assert_false(irqs_off_at_reschedule);
	}
}

/* Without the lock, trylock leaves nothing masked. */
static void test_trylock(void **state)
{
	lock.locked = 0;
	assert_true(spin_trylock(&lock));
	assert_true(spin_is_locked(&lock));
	assert_int_equal(preempt_count(), PREEMPT_OFFSET);
	assert_false(spin_trylock(&lock));
	assert_true(spin_is_locked(&lock));
	assert_int_equal(preempt_count(), PREEMPT_OFFSET);
	spin_unlock(&lock);
	assert_false(spin_is_locked(&lock));
	assert_int_equal(preempt_count(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variants),
		cmocka_unit_test(test_reschedules),
		cmocka_unit_test(test_trylock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
