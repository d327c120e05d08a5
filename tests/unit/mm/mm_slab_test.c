/*
 * Slab caches and kmalloc: objects never overlap, construction, accounting, and what slab_debug finds. The page
 * allocator below them is the real one, over an array of the host. Each object is filled with a mark when it is
 * allocated, and must still have it when it is freed. The same tests run a second time with slab_debug, which adds
 * redzones, poison and owners.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include "mm_slab_host.h"

#define NR 2000
static struct {
	u8 *p;
	unsigned size;
	u8 mark;
} held[NR];

static void put(unsigned i)
{
	for (unsigned at = 0; at < held[i].size; at++)
		if (held[i].p[at] != held[i].mark)
			fail_msg("object %u of %u bytes was written at %u", i, held[i].size, at);
	held[i].mark = 0;
}

static void got(unsigned i, void *p, unsigned size)
{
	assert_non_null(p);
	held[i].p = p;
	held[i].size = size;
	held[i].mark = 1 + host_random() % 255;
	memset(p, held[i].mark, size);
}

/*
 * Objects of all sizes come and go on four CPUs. Each must be aligned and as large as asked for, and its mark must
 * stay.
 */
static void random_sizes(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		unsigned i = host_random() % NR;

		host_task.cpu = host_random() % nr_cpu_ids;
		if (held[i].mark) {
			put(i);
			kfree(held[i].p);
		} else {
			unsigned size = 1 + host_random() % (1U << (3 + host_random() % 13));
			u8 *p = kmalloc(size, GFP_KERNEL);

			assert_true(ksize(p) >= size);
			assert_true(IS_ALIGNED((unsigned long)p, 8));
			got(i, p, size);
		}
		assert_false(host_irqs_off);
	}
	for (unsigned i = 0; i < NR; i++)
		if (held[i].mark) {
			put(i);
			kfree(held[i].p);
		}
}

static void test_random_sizes(void **state)
{
	random_sizes(300000);
	check_all_free();
}

/*
 * Each size gets the smallest class that is large enough, so that at most half of an object is lost; powers of two are
 * aligned to themselves, as users of kmalloc rely on.
 */
static void test_size_classes(void **state)
{
	for (size_t size = 1; size <= 8192; size++) {
		struct kmem_cache *s = kmalloc_slab(size);

		assert_true(s->object_size >= size);
		assert_true(size <= 8 || s->object_size < 2 * size || size == 1);
	}
	for (size_t size = 8; size <= 8192; size *= 2) {
		void *p = kmalloc(size, GFP_KERNEL);

		assert_true(IS_ALIGNED((unsigned long)p, min(size, PAGE_SIZE)));
		assert_int_equal(ksize(p), size);
		kfree(p);
	}
}

/* At least eight objects lie in a slab of so many pages, and at most an eighth of it is lost. */
static bool good_order(unsigned size, unsigned order)
{
	return (PAGE_SIZE << order) / size >= 8 && (PAGE_SIZE << order) % size <= (PAGE_SIZE << order) / 8;
}

/* A slab is the smallest good one of at most eight pages; one of eight if there is no good one; or holds one object. */
static void test_slab_orders(void **state)
{
	for (unsigned size = 8; size <= 16 * PAGE_SIZE; size += 8) {
		unsigned order = calculate_order(size);

		for (unsigned smaller = 0; smaller < min(order, 3u); smaller++)
			assert_false(good_order(size, smaller));
		assert_true(order >= 3 || good_order(size, order));
		assert_true(size <= PAGE_SIZE << order && (order <= 3 || size > PAGE_SIZE << (order - 1)));
	}
}

/* What is asked for zeroed is zeros to its last byte, whatever it was used for before. */
static void test_zeroed(void **state)
{
	for (size_t size = 8; size <= 8192; size *= 2) {
		u8 *p = kmalloc(size, GFP_KERNEL);

		memset(p, 0xff, size);
		kfree(p);
		p = kzalloc(size, GFP_KERNEL);
		for (size_t at = 0; at < size; at++)
			if (p[at])
				fail_msg("%zu bytes of zeros: %02x at %zu", size, p[at], at);
		kfree(p);
	}
	check_all_free();
}

