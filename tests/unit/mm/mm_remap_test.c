/*
 * mremap to a place that the caller names, and with the old mapping kept: what lies where afterwards, page by page; and
 * when the breakpoints of probes leave the pages.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_user_mm.h>

#define BASE 0x10000000UL

/* A new area of `pages` at BASE + at pages, whose first word in each page is its number beyond `first`. */
static void map_numbered(struct mm_struct *mm, unsigned long at, unsigned long pages, u64 first)
{
	int err;

	assert_int_equal(do_mmap(mm, NULL, BASE + at * PAGE_SIZE, pages * PAGE_SIZE, 3,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0),
			 BASE + at * PAGE_SIZE);
	for (unsigned long i = 0; i < pages; i++)
		*(u64 *)user_touch(mm, BASE + (at + i) * PAGE_SIZE, FAULT_FLAG_WRITE, &err) = first + i;
}

static u64 first_word(struct mm_struct *mm, unsigned long at)
{
	int err;
	u64 *p = user_touch(mm, BASE + at * PAGE_SIZE, 0, &err);

	assert_non_null(p);
	return *p;
}

static long remap_fixed(struct mm_struct *mm, long from, long old, long new, long to)
{
	return do_mremap(mm, BASE + from * PAGE_SIZE, old * PAGE_SIZE, new *PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
			 BASE + to * PAGE_SIZE);
}

static long remap_page(struct mm_struct *mm, unsigned long pages, unsigned flags, unsigned long to)
{
	return do_mremap(mm, BASE, PAGE_SIZE, pages * PAGE_SIZE, flags, to);
}

/*
 * Everything that must be refused (overlaps, odd places, the zero page) changes nothing. Then a mapping moves over
 * another one: its pages arrive, the old place faults, the pages that lay there are given back, and the neighbours
 * stay.
 */
static void test_mremap_fixed(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned long free_before;

	map_numbered(mm, 0, 8, 100);
	map_numbered(mm, 20, 4, 200);
	free_before = nr_free_pages();
	/* Refused: overlaps, a place that is no page, no MAYMOVE, beyond the top, nothing mapped. Nothing changes. */
	assert_int_equal(remap_fixed(mm, 0, 4, 4, 3), -EINVAL);
	assert_int_equal(remap_fixed(mm, 4, 4, 6, 0), -EINVAL);
	assert_int_equal(remap_page(mm, 1, MREMAP_MAYMOVE | MREMAP_FIXED, BASE + 20 * PAGE_SIZE + 8), -EINVAL);
	assert_int_equal(remap_page(mm, 1, MREMAP_FIXED, BASE + 20 * PAGE_SIZE), -EINVAL);
	assert_int_equal(remap_page(mm, 1, MREMAP_MAYMOVE | MREMAP_FIXED, TASK_SIZE), -EINVAL);
	assert_int_equal(remap_page(mm, 1, MREMAP_MAYMOVE | MREMAP_FIXED, 0), -EPERM); /* NULL must fault */
	assert_int_equal(remap_page(mm, 1, MREMAP_MAYMOVE | MREMAP_FIXED, MMAP_MIN_ADDR - PAGE_SIZE), -EPERM);
	assert_int_equal(remap_page(mm, 2, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0), -EINVAL);
	assert_int_equal(remap_page(mm, 1, MREMAP_DONTUNMAP, 0), -EINVAL);
	assert_int_equal(remap_fixed(mm, 8, 1, 1, 20), -EFAULT);
	assert_int_equal(first_word(mm, 20), 200);
	assert_int_equal(mm->total_vm, 12);
	/* Over another mapping, smaller: the tail goes, and so does what lay there. */
	assert_int_equal(remap_fixed(mm, 4, 4, 2, 21), BASE + 21 * PAGE_SIZE);
	for (unsigned at = 4; at < 8; at++)
		assert_int_equal(touch_err(mm, BASE + at * PAGE_SIZE, 0), -EFAULT);
	assert_int_equal(first_word(mm, 20), 200);
	assert_int_equal(first_word(mm, 21), 104);
	assert_int_equal(first_word(mm, 22), 105);
	assert_int_equal(first_word(mm, 23), 203);
	assert_int_equal(mm->total_vm, 8);
	assert_int_equal(nr_free_pages(), free_before + 4);
	/* Within one area, which it cuts in two; and longer. */
	assert_int_equal(remap_fixed(mm, 0, 1, 2, 2), BASE + 2 * PAGE_SIZE);
	assert_int_equal(touch_err(mm, BASE, 0), -EFAULT);
	assert_int_equal(first_word(mm, 1), 101);
	assert_int_equal(first_word(mm, 2), 100);
	assert_int_equal(first_word(mm, 3), 0);
	mmput(mm);
}

