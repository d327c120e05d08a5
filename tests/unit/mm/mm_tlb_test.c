/*
 * Address spaces on two CPUs: what a call took away is out of the reach of both when it returns. Each CPU of the model
 * has a TLB that keeps an entry from the first touch until it is flushed; user_touch_on() goes by it. So a flush that
 * is missing, too early or too short lets a CPU write where it must not any more.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_user_mm.h>

#define BASE 0x10000000UL
#define MANY 300 /* pages: several batches and pauses */

static void write_on_all(struct mm_struct *mm, unsigned long start, unsigned pages)
{
	for (unsigned cpu = 0; cpu < TLB_CPUS; cpu++)
		for (unsigned i = 0; i < pages; i++) {
			int err = 0;

			user_touch_on(cpu, mm, start + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err);
			assert_int_equal(err, 0);
		}
}

static struct mm_struct *mm_in_all_tlbs(void)
{
	struct mm_struct *mm = mm_alloc();

	mm->start_brk = mm->brk = BASE;
	assert_int_equal(do_brk(mm, BASE + MANY * PAGE_SIZE), BASE + MANY * PAGE_SIZE);
	write_on_all(mm, BASE, MANY);
	return mm;
}

/* Each CPU gets this errno from such an access to these pages. */
static void expect_on_all(struct mm_struct *mm, unsigned first, unsigned pages, unsigned flags, int want)
{
	for (unsigned cpu = 0; cpu < TLB_CPUS; cpu++)
		for (unsigned i = first; i < first + pages; i++) {
			int err = 0;

			user_touch_on(cpu, mm, BASE + i * PAGE_SIZE, flags, &err);
			if (err != want)
				fail_msg("CPU %u gets %d at page %u, not %d", cpu, err, i, want);
		}
}

/*
 * Three calls that take pages away: munmap, a smaller brk, a smaller mremap. When each returns, both CPUs must fault
 * on all of these pages; the others can still be written.
 */
static void test_unmapped_on_all_cpus(void **state)
{
	struct mm_struct *mm = mm_in_all_tlbs();

	assert_int_equal(do_munmap(mm, BASE + 7 * PAGE_SIZE, (MANY - 10) * PAGE_SIZE), 0);
	expect_on_all(mm, 7, MANY - 10, 0, -EFAULT);
	expect_on_all(mm, 0, 7, FAULT_FLAG_WRITE, 0);
	mmput(mm);
	mm = mm_in_all_tlbs();
	assert_int_equal(do_brk(mm, BASE + PAGE_SIZE), BASE + PAGE_SIZE);
	expect_on_all(mm, 1, MANY - 1, 0, -EFAULT);
	mmput(mm);
	mm = mm_in_all_tlbs();
	assert_int_equal(do_mremap(mm, BASE, MANY * PAGE_SIZE, PAGE_SIZE, 0, 0), BASE);
	expect_on_all(mm, 1, MANY - 1, 0, -EFAULT);
	mmput(mm);
}

