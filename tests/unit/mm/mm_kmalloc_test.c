/*
 * Around kmalloc: the sizes that its event tells, and kvmalloc, whose memory goes back to where it came from.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include "mm_slab_host.h"

/* The event kmalloc tells what was asked for and how much it takes, of objects and of whole pages. */
static void test_event_tells_sizes(void **state)
{
	for (size_t size = 0; size <= 2 << 20; size = size < 300 ? size + 1 : size * 4 / 3) {
		void *p = kmalloc_traced(size, GFP_KERNEL, 0);

		assert_ptr_equal(told.p, p);
		assert_int_equal(told.wanted, size);
		assert_int_equal(told.size, ksize(p));
		assert_in_range(told.size, size, max(2 * size, (size_t)PAGE_SIZE));
		kfree(p);
	}
	check_all_free();
}

/* Whichever allocator it came from, it goes back there; what is asked for zeroed is zeros. */
static void test_kvmalloc(void **state)
{
	u8 *p = kvzalloc(100, GFP_KERNEL);

	assert_null(vmalloced);
	assert_int_equal(p[99], 0);
	kvfree(p);
	check_all_free();
	assert_null(kvmalloc((2 << 20) + 1, GFP_KERNEL));
	vmalloc_works = true;
	p = kvmalloc((2 << 20) + 1, GFP_KERNEL);
	assert_ptr_equal(p, vmalloced);
	kvfree(p);
	assert_null(vmalloced);
	p = kvzalloc((2 << 20) + 1, GFP_KERNEL);
	assert_int_equal(p[2 << 20], 0);
	kvfree(p);
	assert_null(vmalloced);
	vmalloc_works = false;
	kvfree(NULL);
	check_all_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_tells_sizes),
		cmocka_unit_test(test_kvmalloc),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
