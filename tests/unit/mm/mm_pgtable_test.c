/*
 * Page tables of two to five levels against a model, and the linear map of memory with all kinds of borders. Physical
 * memory is a file that is mapped at the linear map's address, so tables that boot code reaches through the fixmap are
 * the same bytes. A table that is freed is filled with 0xa5, so a walk that still goes through it meets nonsense.
 */
/* sources: */
/* include: tests/unit/include-pgtable -Itests/unit/include-mm */
#define _GNU_SOURCE
#include <host_test.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../kernel/mm/pages/linear_map.c"
#include "../../../kernel/mm/pgtable.c"

#define RAM_PAGES 2048UL /* those that really exist, from physical address 0 */

unsigned host_pgdir_shift, host_user_entries;
pgd_t *swapper_pg_dir;
char *host_fixmap;
const char _text[1], __end_rodata[(HOST_RODATA_END - HOST_TEXT_PHYS)];
struct boot_info boot_info;

static int ram_file;
static struct page pages[RAM_PAGES];
static unsigned long pages_used, page_limit;

void panic(const char *fmt, ...)
{
	fprintf(stderr, "panic: %s\n", fmt);
	abort();
}

struct page *virt_to_page(const void *v)
{
	assert_true(__pa(v) >> PAGE_SHIFT < RAM_PAGES);
	return &pages[__pa(v) >> PAGE_SHIFT];
}

void *page_to_virt(const struct page *page)
{
	return __va((unsigned long)(page - pages) << PAGE_SHIFT);
}

/* Frames from the upper half: the lower is the linear map's to find its tables in. */
void *get_zeroed_page(gfp_t gfp)
{
	if (pages_used == page_limit)
		return NULL;
	for (unsigned long i = RAM_PAGES / 2; i < RAM_PAGES; i++) {
		if (pages[i].used)
			continue;
		pages[i] = (struct page){.used = true, .private = ~0UL};
		pages_used++;
		return memset(__va(i << PAGE_SHIFT), 0, PAGE_SIZE);
	}
	return NULL;
}

/* A table that is freed is empty. What was freed may hold anything from now on, so that a use of it is seen. */
void free_zeroed_page(void *page)
{
	for (unsigned i = 0; i < TABLE_ENTRIES; i++)
		assert_int_equal(((u64 *)page)[i], 0);
	assert_true(virt_to_page(page)->used);
	virt_to_page(page)->used = false;
	memset(page, 0xa5, PAGE_SIZE);
	pages_used--;
}

void set_fixmap(unsigned slot, phys_addr_t phys, pgprot_t prot)
{
	void *at = host_fixmap + slot * PAGE_SIZE;

	assert_in_range(slot, FIX_TABLES, FIX_TABLES_END - 1);
	if (prot.v)
		assert_ptr_equal(
			mmap(at, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ram_file, (off_t)phys), at);
	else
		assert_ptr_equal(mmap(at, PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), at);
}

static struct boot_region added[BOOT_MAX_REGIONS], reserved[BOOT_MAX_REGIONS];
static unsigned nr_added, nr_reserved;

void memblock_add(phys_addr_t base, u64 size)
{
	added[nr_added++] = (struct boot_region){base, size};
}
void memblock_reserve(phys_addr_t base, u64 size)
{
	reserved[nr_reserved++] = (struct boot_region){base, size};
}

/*
 * A machine with so many levels, whose user half has so many entries of the top level; no memory is described, nothing
 * is allocated.
 */
static void machine(unsigned levels, unsigned user_entries)
{
	static pgd_t top[TABLE_ENTRIES];

	host_pgdir_shift = PAGE_SHIFT + (levels - 1) * TABLE_BITS;
	host_user_entries = user_entries;
	kernel_groups = 0;
	swapper_pg_dir = memset(top, 0, sizeof(top));
	assert_true((unsigned long)top >= LINEAR_END);
	memset(pages, 0, sizeof(pages));
	pages_used = 0;
	page_limit = ~0UL;
	memset(&pool, 0, sizeof(pool));
	memset(&boot_info, 0, sizeof(boot_info));
	nr_added = nr_reserved = 0;
}