/* The pages move, and the old place stays mapped with zeros; its neighbours keep their contents. */
static void test_mremap_dontunmap(void **state)
{
	struct mm_struct *mm = mm_alloc();
	int err;
	long at;

	map_numbered(mm, 0, 4, 100);
	at = do_mremap(mm, BASE + PAGE_SIZE, 2 * PAGE_SIZE, 2 * PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0);
	assert_true(at > 0);
	assert_int_equal(*(u64 *)user_touch(mm, at, 0, &err), 101);
	assert_int_equal(*(u64 *)user_touch(mm, at + PAGE_SIZE, 0, &err), 102);
	assert_int_equal(first_word(mm, 0), 100);
	assert_int_equal(first_word(mm, 1), 0);
	assert_int_equal(first_word(mm, 2), 0);
	assert_int_equal(first_word(mm, 3), 103);
	assert_int_equal(mm->total_vm, 6);
	mmput(mm);
}

/* The first area is what counts: the tail may lie in others, which go, and in none. */
static void test_mremap_shrinks_across_areas(void **state)
{
	struct mm_struct *mm = mm_alloc();

	map_numbered(mm, 0, 2, 100);
	map_numbered(mm, 3, 2, 200);
	do_mprotect(mm, BASE + PAGE_SIZE, PAGE_SIZE, PROT_READ);
	assert_int_equal(do_mremap(mm, BASE, 4 * PAGE_SIZE, 4 * PAGE_SIZE, 0, 0), BASE);
	assert_int_equal(mm->total_vm, 4);
	assert_int_equal(do_mremap(mm, BASE, 4 * PAGE_SIZE, 5 * PAGE_SIZE, MREMAP_MAYMOVE, 0), -EFAULT);
	assert_int_equal(do_mremap(mm, BASE, TASK_SIZE, PAGE_SIZE, 0, 0), -EINVAL);
	assert_int_equal(do_mremap(mm, BASE + 2 * PAGE_SIZE, 2 * PAGE_SIZE, PAGE_SIZE, 0, 0), -EFAULT);
	assert_int_equal(mm->total_vm, 4);
	assert_int_equal(do_mremap(mm, BASE, 4 * PAGE_SIZE, PAGE_SIZE, 0, 0), BASE);
	assert_int_equal(mm->total_vm, 2);
	assert_int_equal(first_word(mm, 0), 100);
	assert_int_equal(touch_err(mm, BASE + PAGE_SIZE, 0), -EFAULT);
	assert_int_equal(touch_err(mm, BASE + 3 * PAGE_SIZE, 0), -EFAULT);
	assert_int_equal(first_word(mm, 4), 201);
	mmput(mm);
}

static unsigned lifted;
static unsigned long lifted_start, lifted_end;
static void note_before_move(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	lifted++;
	lifted_start = start;
	lifted_end = end;
	for (unsigned long va = start; va < end; va += PAGE_SIZE)
		assert_true(pte_present(*pte_lookup(mm->pgd, va)));
}

/* Breakpoints are taken out of the pages before these move, of exactly those, and only when pages move. */
static void test_mremap_lifts_breakpoints_first(void **state)
{
	struct mm_struct *mm = mm_alloc();

	map_numbered(mm, 0, 4, 100);
	lifted = 0;
	host_before_move = note_before_move;
	assert_int_equal(remap_fixed(mm, 1, 2, 2, 20), BASE + 20 * PAGE_SIZE);
	assert_int_equal(lifted, 1);
	assert_int_equal(lifted_start, BASE + PAGE_SIZE);
	assert_int_equal(lifted_end, BASE + 3 * PAGE_SIZE);
	assert_int_equal(first_word(mm, 20), 101);
	assert_int_equal(do_mremap(mm, BASE + 20 * PAGE_SIZE, 2 * PAGE_SIZE, 3 * PAGE_SIZE, 0, 0),
			 BASE + 20 * PAGE_SIZE);
	assert_int_equal(lifted, 1); /* it has grown where it is */
	host_before_move = NULL;
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
		cmocka_unit_test(test_mremap_fixed),
		cmocka_unit_test(test_mremap_shrinks_across_areas),
		cmocka_unit_test(test_mremap_dontunmap),
		cmocka_unit_test(test_mremap_lifts_breakpoints_first),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
