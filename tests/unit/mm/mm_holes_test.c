/*
 * Places of mappings against a map of pages: where each must go, whatever was mapped, cut and moved before. The
 * address space is the kernel's, with only 2,048 pages, one byte of the map for each; a model finds a hole by looking
 * at all of them.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_user_mm.h>

#define BASE 0x10000000UL

#define HOLE_PAGES  2048u /* mmap_base */
#define FIRST_PAGE  (unsigned)(MMAP_MIN_ADDR / PAGE_SIZE)
#define STACK_PAGES 4u
#define STACK_END   1500u
#define GAP_PAGES   (unsigned)(STACK_GUARD_GAP / PAGE_SIZE)
#define STACK_PROT  99
static u8 hole_map[HOLE_PAGES]; /* 0: free, prot + 1, or STACK_PROT */
static unsigned stack_start;

/* The first page of the highest free run of n pages, which keeps its distance from the stack; 0: none. */
static unsigned model_hole(unsigned n)
{
	unsigned end = HOLE_PAGES, start, top;

	for (; end > FIRST_PAGE; end = start) {
		start = end - 1;
		if (hole_map[start])
			continue;
		while (start > FIRST_PAGE && !hole_map[start - 1])
			start--;
		top = end == stack_start ? end - min(end, GAP_PAGES) : end;
		if (top >= start + n)
			return top - n;
	}
	return 0;
}

static unsigned long model_mmap(unsigned n, unsigned prot)
{
	unsigned at = model_hole(n);

	if (!at)
		return -ENOMEM;
	memset(hole_map + at, prot + 1, n);
	return at * PAGE_SIZE;
}

static unsigned random_range(unsigned *n)
{
	unsigned first;

	do {
		first = FIRST_PAGE + host_random() % (HOLE_PAGES - FIRST_PAGE);
		*n = 1 + host_random() % min(HOLE_PAGES - first, 24u);
	} while (memchr(hole_map + first, STACK_PROT, *n));
	return first;
}

/* What is left of the run of one kind from page i on. */
static unsigned run_length(unsigned i)
{
	unsigned n = 1;

	while (i + n < HOLE_PAGES && hole_map[i + n] == hole_map[i])
		n++;
	return n;
}

static void hole_mmap(struct mm_struct *mm)
{
	unsigned n = 1 + host_random() % (host_random() % 8 ? 6 : 400), prot = host_random() % 4;

	assert_int_equal(do_mmap(mm, NULL, 0, n * PAGE_SIZE, prot, MAP_PRIVATE | MAP_ANONYMOUS, 0),
			 model_mmap(n, prot));
}

static void hole_munmap(struct mm_struct *mm)
{
	unsigned n, first = random_range(&n);

	assert_int_equal(do_munmap(mm, first * PAGE_SIZE, n * PAGE_SIZE), 0);
	memset(hole_map + first, 0, n);
}

static void hole_mprotect(struct mm_struct *mm)
{
	unsigned n, first = random_range(&n), prot = host_random() % 4;
	bool whole = !memchr(hole_map + first, 0, n);

	assert_int_equal(do_mprotect(mm, first * PAGE_SIZE, n * PAGE_SIZE, prot), whole ? 0 : -ENOMEM);
	if (whole)
		memset(hole_map + first, prot + 1, n);
}

/* A mapping becomes smaller, grows where it is, moves to the place that the model says, or does not fit. */
static void hole_mremap(struct mm_struct *mm)
{
	unsigned old, new = 1 + host_random() % 30, first = random_range(&old), kind = hole_map[first], to;
	long want = first * PAGE_SIZE;

	if (!kind || first + new > HOLE_PAGES)
		return;
	old = min(old, run_length(first));
	if (new <= old) {
		memset(hole_map + first + new, 0, old - new);
	} else if (!hole_map[first + old] && run_length(first + old) >= new - old) {
		memset(hole_map + first + old, kind, new - old);
	} else if ((to = model_hole(new))) {
		memset(hole_map + first, 0, old);
		memset(hole_map + to, kind, new);
		want = to * PAGE_SIZE;
	} else {
		want = -ENOMEM;
	}
	assert_int_equal(do_mremap(mm, first * PAGE_SIZE, old * PAGE_SIZE, new *PAGE_SIZE, MREMAP_MAYMOVE, 0), want);
}