/*
 * What the classes do not have: whole pages for large sizes, products that overflow, a size of 0, and krealloc()
 * through all of these. All the pages must come back.
 */
static void test_large_and_odd_sizes(void **state)
{
	unsigned long before;
	u8 *p;

	drain_all_pages();
	before = nr_free_pages();
	p = kzalloc(2 << 20, GFP_KERNEL);
	assert_int_equal(ksize(p), 2 << 20);
	for (unsigned i = 0; i < 2 << 20; i += 512)
		assert_int_equal(p[i], 0);
	kfree(p);
	assert_int_equal(nr_free_pages(), before);
	assert_null(kmalloc((2 << 20) + 1, GFP_KERNEL));
	assert_null(kcalloc(1UL << 40, 1UL << 40, GFP_KERNEL));
	p = kmalloc(0, GFP_KERNEL);
	assert_non_null(p);
	p = krealloc(p, 100, GFP_KERNEL);
	memset(p, 7, 100);
	p = krealloc(p, 30000, GFP_KERNEL);
	assert_int_equal(p[99], 7);
	assert_null(krealloc(p, 0, GFP_KERNEL));
	kfree(NULL);
	check_all_free();
}

static unsigned constructed;
static void construct(void *p)
{
	memset(p, 0x33, 40);
	constructed++;
}

/*
 * The constructor runs when a slab is made, not at each allocation, and what it has written is there each time that an
 * object is given out.
 */
static void test_constructor_runs_once_for_each_object(void **state)
{
	struct kmem_cache *s = kmem_cache_create("ctor", 40, 0, 0, construct);
	u8 *p[300];

	for (int round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 300; i++) {
			p[i] = kmem_cache_alloc(s, GFP_KERNEL);
			for (unsigned at = 0; at < 40; at++)
				assert_int_equal(p[i][at], 0x33);
		}
		assert_int_equal(constructed, s->nr_objects);
		for (unsigned i = 0; i < 300; i++)
			kmem_cache_free(s, p[i]);
		constructed = s->nr_objects;
	}
	kmem_cache_destroy(s);
	constructed = 0;
}

/* The objects of a CPU that goes away are taken under slab_mutex; so must be those of a cache that goes. */
static const spinlock_t *lock_of_dying_cache;
static void under_slab_mutex(spinlock_t *l)
{
	if (l == lock_of_dying_cache)
		assert_int_not_equal(slab_mutex.owner, 0);
}

/*
 * A cache with an object in use is not destroyed, and the log says so; without one all its pages go back, those that
 * other CPUs keep, too.
 */
static void test_destroy_returns_the_memory(void **state)
{
	unsigned long before;
	struct kmem_cache *s;
	void *p[500];

	kmem_cache_destroy(kmem_cache_create("warm", 24, 0, 0, NULL));
	before = nr_free_pages();
	s = kmem_cache_create("short-lived", 700, 64, 0, NULL);
	for (unsigned i = 0; i < 500; i++) {
		host_task.cpu = i % 4;
		p[i] = kmem_cache_zalloc(s, GFP_KERNEL);
		assert_true(IS_ALIGNED((unsigned long)p[i], 64));
	}
	host_log_clear();
	for (unsigned i = 1; i < 500; i++)
		kmem_cache_free(s, p[i]);
	kmem_cache_destroy(s);
	assert_true(host_logged("objects remaining"));
	kmem_cache_free(s, p[0]);
	lock_of_dying_cache = &s->lock;
	host_spin_locking = under_slab_mutex;
	kmem_cache_destroy(s);
	host_spin_locking = NULL;
	assert_int_equal(nr_free_pages(), before);
}

/*
 * Objects until no memory is left: the last one is NULL with a message, and afterwards everything can be given back.
 */
