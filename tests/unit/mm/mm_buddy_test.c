/*
 * The page allocator: blocks never overlap, merge back to the initial state, are counted exactly; misuse is reported.
 * Memory is an array of the host that is full of 0xa5 at first (host_kernel.h); the test has a byte for each page that
 * says whether it is given out.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>

#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/mm/pages/memblock.c"
#include "../../../kernel/mm/pages/page_alloc.c"
#include "../../../kernel/mm/pages/page_pcp.c"
#include "../../../kernel/mm/pages/page_init.c"
#include "../../../kernel/mm/pages/page_report.c"

/* Memory that is full stays so: no process can be killed. */
bool out_of_memory(gfp_t gfp, unsigned order)
{
	return false;
}
bool current_is_dying(void)
{
	return false;
}

#define MIB  32
#define HOLE 37

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	strncpy(dst, src, size - 1);
	return 0;
}

/* One byte a frame: whose it is in our own books. */
static u8 owner[MIB << 8];
static unsigned long initial_free[MAX_ORDER + 1], initial_pages;

static u8 *owner_of(struct page *page)
{
	return &owner[page_to_pfn(page) - (HOST_RAM_PHYS >> PAGE_SHIFT)];
}

static void claim(struct page *page, unsigned order)
{
	assert_true(IS_ALIGNED(page_to_pfn(page), 1UL << order));
	for (unsigned long i = 0; i < 1UL << order; i++) {
		assert_int_equal(owner_of(page)[i], 0);
		owner_of(page)[i] = 1;
	}
}

static void unclaim(struct page *page, unsigned order)
{
	memset(owner_of(page), 0, 1UL << order);
}

static void check_initial_state(void)
{
	on_each_cpu(drain_this_cpu, NULL, true);
	assert_memory_equal(zone.nr_free, initial_free, sizeof(initial_free));
	assert_int_equal(nr_free_pages(), initial_pages);
	assert_false(host_irqs_off);
}

/* Everything in the free lists is marked so, whole, counted, and no two buddies were left apart. */
static void check_free_lists(void)
{
	unsigned long pages = 0;

	for (unsigned order = 0; order <= MAX_ORDER; order++) {
		unsigned long n = 0;
		struct page *page;

		list_for_each_entry(page, &zone.free_list[order], lru) {
			assert_int_equal(page->flags, PG_BUDDY);
			assert_int_equal(page->order, order);
			assert_true(order == MAX_ORDER || !find_buddy(page_to_pfn(page), order));
			n++;
		}
		assert_int_equal(n, zone.nr_free[order]);
		pages += n << order;
	}
	assert_int_equal(pages, zone.free_pages);
}

static void test_boot_gives_all_that_is_free(void **state)
{
	struct page *hole = phys_to_page(HOST_RAM_PHYS + (5 << 20));

	/* Taken: 4 pages for the kernel (0x3456 bytes), the hole, and mem_map. */
	unsigned long taken = 4 + HOLE + DIV_ROUND_UP((MIB << 8) * sizeof(struct page), PAGE_SIZE);

	assert_in_range(totalram_pages(), (MIB << 8) - taken - 1, (MIB << 8) - taken);
	assert_int_equal(totalram_pages(), initial_pages);
	for (unsigned i = 0; i < HOLE; i++)
		assert_int_equal(hole[i].flags, PG_RESERVED);
	check_free_lists();
}

/*
 * Blocks of all orders are allocated and freed at random on four CPUs: no page may be given out twice, each block lies
 * at a multiple of its size, and the free lists agree with their counts. In the end all blocks have merged to what
 * there was at boot.
 */
static void test_random_blocks_never_overlap(void **state)
{
	static struct {
		struct page *page;
		unsigned order;
	} held[600];

	for (int round = 0; round < 200000; round++) {
		unsigned i = host_random() % ARRAY_SIZE(held);

		host_task.cpu = host_random() % nr_cpu_ids;
		if (held[i].page) {
			unclaim(held[i].page, held[i].order);
			__free_pages(held[i].page, held[i].order);
			held[i].page = NULL;
		} else {
			unsigned order = host_random() % 3 ? 0 : host_random() % (MAX_ORDER + 1);

			held[i].page = alloc_pages(GFP_KERNEL | __GFP_NOWARN, order);
			held[i].order = order;
			if (held[i].page)
				claim(held[i].page, order);
		}
		if (round % 5000 == 0)
			check_free_lists();
	}
	for (unsigned i = 0; i < ARRAY_SIZE(held); i++)
		if (held[i].page)
			__free_pages(held[i].page, held[i].order);
	memset(owner, 0, sizeof(owner));
	check_initial_state();
}