/* A page down, unless something lies too close. */
static void hole_grow_stack(struct mm_struct *mm)
{
	unsigned to = stack_start - 1, below = stack_start;

	while (below && !hole_map[below - 1])
		below--;
	if (below == stack_start)
		return; /* a neighbour: its own fault */
	if (below && below + GAP_PAGES > to) {
		assert_int_equal(touch_err(mm, to * PAGE_SIZE, FAULT_FLAG_WRITE), -EFAULT);
		return;
	}
	assert_int_equal(touch_err(mm, to * PAGE_SIZE, FAULT_FLAG_WRITE), 0);
	memset(hole_map + to, STACK_PROT, stack_start - to);
	stack_start = to;
}

/* Each node's largest hole, from the areas alone; the areas are the model's runs. */
static unsigned long check_holes(struct rb_node *n)
{
	unsigned long hole, left, right;

	if (!n)
		return 0;
	left = check_holes(n->left);
	right = check_holes(n->right);
	assert_int_equal(hole_of(n)->hole, hole_below(vma_of(n)));
	hole = max(hole_of(n)->hole, max(left, right));
	assert_int_equal(hole_of(n)->max_hole, hole);
	return hole;
}

static void check_runs(struct mm_struct *mm)
{
	unsigned runs = 0, pages = 0;

	check_holes(mm->areas.node);
	for (unsigned i = 0, n; i < HOLE_PAGES; i += n) {
		n = run_length(i);
		runs += !!hole_map[i];
		pages += hole_map[i] ? n : 0;
	}
	assert_int_equal(mm->nr_areas, runs);
	assert_int_equal(mm->total_vm, pages);
}

/*
 * Mappings come, go, change, move and grow at random, with a stack among them; each must lie where a search of the map
 * puts it, and each node of the tree must know the largest hole below it. Then the same is true of a fork's copy. A
 * wrong hole hands out an address that is in use, or fails while there is room.
 */
static void test_holes_against_a_map(void **state)
{
	struct mm_struct *mm = mm_alloc(), *copy;

	mm->mmap_base = HOLE_PAGES * PAGE_SIZE;
	memset(hole_map, 0, sizeof(hole_map));
	stack_start = STACK_END - STACK_PAGES;
	memset(hole_map + stack_start, STACK_PROT, STACK_PAGES);
	map_stack(mm, stack_start * PAGE_SIZE, STACK_PAGES * PAGE_SIZE);
	for (unsigned step = 0; step < 100000; step++) {
		static void (*const operations[])(struct mm_struct * mm) = {hole_mmap,	 hole_mmap,	 hole_mmap,
									    hole_munmap, hole_munmap,	 hole_mprotect,
									    hole_mremap, hole_grow_stack};

		operations[host_random() % (step % 20000 < 12000 ? 7 : ARRAY_SIZE(operations))](mm);
		if (step % 64 == 0)
			check_runs(mm);
	}
	copy = dup_mm(mm);
	check_runs(copy);
	mmput(copy);
	mmput(mm);
}

/* As on Linux: mmap may still add one when there are as many as allowed, a split may not. */
static void test_max_map_count(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned old = sysctl_max_map_count;
	unsigned flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	sysctl_max_map_count = 10;
	for (unsigned i = 0; i < 11; i++)
		assert_int_equal(do_mmap(mm, NULL, BASE + i * 4 * PAGE_SIZE, 3 * PAGE_SIZE, 3, flags, 0),
				 BASE + i * 4 * PAGE_SIZE);
	assert_int_equal(do_mmap(mm, NULL, 0, PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS, 0), -ENOMEM);
	assert_int_equal(do_mmap(mm, NULL, BASE, PAGE_SIZE, 3, flags, 0), -ENOMEM);
	assert_int_equal(do_mprotect(mm, BASE, PAGE_SIZE, 1), -ENOMEM);
	assert_int_equal(do_munmap(mm, BASE + PAGE_SIZE, PAGE_SIZE), -ENOMEM);
	assert_int_equal(mm->nr_areas, 11);
	assert_int_equal(mm->total_vm, 33);
	assert_int_equal(do_munmap(mm, BASE, 3 * PAGE_SIZE), 0);
	assert_int_equal(do_mmap(mm, NULL, BASE, PAGE_SIZE, 3, flags, 0), BASE);
	sysctl_max_map_count = old;
	mmput(mm);
}

