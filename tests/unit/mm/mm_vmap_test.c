/*
 * Areas of vmalloc space against a map of pages: each takes the lowest hole that is large enough, with a guard page
 * behind it. The space has 600 pages here, so that it is often nearly full.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_kernel.h>

#undef VMALLOC_START
#undef VMALLOC_END
#define SPACE_PAGES   600u
#define VMALLOC_START 0x100000UL
#define VMALLOC_END   (VMALLOC_START + SPACE_PAGES * PAGE_SIZE)
#define MODULES_VADDR 0x80000000UL
#define MODULES_END   (MODULES_VADDR + 4 * PAGE_SIZE)

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/hole_tree.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/rbtree.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/mm/pages/vmap_area.c"

static int areas_allocated;

void *kzalloc(size_t size, gfp_t gfp)
{
	areas_allocated++;
	return calloc(1, size);
}

void kfree(const void *p)
{
	areas_allocated--;
	free((void *)p);
}

static struct vmap_area *owner[SPACE_PAGES]; /* of each page, its guard included */

/* The lowest n free pages in a row, SPACE_PAGES when there are none. */
static unsigned model_lowest(unsigned n)
{
	for (unsigned i = 0, run = 0; i < SPACE_PAGES; i++) {
		run = owner[i] ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return SPACE_PAGES;
}

static void try_alloc(unsigned pages)
{
	unsigned at = model_lowest(pages + 1);
	struct vmap_area *area = alloc_vmap_area(&vmalloc_space, pages * PAGE_SIZE);

	if (at == SPACE_PAGES) {
		assert_null(area);
		return;
	}
	assert_int_equal(area->start, VMALLOC_START + at * PAGE_SIZE);
	assert_int_equal(area->end, area->start + (pages + 1) * PAGE_SIZE);
	assert_ptr_equal(find_vmap_area(area->start), area);
	for (unsigned i = 0; i <= pages; i++)
		owner[at + i] = area;
}

static void free_owner_of(unsigned page)
{
	struct vmap_area *area = owner[page];

	if (!area)
		return;
	for (unsigned i = 0; i < SPACE_PAGES; i++)
		if (owner[i] == area)
			owner[i] = NULL;
	free_vmap_area(area);
}

/* Each node's own hole and the largest of its subtree, from the model; returns the latter. */
static unsigned long check_holes(struct rb_node *n)
{
	unsigned long largest, below = 0;

	if (!n)
		return 0;
	for (unsigned i = (area_of(n)->start - VMALLOC_START) / PAGE_SIZE; i-- && !owner[i];)
		below += PAGE_SIZE;
	assert_int_equal(hole_of(n)->hole, below);
	largest = max(below, max(check_holes(n->left), check_holes(n->right)));
	assert_int_equal(hole_of(n)->max_hole, largest);
	return largest;
}

/*
 * Each area is found by its first address and by no other, the pages and areas are counted, and each node of the tree
 * knows its hole.
 */
static void check_space(void)
{
	unsigned long pages = 0;
	int areas = 0;

	check_holes(vmalloc_space.areas.node);
	for (unsigned i = 0; i < SPACE_PAGES; i++) {
		bool first = owner[i] && (!i || owner[i - 1] != owner[i]);

		assert_ptr_equal(find_vmap_area(VMALLOC_START + i * PAGE_SIZE), first ? owner[i] : NULL);
		pages += owner[i] && !first;
		areas += first;
	}
	assert_int_equal(vmalloc_nr_pages(), pages);
	assert_int_equal(areas_allocated, areas);
	assert_null(find_vmap_area(VMALLOC_END));
}

/* Long times in which there are few areas, and long ones in which there is hardly any room. */
static void test_areas_against_a_map(void **state)
{
	for (unsigned step = 0; step < 60000; step++) {
		if (host_random() % 100 < (step % 20000 < 10000 ? 60 : 40))
			try_alloc(1 + host_random() % (host_random() % 16 ? 6 : 120));
		else
			free_owner_of(host_random() % SPACE_PAGES);
		if (step % 64 == 0)
			check_space();
	}
	for (unsigned i = 0; i < SPACE_PAGES; i++)
		free_owner_of(i);
	check_space();
	try_alloc(SPACE_PAGES); /* the guard would lie behind the end */
	try_alloc(SPACE_PAGES - 1);
	free_owner_of(0);
	check_space();
}

/* The addresses of modules are handed out, found and given back by themselves, whatever vmalloc has. */
static void test_modules_have_a_space_of_their_own(void **state)
{
	struct vmap_area *first = alloc_vmap_area(&module_space, PAGE_SIZE);
	struct vmap_area *second = alloc_vmap_area(&module_space, PAGE_SIZE);

	assert_int_equal(first->start, MODULES_VADDR);
	assert_int_equal(second->start, MODULES_VADDR + 2 * PAGE_SIZE);
	assert_ptr_equal(find_vmap_area(second->start), second);
	assert_null(alloc_vmap_area(&module_space, PAGE_SIZE));
	try_alloc(3);
	free_vmap_area(first);
	first = alloc_vmap_area(&module_space, PAGE_SIZE);
	assert_int_equal(first->start, MODULES_VADDR);
	free_vmap_area(first);
	free_vmap_area(second);
	assert_int_equal(module_space.top, MODULES_VADDR);
	check_space();
	free_owner_of(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_areas_against_a_map),
		cmocka_unit_test(test_modules_have_a_space_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