static void test_moved_on_all_cpus(void **state)
{
	struct mm_struct *mm = mm_in_all_tlbs();
	long at;

	do_mmap(mm, NULL, BASE + MANY * PAGE_SIZE, PAGE_SIZE, 1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	at = do_mremap(mm, BASE, MANY * PAGE_SIZE, (MANY + 1) * PAGE_SIZE, MREMAP_MAYMOVE, 0);
	assert_true(at > 0 && at != BASE);
	expect_on_all(mm, 0, MANY, 0, -EFAULT);
	expect_on_all(mm, (at - BASE) >> PAGE_SHIFT, MANY + 1, FAULT_FLAG_WRITE, 0);
	mmput(mm);
}

static void test_protected_on_all_cpus(void **state)
{
	struct mm_struct *mm = mm_in_all_tlbs();

	assert_int_equal(do_mprotect(mm, BASE, MANY * PAGE_SIZE, PROT_READ), 0);
	expect_on_all(mm, 0, MANY, FAULT_FLAG_WRITE, -EACCES);
	expect_on_all(mm, 0, MANY, 0, 0);
	assert_int_equal(do_mprotect(mm, BASE, MANY * PAGE_SIZE, PROT_NONE), 0);
	expect_on_all(mm, 0, MANY, 0, -EACCES);
	mmput(mm);
}

/* Dropped and mapped again: zeros, on each CPU in the same page. */
static void test_dropped_on_all_cpus(void **state)
{
	for (int how = 0; how < 2; how++) {
		struct mm_struct *mm = mm_in_all_tlbs();
		int err = 0;

		for (unsigned i = 0; i < MANY; i++)
			*(u64 *)user_touch(mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err) = 5;
		if (how) {
			do_mmap(mm, NULL, BASE, MANY * PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
		} else {
			mutex_lock(&mm->mmap_lock);
			zap_range(mm, BASE, BASE + MANY * PAGE_SIZE);
			mutex_unlock(&mm->mmap_lock);
		}
		assert_int_equal(atomic_read(&mm->rss_anon), 0);
		for (unsigned i = 0; i < MANY; i++)
			for (unsigned cpu = 0; cpu < TLB_CPUS; cpu++)
				assert_int_equal(*(u64 *)user_touch_on(cpu, mm, BASE + i * PAGE_SIZE, 0, &err), 0);
		mmput(mm);
	}
}

/* From the return of fork on, parent and child write to pages of their own, whatever CPU they are on. */
static void test_forked_on_all_cpus(void **state)
{
	struct mm_struct *mm = mm_in_all_tlbs(), *child;
	int err = 0;

	for (unsigned i = 0; i < MANY; i++)
		*(u64 *)user_touch_on(0, mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err) = i + 1;
	child = dup_mm(mm);
	for (unsigned i = 0; i < MANY; i++)
		for (unsigned cpu = 0; cpu < TLB_CPUS; cpu++) {
			u64 *ours = user_touch_on(cpu, mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err);
			u64 *theirs = user_touch_on(!cpu, child, BASE + i * PAGE_SIZE, 0, &err);

			assert_ptr_not_equal(ours, theirs);
			assert_int_equal(*theirs, i + 1);
			*ours = 0;
		}
	mmput(child);
	mmput(mm);
}

/* What is shared on purpose is not protected by a fork: writing to it costs no fault. */
static void test_fork_leaves_shared_pages_writable(void **state)
{
	struct mm_struct *mm = mm_alloc(), *child;
	u64 faults;

	do_mmap(mm, NULL, BASE, 8 * PAGE_SIZE, 3, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, 0);
	for (unsigned i = 0; i < 8; i++)
		touch_err(mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE);
	faults = current->min_flt;
	child = dup_mm(mm);
	for (unsigned i = 0; i < 8; i++) {
		touch_err(mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE);
		touch_err(child, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE);
	}
	assert_int_equal(current->min_flt, faults);
	mmput(child);
	mmput(mm);
}

/* A table is missing half way: the call fails and everything is where it was. */
static void test_mremap_without_memory_moves_back(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned long span = PAGE_SIZE * 512, from = 0x20000000;
	unsigned n = 600;
	int err;

	do_mmap(mm, NULL, from, n * PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	do_mmap(mm, NULL, from + n * PAGE_SIZE, PAGE_SIZE, 1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	mm->mmap_base = ALIGN_DOWN(mm->mmap_base, span) - span / 2; /* so that the new place takes two tables */
	for (unsigned i = 0; i < n; i++)
		*(u64 *)user_touch(mm, from + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err) = i;
	host_tables_left = 1;
	assert_int_equal(do_mremap(mm, from, n * PAGE_SIZE, (n + 1) * PAGE_SIZE, MREMAP_MAYMOVE, 0), -ENOMEM);
	host_tables_left = -1;
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(*(u64 *)user_touch(mm, from + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err), i);
	assert_int_equal(mm->total_vm, n + 1);
	assert_int_equal(atomic_read(&mm->rss_anon), n);
	mmput(mm);
}

static int boot(void **state)
{
	host_boot(32, 3);
	kmem_cache_init();
	mm_init();
	return 0;
}

int main(void)
{
	init_limits();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unmapped_on_all_cpus),
		cmocka_unit_test(test_moved_on_all_cpus),
		cmocka_unit_test(test_protected_on_all_cpus),
		cmocka_unit_test(test_dropped_on_all_cpus),
		cmocka_unit_test(test_forked_on_all_cpus),
		cmocka_unit_test(test_fork_leaves_shared_pages_writable),
		cmocka_unit_test(test_mremap_without_memory_moves_back),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