/*
 * All pages are taken, one by one, also those that another CPU keeps for itself; only then does an allocation fail,
 * with a message. When they come back, the memory is whole again.
 */
static void test_exhaustion_and_recovery(void **state)
{
	static struct page *all[MIB << 8];
	unsigned long n = 0;

	/* Some pages wait in another CPU's list: they must be found before the allocation fails. */
	host_task.cpu = 3;
	put_page(alloc_page(GFP_KERNEL));
	host_task.cpu = 0;
	host_log_clear();
	while ((all[n] = alloc_page(GFP_KERNEL))) {
		claim(all[n++], 0);
		assert_int_equal(nr_free_pages(), initial_pages - n);
	}
	assert_int_equal(n, initial_pages);
	assert_true(host_logged("page allocation failure: order:0"));
	assert_null(alloc_pages(GFP_KERNEL | __GFP_NOWARN, 3));
	while (n) {
		unclaim(all[--n], 0);
		put_page(all[n]);
	}
	check_initial_state();
}

/* A CPU keeps a bounded number of pages for itself, whatever it frees, and others can have the rest at once.
 */
static void test_a_cpu_keeps_few(void **state)
{
	static struct page *pages[1000];

	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = alloc_page(GFP_KERNEL);
	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
		__free_pages(pages[i], 0);
		assert_true(this_pcp()->count <= PCP_HIGH);
	}
	assert_true(this_pcp()->count >= PCP_HIGH - PCP_BATCH);
	check_initial_state();
}

/*
 * Pages that are freed with zeroes in them serve __GFP_ZERO as they are (a byte that is written behind the allocator's
 * back is still there), the last one first, and nothing else while other pages are here. The CPU keeps a bounded number
 * of them, and all are found when memory runs out or is counted.
 */
static void test_zeroed_pages(void **state)
{
	static u8 *pages[2 * PCP_HIGH];
	u8 *other;

	for (unsigned i = 0; i < 2; i++) {
		pages[i] = get_zeroed_page(GFP_KERNEL);
		free_zeroed_page(pages[i]);
	}
	assert_ptr_equal(pages[1], pages[0]);
	assert_int_equal(nr_free_pages(), initial_pages);
	pages[0][PAGE_SIZE - 1] = 1;
	other = get_free_page(GFP_KERNEL);
	assert_ptr_not_equal(other, pages[0]);
	assert_ptr_equal(get_zeroed_page(GFP_KERNEL), pages[0]);
	assert_int_equal(pages[0][PAGE_SIZE - 1], 1);
	memset(other, 0xa5, PAGE_SIZE);
	free_page(other);
	assert_ptr_equal(get_zeroed_page(GFP_KERNEL), other);
	assert_int_equal(other[0] | other[PAGE_SIZE - 1], 0);
	free_page(other);
	free_page(pages[0]);
	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = get_zeroed_page(GFP_KERNEL);
	for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
		free_zeroed_page(pages[i]);
		assert_true(this_pcp()->nr_zeroed <= PCP_ZEROED && this_pcp()->count <= PCP_HIGH);
	}
	assert_int_equal(this_pcp()->nr_zeroed, PCP_ZEROED);
	other = get_free_pages(GFP_KERNEL | __GFP_ZERO, 1);
	assert_int_equal(nr_free_pages(), initial_pages - 2);
	free_pages(other, 1);
	check_initial_state();
	assert_int_equal(this_pcp()->nr_zeroed, 0);
	assert_null(this_pcp()->zeroed);
	free_zeroed_page(get_zeroed_page(GFP_KERNEL));
	test_exhaustion_and_recovery(state);
}