static unsigned long random_va(void)
{
	unsigned long places = 1UL << (host_pgdir_shift - PAGE_SHIFT), top = host_random() % 6;

	/* A few places, far from each other and close together: tables are shared, and are not. */
	if (top >= host_user_entries)
		top = 0;
	return (top << host_pgdir_shift) |
	       ((host_random() % 3 * (places / 3) + host_random() % 4 * 511 + host_random() % 3) % places)
		       << PAGE_SHIFT;
}

#define MODEL 256
static struct {
	unsigned long va;
	u64 v;
} model[MODEL];
static unsigned nr_model;

static u64 *model_at(unsigned long va)
{
	for (unsigned i = 0; i < nr_model; i++)
		if (model[i].va == va)
			return &model[i].v;
	return NULL;
}

/* Are the entries that a walk of [start, end) meets those of the model, ascending, each once? */
struct walk {
	unsigned long start, end, last;
	unsigned n, stop_after;
};

static int look(pte_t *slot, unsigned long va, void *arg)
{
	struct walk *w = arg;

	assert_true(va >= w->start && va < w->end && (!w->n || va > w->last));
	assert_non_null(model_at(va));
	assert_int_equal(slot->v, *model_at(va));
	w->last = va;
	return ++w->n == w->stop_after ? 77 : 0;
}

/* The runs of slots of a range ascend, stay within it and within a table, and hold every entry of the model in it. */
static void check_runs(pgd_t *pgd, unsigned long start, unsigned long end, unsigned expected)
{
	unsigned long va = start, last = start;
	unsigned n;

	for (pte_t *slot; (slot = pte_run(pgd, &va, end, &n)); last = va) {
		assert_true(n && va >= last && va + (n - 1) * PAGE_SIZE < end);
		assert_int_equal(va >> PMD_SHIFT, (va + (n - 1) * PAGE_SIZE) >> PMD_SHIFT);
		for (; n; n--, slot++, va += PAGE_SIZE) {
			assert_ptr_equal(slot, pte_lookup(pgd, va));
			expected -= slot->v && model_at(va) != NULL;
		}
	}
	assert_int_equal(expected, 0);
}

/*
 * A walk of a range meets each entry of the model in it, in order and once, and ends at once when its function says
 * so.
 */
static void check_walk(pgd_t *pgd, unsigned long a, unsigned long b)
{
	struct walk w = {.start = min(a, b), .end = max(a, b)};
	unsigned expected = 0;

	for (unsigned i = 0; i < nr_model; i++)
		expected += model[i].v && model[i].va >= w.start && model[i].va < w.end;
	assert_int_equal(pte_range(pgd, w.start, w.end, look, &w), 0);
	assert_int_equal(w.n, expected);
	check_runs(pgd, w.start, w.end, expected);
	if (!expected)
		return;
	w.n = 0;
	w.stop_after = 1 + (unsigned)host_random() % expected;
	assert_int_equal(pte_range(pgd, w.start, w.end, look, &w), 77);
	assert_int_equal(w.n, w.stop_after);
}

/*
 * An entry of the tables and of the model gets a new value, or becomes empty. An entry that is known must be found
 * again at the same place.
 */
static void change_random_entry(pgd_t *pgd)
{
	unsigned long va = nr_model == MODEL ? model[host_random() % MODEL].va : random_va();
	pte_t *slot = pte_lookup(pgd, va), v = {(host_random() << PAGE_SHIFT & PTE_ADDR_MASK) | HOST_LEAF};
	u64 *known = model_at(va);

	if (known) {
		assert_non_null(slot);
		assert_ptr_equal(pte_alloc(pgd, va), slot);
		assert_int_equal(ptep_get_and_clear(slot).v, *known);
		assert_int_equal(slot->v, 0);
	} else {
		slot = pte_alloc(pgd, va);
		assert_non_null(slot);
		assert_int_equal(slot->v, 0);
		known = &model[nr_model].v;
		model[nr_model++].va = va;
	}
	*known = host_random() % 4 ? v.v : 0;
	set_pte(slot, (pte_t){*known});
	assert_ptr_equal(pte_lookup(pgd, va), slot);
}

/* All tables but the top one, which CPUs may have loaded. */
static void free_before_the_top(pgd_t *pgd)
{
	unsigned long below = pgd_pages(pgd) - 1, used = pages_used;
	LIST_HEAD(tables);

	pgd_detach_tables(pgd, &tables);
	assert_int_equal(pgd_pages(pgd), 1);
	free_detached_tables(&tables);
	assert_int_equal(pages_used, used - below);
}