static void test_out_of_memory_fails_and_recovers(void **state)
{
	static void *p[70000];
	struct kmem_cache *s = kmem_cache_create("greedy", 1024, 0, 0, NULL);
	unsigned n = 0;

	host_log_clear();
	while ((p[n] = kmem_cache_alloc(s, GFP_KERNEL)))
		n++;
	assert_true(n * 2048UL > 25 << 20);
	assert_true(host_logged("unable to allocate memory, cache greedy"));
	while (n)
		kmem_cache_free(s, p[--n]);
	kmem_cache_destroy(s);
	check_all_free();
}

/*
 * Every second page is free and no two are side by side: objects come from slabs of a page, which know their size, and
 * no message is printed. With the pages back slabs are as large as before. /proc/slabinfo counts both kinds.
 */
static void test_memory_in_pieces(void **state)
{
	static struct page *pages[70000];
	struct kmem_cache *s = kmem_cache_create("pieces", 1500, 0, 0, NULL);
	unsigned n = 0, got = 0, large;
	void *p[100];

	host_log_clear();
	while ((pages[n] = alloc_page(GFP_KERNEL | __GFP_NOWARN)))
		n++;
	for (unsigned i = 0; i < n; i++)
		if (page_to_pfn(pages[i]) % 2)
			put_page(pages[i]);
	for (; got < 50; got++)
		p[got] = kmem_cache_alloc(s, GFP_KERNEL);
	for (unsigned i = 0; i < got; i++) {
		assert_non_null(p[i]);
		assert_int_equal(slab_page(p[i])->order, get_order(s->size));
		assert_int_equal(slab_page(p[i])->objects, PAGE_SIZE / s->size);
	}
	assert_int_equal(s->nr_objects, s->nr_slabs * (PAGE_SIZE / s->size));
	large = s->nr_slabs;
	for (unsigned i = 0; i < n; i++)
		if (page_to_pfn(pages[i]) % 2 == 0)
			put_page(pages[i]);
	for (; got < 100; got++)
		p[got] = kmem_cache_alloc(s, GFP_KERNEL);
	assert_int_equal(slab_page(p[99])->order, s->order);
	assert_int_equal(s->nr_objects, large * (PAGE_SIZE / s->size) + (s->nr_slabs - large) * s->objects);
	assert_false(host_logged("failure") || host_logged("unable"));
	while (got)
		kmem_cache_free(s, p[--got]);
	kmem_cache_destroy(s);
	check_all_free();
}

/*
 * The line of /proc/slabinfo for a cache with one object in use and one that this CPU keeps for itself, which counts
 * as free.
 */
static void test_slabinfo_text(void **state)
{
	struct kmem_cache *s = kmem_cache_create("shown", 200, 0, 0, NULL);
	void *a = kmem_cache_alloc(s, GFP_KERNEL), *b = kmem_cache_alloc(s, GFP_KERNEL);
	char want[200];

	kmem_cache_free(s, b);
	host_text_used = 0;
	assert_int_equal(slabinfo_show(NULL), 0);
	assert_memory_equal(host_text, "slabinfo - version: 2.1\n# name            <active_objs>", 52);
	sprintf(want, "\nshown                  1 %6u    200 %4u %4u : tunables ", s->objects, s->objects,
		1U << s->order);
	if (!(s->flags & SLAB_DEBUG))
		assert_non_null(strstr(host_text, want));
	kmem_cache_free(s, a);
	kmem_cache_destroy(s);
}

static void test_plain_misuse(void **state)
{
	void *p = kmalloc(64, GFP_KERNEL);

	host_log_clear();
	kfree(p);
	kfree(p);
	assert_true(host_logged("BUG kmalloc-64: Object already free"));
	kfree(page_to_virt(mem_map + 20) + 8);
	assert_true(host_logged("which kmalloc did not return"));
	check_all_free();
}

/* ---- The same caches with slab_debug. */

static void expect_bug(const char *text)
{
	if (!host_logged(text))
		fail_msg("no '%s' in: %s", text, host_log);
	host_log_clear();
}

/* How often the log says this. */
static unsigned times_logged(const char *text)
{
	unsigned n = 0;

	for (const char *at = host_log; (at = strstr(at, text)); at++)
		n++;
	return n;
}