static void test_contents_and_references(void **state)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_ZERO, 2);

	for (unsigned i = 0; i < 4 * PAGE_SIZE; i++)
		assert_int_equal(((u8 *)page_to_virt(page))[i], 0);
	get_page(page);
	put_page(page);
	assert_int_equal(atomic_read(&page->refcount), 1);
	put_page(page);
	assert_null(alloc_pages(GFP_KERNEL, MAX_ORDER + 1));
	free_page(NULL);
	check_initial_state();
}

static void expect_report(const char *reason)
{
	assert_true(host_logged("BUG: Bad page state in process test"));
	assert_true(host_logged(reason));
	host_log_clear();
}

/*
 * A page freed twice, a part of a block, a wrong order, a page that is still mapped or reserved: each must be named in
 * the log and leave the free lists as they are, since a list that holds such a page would give it out twice.
 */
static void test_misuse_is_reported_and_changes_nothing(void **state)
{
	struct page *page = alloc_page(GFP_KERNEL), *block = alloc_pages(GFP_KERNEL, 3);

	host_log_clear();
	put_page(page);
	put_page(page);
	expect_report("freed twice");
	__free_pages(block + 2, 0);
	expect_report("freed twice");
	__free_pages(block, 2);
	expect_report("another order");
	atomic_set(&block->refcount, 1);
	atomic_set(&block->mapcount, 1);
	put_page(block);
	expect_report("nonzero mapcount");
	atomic_set(&block->mapcount, 0);
	atomic_set(&block->refcount, 1);
	put_page(block);
	block = phys_to_page(HOST_RAM_PHYS + (5 << 20));
	atomic_set(&block->refcount, 1);
	put_page(block);
	expect_report("reserved");
	check_initial_state();
}

/*
 * A free page that somebody still holds a reference to must not be given out: the next one is, and the log says so.
 */
static void test_corrupt_free_page_is_passed_over(void **state)
{
	struct page *page = alloc_page(GFP_KERNEL), *other;

	put_page(page);
	atomic_set(&page->refcount, 5); /* somebody uses it after free, and it is next in line */
	host_log_clear();
	other = alloc_page(GFP_KERNEL);
	assert_ptr_not_equal(page, other);
	expect_report("not free when allocated");
	put_page(other);
	atomic_set(&page->refcount, 1);
	page->flags = 0;
	put_page(page);
	check_initial_state();
}

static void test_buddyinfo_text(void **state)
{
	char want[256];
	int n = sprintf(want, "Node 0, zone   Normal ");

	for (unsigned order = 0; order <= MAX_ORDER; order++)
		n += sprintf(want + n, "%6lu ", zone.nr_free[order]);
	sprintf(want + n, "\n");
	host_text_used = 0;
	assert_int_equal(buddyinfo_show(NULL), 0);
	assert_string_equal(host_text, want);
}

static void test_reserved_memory_is_given_back(void **state)
{
	phys_addr_t hole = HOST_RAM_PHYS + (5 << 20);

	host_log_clear();
	free_reserved_area(hole, hole + (HOLE + 3) * PAGE_SIZE);
	assert_true(host_logged("not reserved"));
	assert_int_equal(nr_free_pages(), initial_pages);
	free_reserved_area(hole + 1, hole + HOLE * PAGE_SIZE);
	assert_int_equal(nr_free_pages(), initial_pages + HOLE - 1);
	check_free_lists();
}

static int boot(void **state)
{
	host_boot(MIB, HOLE);
	memcpy(initial_free, zone.nr_free, sizeof(initial_free));
	initial_pages = nr_free_pages();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boot_gives_all_that_is_free),
		cmocka_unit_test(test_random_blocks_never_overlap),
		cmocka_unit_test(test_exhaustion_and_recovery),
		cmocka_unit_test(test_a_cpu_keeps_few),
		cmocka_unit_test(test_zeroed_pages),
		cmocka_unit_test(test_contents_and_references),
		cmocka_unit_test(test_misuse_is_reported_and_changes_nothing),
		cmocka_unit_test(test_corrupt_free_page_is_passed_over),
		cmocka_unit_test(test_buddyinfo_text),
		cmocka_unit_test(test_reserved_memory_is_given_back),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