/*
 * Entries come and go at random at places near and far from each other; walks of random ranges see exactly those of
 * the model. In the end all tables are given back: a leak of one per process would be noticed only after days.
 */
static void test_user_tables(void **state)
{
	for (unsigned round = 4; round < 12; round++) {
		unsigned levels = round / 2;
		pgd_t *pgd;

		machine(levels, levels % 2 ? TABLE_ENTRIES : TABLE_ENTRIES / 2);
		nr_model = 0;
		pgd = pgd_alloc();
		for (unsigned i = 0; i < 2000; i++) {
			change_random_entry(pgd);
			check_walk(pgd, random_va(), random_va());
		}
		for (unsigned i = 0; i < nr_model; i++)
			assert_int_equal(ptep_get_and_clear(pte_lookup(pgd, model[i].va)).v, model[i].v);
		assert_int_equal(pgd_pages(pgd), pages_used);
		if (round % 2)
			free_before_the_top(pgd);
		pgd_free(pgd);
		assert_int_equal(pages_used, 0);
	}
}

/* What the kernel's top level holds is in each new one, at the same place, and outlives it. */
static void test_kernel_half(void **state)
{
	pgd_t *first, *second;

	machine(4, TABLE_ENTRIES / 2);
	swapper_pg_dir[3].v = table_entry(0x5000); /* user half: an identity map that is on its way out */
	for (unsigned i = TABLE_ENTRIES / 2; i < TABLE_ENTRIES; i += 17)
		swapper_pg_dir[i].v = table_entry(0x7000 + i * PAGE_SIZE);
	pgd_kernel_complete();
	first = pgd_alloc();
	second = pgd_alloc();
	for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
		assert_int_equal(first[i].v, i < TABLE_ENTRIES / 2 ? 0 : swapper_pg_dir[i].v);
		assert_int_equal(second[i].v, first[i].v);
	}
	assert_non_null(pte_alloc(first, 0x123456000));
	assert_int_equal(pgd_pages(first), 4);
	assert_int_equal(pgd_pages(second), 1);
	assert_null(pte_lookup(second, 0x123456000));
	pgd_free(first);
	pgd_free(second);
	assert_int_equal(pages_used, 0);
}

/* At every possible point: NULL, and what was made so far is found by pgd_free. */
static void test_out_of_memory(void **state)
{
	for (unsigned levels = 2; levels <= 5; levels++) {
		machine(levels, TABLE_ENTRIES / 2);
		swapper_pg_dir[TABLE_ENTRIES - 1].v = table_entry(0x7000);
		pgd_kernel_complete();
		for (page_limit = 0; page_limit <= levels; page_limit++) {
			pgd_t *pgd = pgd_alloc();

			assert_int_equal(!pgd, page_limit == 0);
			if (!pgd)
				continue;
			assert_int_equal(!pte_alloc(pgd, PAGE_SIZE * 7), page_limit < levels);
			pgd_free(pgd);
			assert_int_equal(pages_used, 0);
		}
	}
}

/* What the walker finds at a linear address: the leaf, with its size. */
static u64 walk_linear(unsigned long va, unsigned *leaf_shift)
{
	u64 *table = &swapper_pg_dir->v;

	for (unsigned shift = PGDIR_SHIFT;; shift -= TABLE_BITS) {
		u64 entry = table[table_index(va, shift)];

		*leaf_shift = shift;
		if (!entry_is_table(entry))
			return entry;
		assert_true(shift > PAGE_SHIFT);
		table = __va(entry & PTE_ADDR_MASK);
	}
}

static void check_linear_page(phys_addr_t pa, bool is_ram)
{
	unsigned shift;
	u64 entry = walk_linear((unsigned long)__va(pa), &shift);
	bool rodata = pa < HOST_RODATA_END && pa + PAGE_SIZE > HOST_TEXT_PHYS;

	if (!is_ram) {
		assert_int_equal(entry, 0);
		return;
	}
	assert_int_equal((entry & PTE_ADDR_MASK) | (pa & ((1UL << shift) - 1)), pa);
	assert_int_equal(entry & (HOST_LEAF | HOST_WRITE), HOST_LEAF | (rodata ? 0 : HOST_WRITE));
	assert_int_equal(shift, entry & HOST_BLOCK ? PMD_SHIFT : PAGE_SHIFT);
}