static void test_debug_random_sizes(void **state)
{
	host_log_clear();
	random_sizes(60000);
	check_all_free();
	assert_string_equal(host_log, "");
}

static void test_debug_finds_overruns(void **state)
{
	u8 *p = kmalloc(64, GFP_KERNEL);

	host_log_clear();
	p[64] = 1;
	kfree(p);
	expect_bug("BUG kmalloc-64: Right Redzone overwritten");
	p = kmalloc(96, GFP_KERNEL);
	p[-1] = 1;
	kfree(p);
	expect_bug("BUG kmalloc-96: Left Redzone overwritten");
	assert_string_equal(host_log, "");
	check_all_free();
}

/* Each byte of both redzones, from the first to the last, while the object is allocated and while it is free.
 */
static void check_redzones_of(unsigned size)
{
	struct kmem_cache *s = kmem_cache_create("edges", size, 0, 0, NULL);
	char offset[40];

	assert_true(s->left >= 8 && s->right_end >= size + 8);
	for (int at = -(int)s->left; at < (int)s->right_end; at++) {
		u8 *p = kmem_cache_alloc(s, GFP_KERNEL);

		if (at >= 0 && at < size)
			at = size;
		host_log_clear();
		sprintf(offset, "wrong byte 0x01 at offset %d,", at);
		p[at] = 1;
		kmem_cache_free(s, p);
		if (!host_logged(at < 0 ? "BUG edges: Left Redzone" : "BUG edges: Right Redzone") ||
		    !host_logged(offset))
			fail_msg("%u bytes: a write at %d is not told of: %s", size, at, host_log);
		p[at] = 1;
		host_log_clear();
		assert_ptr_equal(kmem_cache_alloc(s, GFP_KERNEL), p);
		if (!host_logged("BUG edges: Redzone overwritten while free") || !host_logged(offset))
			fail_msg("%u bytes: a write at %d while it is free is not told of: %s", size, at, host_log);
		host_log_clear();
		kmem_cache_free(s, p);
		assert_string_equal(host_log, "");
	}
	kmem_cache_destroy(s);
}

/* Each byte of a free object. */
static void check_poison_of(unsigned size)
{
	struct kmem_cache *s = kmem_cache_create("edges", size, 0, 0, NULL);
	char offset[40];

	for (unsigned at = 0; at < size; at++) {
		u8 *p = kmem_cache_alloc(s, GFP_KERNEL);

		kmem_cache_free(s, p);
		host_log_clear();
		p[at] = 1;
		assert_ptr_equal(kmem_cache_alloc(s, GFP_KERNEL), p);
		sprintf(offset, "wrong byte 0x01 at offset %u,", at);
		if (!host_logged("BUG edges: Poison overwritten") || !host_logged(offset))
			fail_msg("%u bytes: a write at %u while it is free is not told of: %s", size, at, host_log);
		kmem_cache_free(s, p);
	}
	kmem_cache_destroy(s);
}

static void test_debug_finds_every_byte(void **state)
{
	static const unsigned sizes[] = {8, 13, 16, 57, 64, 100, 512};

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_redzones_of(sizes[i]);
		check_poison_of(sizes[i]);
	}
	host_log_clear();
	check_all_free();
}

/* Behind the last object of a slab is room that no object begins in. */
static void test_debug_knows_a_slabs_end(void **state)
{
	struct kmem_cache *s = kmem_cache_create("edges", 700, 0, 0, NULL);
	u8 *p = kmem_cache_alloc(s, GFP_KERNEL), *slab = page_to_virt(slab_page(p));

	assert_true((unsigned long)s->objects * s->size + s->left < PAGE_SIZE << s->order);
	host_log_clear();
	kmem_cache_free(s, slab + s->left + (unsigned long)s->objects * s->size);
	expect_bug("BUG edges: Invalid object pointer");
	kmem_cache_free(s, slab + s->left - 8);
	expect_bug("BUG edges: Invalid object pointer");
	kmem_cache_free(s, p);
	assert_string_equal(host_log, "");
	kmem_cache_destroy(s);
}

