/*
 * A file that is cut while a fork is under way: the task that cuts it must also come to the child, as soon as it can.
 * The cut is made at the moment at which fork lets go of the parent's lock, when the child has its entries and is in
 * the list of address spaces behind the parent.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_user_mm.h>

#define FILE_PAGES 4
#include <host_file.h>

#define BASE 0x10000000UL

static struct mm_struct *forking;

/* Another task that has waited for the parent's lock cuts the file. The child stands in the list behind the parent. */
static void cut_the_file(struct mutex *m)
{
	if (m != &forking->mmap_lock)
		return;
	host_mutex_unlocked = NULL;
	file_end = 1;
	unmap_mapping_pages(&file_inode, 1);
}

/*
 * Afterwards neither parent nor child has an entry for a page that the file no longer has, and no reference to one is
 * left. Otherwise the child would read, and write, a page that belongs to another file by then.
 */
static void test_file_cut_during_fork(void **state)
{
	struct mm_struct *child;

	forking = mm_alloc();
	do_mmap(forking, &test_file, BASE, FILE_PAGES * PAGE_SIZE, 3, MAP_SHARED | MAP_FIXED, 0);
	for (unsigned i = 0; i < FILE_PAGES; i++)
		assert_int_equal(touch_err(forking, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE), 0);
	assert_int_equal(atomic_read(&forking->rss_file), FILE_PAGES);
	host_mutex_unlocked = cut_the_file;
	child = dup_mm(forking);
	assert_null(host_mutex_unlocked);
	assert_int_equal(atomic_read(&forking->rss_file), 1);
	assert_int_equal(atomic_read(&child->rss_file), 1);
	assert_int_equal(touch_err(child, BASE, 0), 0);
	assert_int_equal(touch_err(child, BASE + PAGE_SIZE, 0), -EIO);
	mmput(child);
	mmput(forking);
	for (unsigned i = 0; i < FILE_PAGES; i++)
		assert_int_equal(atomic_read(&file_pages[i]->refcount), 1);
}

static int boot(void **state)
{
	host_boot(32, 3);
	kmem_cache_init();
	mm_init();
	for (unsigned i = 0; i < FILE_PAGES; i++)
		file_pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return 0;
}

int main(void)
{
	init_limits();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_cut_during_fork),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