static bool in_regions(const struct boot_region *r, unsigned n, phys_addr_t pa)
{
	for (unsigned i = 0; i < n; i++)
		if (pa >= r[i].base && pa < r[i].base + r[i].size)
			return true;
	return false;
}

/* Every page around every border, and in steps all between. */
static void check_linear_map(void)
{
	for (unsigned i = 0; i < boot_info.nr_memory; i++) {
		const struct boot_region *r = &boot_info.memory[i];

		for (long j = -3; j < 3; j++) {
			phys_addr_t low = r->base + (u64)(j * (long)PAGE_SIZE), high = low + r->size;

			if ((s64)low >= 0)
				check_linear_page(low, in_regions(boot_info.memory, boot_info.nr_memory, low));
			check_linear_page(high, in_regions(boot_info.memory, boot_info.nr_memory, high));
		}
		for (phys_addr_t pa = r->base; pa < r->base + r->size; pa += (r->size >> 20) + PAGE_SIZE)
			check_linear_page(pa & PAGE_MASK, true);
	}
}

/*
 * RAM with holes, with borders that are no multiple of 2 MiB, and across a top-level entry: each page of it must be
 * mapped, to itself, writable unless it is the image's text, in blocks where possible; nothing else may be. The tables
 * lie in RAM, and on nothing that was taken.
 */
static void test_linear_map(void **state)
{
	static const struct boot_region memory[] = {
		{0, 0x9f000},
		{0x100000, 0x7f03000 - 0x100000},
		{0x40000000, 0x200000},
		{0x7fe00000, 0x40400000},
		{0x8000000000 - 0x5000, 0x208000}, /* across the border of a top-level entry */
	};
	static const struct boot_region taken[] = {{0, 0x1000}, {0x2ff000, 0x500000}, {0x9e000, 0x1000}};

	for (unsigned levels = 4; levels <= 5; levels++) {
		machine(levels, TABLE_ENTRIES / 2);
		memcpy(boot_info.memory, memory, sizeof(memory));
		memcpy(boot_info.reserved, taken, sizeof(taken));
		boot_info.nr_memory = ARRAY_SIZE(memory);
		boot_info.nr_reserved = ARRAY_SIZE(taken);
		linear_map_init();
		check_linear_map();
		assert_int_equal(nr_added, ARRAY_SIZE(memory));
		assert_memory_equal(added, memory, sizeof(memory));
		assert_int_equal(nr_reserved, ARRAY_SIZE(taken) + 1);
		assert_memory_equal(reserved, taken, sizeof(taken));
		assert_int_equal(reserved[nr_reserved - 1].base, pool.base);
		assert_true(pool.used && pool.used <= pool.max);
		/* The tables lie in RAM, on nothing that was taken. */
		for (unsigned i = 0; i < pool.used; i++) {
			phys_addr_t table = pool.base + i * PAGE_SIZE;

			assert_true(in_regions(memory, ARRAY_SIZE(memory), table));
			assert_false(in_regions(taken, ARRAY_SIZE(taken), table));
		}
	}
}

/* Groups of eight that begin anywhere, with one entry, with none, with any; never beyond the end. */
static void test_skip_empty(void **state)
{
	static pte_t slots[64] __attribute__((aligned(64)));

	for (unsigned round = 0; round < 100000; round++) {
		unsigned first = rand() % 33, end = first + rand() % 32, expected = first;

		for (unsigned i = 0; i < 64; i++)
			slots[i].v = round % 3 && rand() % (round % 64 + 1) ? 0 : round % 3 ? 1UL << rand() % 64 : 0;
		slots[end].v = round % 2;
		while (expected < end && !slots[expected].v)
			expected++;
		assert_ptr_equal(pte_skip_empty(slots + first, slots + end), slots + expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_tables),   cmocka_unit_test(test_kernel_half),
		cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_linear_map),
		cmocka_unit_test(test_skip_empty),
	};

	ram_file = memfd_create("ram", 0);
	if (ram_file < 0 || ftruncate(ram_file, RAM_PAGES * PAGE_SIZE) ||
	    mmap(__va(0), RAM_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, ram_file,
		 0) != __va(0))
		return 1;
	host_fixmap = mmap(NULL, FIX_TABLES_END * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (host_fixmap == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