/* A move to a place where another mapping lies is refused before that one goes, and before the tail is cut off. */
static void test_max_map_count_of_a_move(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned old = sysctl_max_map_count;
	unsigned flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, move = MREMAP_MAYMOVE | MREMAP_FIXED;
	unsigned long to = BASE + 4 * PAGE_SIZE;

	for (unsigned i = 0; i < 5; i++)
		do_mmap(mm, NULL, BASE + i * 4 * PAGE_SIZE, 3 * PAGE_SIZE, 3, flags, 0);
	for (sysctl_max_map_count = 8; sysctl_max_map_count <= 10; sysctl_max_map_count++) {
		assert_int_equal(do_mremap(mm, BASE, 3 * PAGE_SIZE, PAGE_SIZE, move, to + PAGE_SIZE), -ENOMEM);
		assert_int_equal(mm->nr_areas, 5);
		assert_int_equal(mm->total_vm, 15);
	}
	assert_int_equal(do_mremap(mm, BASE, 3 * PAGE_SIZE, PAGE_SIZE, move, to + PAGE_SIZE), to + PAGE_SIZE);
	assert_int_equal(mm->total_vm, 12);
	sysctl_max_map_count = old;
	mmput(mm);
}

/* A fixed mapping in the place of another needs no more room than the other had; one that is refused leaves it. */
static void test_fixed_at_the_limit(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	host_signal.rlim[RLIMIT_AS][0] = 8 * PAGE_SIZE;
	assert_int_equal(do_mmap(mm, NULL, BASE, 8 * PAGE_SIZE, 3, flags, 0), BASE);
	assert_int_equal(do_mmap(mm, NULL, BASE + 2 * PAGE_SIZE, 3 * PAGE_SIZE, 1, flags, 0), BASE + 2 * PAGE_SIZE);
	assert_int_equal(do_mmap(mm, NULL, BASE + 5 * PAGE_SIZE, 4 * PAGE_SIZE, 1, flags, 0), -ENOMEM);
	assert_int_equal(mm->total_vm, 8);
	assert_int_equal(mm->nr_areas, 3);
	host_signal.rlim[RLIMIT_AS][0] = RLIM_INFINITY;
	mmput(mm);
}

/* Who asks for a place below a stack, or is given one, leaves it room to grow. */
static void test_room_for_a_stack(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned long top = BASE + (64UL << 20), lowest = top - PAGE_SIZE - STACK_GUARD_GAP;
	unsigned flags = MAP_PRIVATE | MAP_ANONYMOUS;

	map_stack(mm, top - PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(do_mmap(mm, NULL, lowest - PAGE_SIZE, PAGE_SIZE, 3, flags, 0), lowest - PAGE_SIZE);
	assert_int_not_equal(do_mmap(mm, NULL, lowest, PAGE_SIZE, 1, flags, 0), lowest);
	mm->mmap_base = top - 2 * PAGE_SIZE; /* within the room that the stack has */
	assert_int_equal(do_mmap(mm, NULL, 0, PAGE_SIZE, 1, flags, 0), lowest - 2 * PAGE_SIZE);
	mmput(mm);
}

static struct page *no_page(struct file *file, unsigned long pgoff)
{
	return ERR_PTR(-EIO);
}

/* Neighbours of one file are one area where its pages follow each other, and only there. */
static void test_neighbours_of_a_file(void **state)
{
	static const struct file_operations fops = {.get_page = no_page};
	static struct super_block sb;
	static struct inode inode = {.i_sb = &sb};
	static struct file file = {.f_mode = FMODE_READ, .f_op = &fops, .f_inode = &inode};
	struct mm_struct *mm = mm_alloc();
	unsigned flags = MAP_PRIVATE | MAP_FIXED;

	atomic_set(&file.f_count, 1);
	do_mmap(mm, &file, BASE, PAGE_SIZE, 1, flags, 5);
	do_mmap(mm, &file, BASE + PAGE_SIZE, PAGE_SIZE, 1, flags, 5);
	assert_int_equal(mm->nr_areas, 2);
	do_mmap(mm, &file, BASE + 2 * PAGE_SIZE, PAGE_SIZE, 1, flags, 6);
	assert_int_equal(mm->nr_areas, 2);
	assert_int_equal(atomic_read(&file.f_count), 3);
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
		cmocka_unit_test(test_holes_against_a_map),	cmocka_unit_test(test_max_map_count),
		cmocka_unit_test(test_max_map_count_of_a_move), cmocka_unit_test(test_fixed_at_the_limit),
		cmocka_unit_test(test_room_for_a_stack),	cmocka_unit_test(test_neighbours_of_a_file),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