/*
 * A byte written to a free object is reported at the next allocation, with its offset and with who had the object. The
 * first, the last and the one behind the last byte are tried.
 */
static void test_debug_finds_use_after_free(void **state)
{
	u8 *p = kmalloc(128, GFP_KERNEL), *q;

	host_log_clear();
	kfree(p);
	p[17] = 9;
	q = kmalloc(128, GFP_KERNEL);
	assert_ptr_equal(p, q);
	assert_true(host_logged("first wrong byte 0x09 at offset 17"));
	assert_true(host_logged("Allocated in") && host_logged("Freed in") && host_logged("pid=42"));
	assert_int_equal(times_logged("Object  "), 4); /* lines with 16 of the first 64 bytes */
	expect_bug("BUG kmalloc-128: Poison overwritten");
	kfree(q);
	p[127] = 1;
	q = kmalloc(128, GFP_KERNEL);
	expect_bug("first wrong byte 0x01 at offset 127");
	kfree(q);
	p[128] = 0;
	q = kmalloc(128, GFP_KERNEL);
	expect_bug("Redzone overwritten while free");
	kfree(q);
	check_all_free();
}

/*
 * An object freed twice with another one in between, an address inside of an object, and an object of another cache:
 * each is named, and changes nothing.
 */
static void test_debug_finds_bad_frees(void **state)
{
	u8 *p = kmalloc(32, GFP_KERNEL), *q = kmalloc(32, GFP_KERNEL);

	host_log_clear();
	kfree(p);
	kfree(q);
	kfree(p); /* not the last one freed: only the redzones know */
	expect_bug("BUG kmalloc-32: Object already free");
	q = kmalloc(32, GFP_KERNEL);
	kfree(q + 8);
	expect_bug("Invalid object pointer");
	kmem_cache_free(&cache_of_caches, q);
	expect_bug("BUG kmem_cache: Invalid object pointer");
	kfree(q);
	check_all_free();
}

/* Caches are made with or without debugging for good: start over with all of them empty. */
static int reboot_with_debugging(void **state)
{
	assert_int_equal(set_slab_debug("x"), -EINVAL);
	assert_int_equal(set_slab_debug(""), 0);
	INIT_LIST_HEAD(&slab_caches);
	memset(&cache_of_caches, 0, sizeof(cache_of_caches));
	memset(kmalloc_caches, 0, sizeof(kmalloc_caches));
	kmem_cache_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest plain[] = {
		cmocka_unit_test(test_random_sizes),
		cmocka_unit_test(test_size_classes),
		cmocka_unit_test(test_slab_orders),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_large_and_odd_sizes),
		cmocka_unit_test(test_constructor_runs_once_for_each_object),
		cmocka_unit_test(test_destroy_returns_the_memory),
		cmocka_unit_test(test_out_of_memory_fails_and_recovers),
		cmocka_unit_test(test_memory_in_pieces),
		cmocka_unit_test(test_slabinfo_text),
		cmocka_unit_test(test_plain_misuse),
	};
	const struct CMUnitTest debug[] = {
		cmocka_unit_test(test_debug_random_sizes),
		cmocka_unit_test(test_size_classes),
		cmocka_unit_test(test_zeroed),
		cmocka_unit_test(test_large_and_odd_sizes),
		cmocka_unit_test(test_constructor_runs_once_for_each_object),
		cmocka_unit_test(test_destroy_returns_the_memory),
		cmocka_unit_test(test_out_of_memory_fails_and_recovers),
		cmocka_unit_test(test_memory_in_pieces),
		cmocka_unit_test(test_debug_finds_overruns),
		cmocka_unit_test(test_debug_finds_every_byte),
		cmocka_unit_test(test_debug_knows_a_slabs_end),
		cmocka_unit_test(test_debug_finds_use_after_free),
		cmocka_unit_test(test_debug_finds_bad_frees),
	};

	return cmocka_run_group_tests(plain, boot, NULL) + cmocka_run_group_tests(debug, reboot_with_debugging, NULL);
}
