/*
 * The model that mm_user_test.c holds address spaces against: what each page of a few processes should contain, and
 * what may be done to it. Each operation is done to the kernel's address space and to the model. Include once, behind
 * host_user_mm.h.
 */
#pragma once

#define FILE_PAGES 40
#include <host_file.h>

static int file_references = 1;

/* ---- The model: a window of pages, each with what it should hold and what may be done to it. */
#define BASE	  0x10000000UL
#define WINDOW	  96
#define PROCESSES 5

struct shared {
	int users;
	u64 value[WINDOW];
};
struct model_page {
	bool mapped, file;
	unsigned prot;
	unsigned pgoff;	       /* of a file page */
	struct shared *shared; /* NULL: private */
	bool own;	       /* a private file page that was written */
	u64 value;
};
struct process {
	struct mm_struct *mm;
	struct model_page page[WINDOW];
} processes[PROCESSES];
static u64 file_values[FILE_PAGES];

static void drop_page(struct model_page *p)
{
	if (p->shared && !--p->shared->users)
		free(p->shared);
	memset(p, 0, sizeof(*p));
}

static u64 *model_value(struct model_page *p)
{
	if (p->shared)
		return &p->shared->value[p->pgoff];
	return p->file && !p->own ? &file_values[p->pgoff] : &p->value;
}

static int expected(const struct model_page *p, unsigned flags)
{
	if (!p->mapped)
		return -EFAULT;
	if (!(flags & FAULT_FLAG_WRITE ? p->prot & PROT_WRITE : p->prot & 7))
		return -EACCES;
	return p->file && p->pgoff >= file_end ? -EIO : 0;
}

/*
 * Read or write one word of a page as a program would. The error must be the model's, and what is read what the model
 * holds; a write goes to both.
 */
static void touch(struct process *pr, unsigned i, bool write)
{
	struct model_page *p = &pr->page[i];
	unsigned flags = write ? FAULT_FLAG_WRITE : 0;
	int err = 0;
	u64 *at = user_touch(pr->mm, BASE + i * PAGE_SIZE + 8 * (i % 500), flags, &err);

	assert_int_equal(err, expected(p, flags));
	if (err)
		return;
	if (*at != *model_value(p))
		fail_msg("page %u holds %lx, not %lx", i, *at, *model_value(p));
	if (!write)
		return;
	if (p->file && !(p->prot & 8))
		p->own = true;
	*at = *model_value(p) = host_random();
}

/* prot bit 3 of the model: a shared file mapping, whose writes are the file's. */
static void do_map(struct process *pr, unsigned first, unsigned n)
{
	unsigned kind = host_random() % 4, prot = host_random() % 8, pgoff = 0;
	struct shared *shared = NULL;
	unsigned flags = MAP_FIXED | (kind & 1 ? MAP_SHARED : MAP_PRIVATE);
	long ret;

	if (kind >= 2)
		pgoff = first + 4;
	else
		flags |= MAP_ANONYMOUS;
	if (kind == 1)
		shared = calloc(1, sizeof(*shared));
	ret = do_mmap(pr->mm, kind >= 2 ? &test_file : NULL, BASE + first * PAGE_SIZE, n * PAGE_SIZE, prot, flags,
		      pgoff);
	assert_int_equal(ret, BASE + first * PAGE_SIZE);
	for (unsigned i = first; i < first + n; i++) {
		struct model_page *p = &pr->page[i];

		drop_page(p);
		*p = (struct model_page){
			.mapped = true, .prot = prot | (kind == 3 ? 8 : 0), .file = kind >= 2, .shared = shared};
		p->pgoff = kind >= 2 ? pgoff + i - first : i - first;
		if (shared)
			shared->users++;
	}
}

static void do_protect(struct process *pr, unsigned first, unsigned n)
{
	unsigned prot = host_random() % 8;
	int want = 0, ret;

	for (unsigned i = first; i < first + n; i++)
		if (!pr->page[i].mapped)
			want = -ENOMEM;
	ret = do_mprotect(pr->mm, BASE + first * PAGE_SIZE, n * PAGE_SIZE, prot);
	assert_int_equal(ret, want);
	for (unsigned i = first; !ret && i < first + n; i++)
		pr->page[i].prot = prot | (pr->page[i].prot & 8);
}

static void do_dontneed(struct process *pr, unsigned first, unsigned n)
{
	mutex_lock(&pr->mm->mmap_lock);
	zap_range(pr->mm, BASE + first * PAGE_SIZE, BASE + (first + n) * PAGE_SIZE);
	mutex_unlock(&pr->mm->mmap_lock);
	for (unsigned i = first; i < first + n; i++) {
		pr->page[i].own = false;
		pr->page[i].value = 0;
	}
}

/* The pages and their neighbour behind are of one kind and lie in one area; or not, and mremap refuses. */
static bool in_one_area(struct process *pr, unsigned first, unsigned n)
{
	struct vm_area_struct *vma =
		find_vma_intersection(pr->mm, BASE + first * PAGE_SIZE, BASE + first * PAGE_SIZE + 1);

	return vma && vma->vm_end >= BASE + (first + n) * PAGE_SIZE;
}

/* What has moved to `at` reads as it did where it was. Then it goes. */
static void check_moved(struct process *pr, long at, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		struct model_page *p = &pr->page[i];
		int err = 0;
		u64 *moved = user_touch(pr->mm, at + (i - first) * PAGE_SIZE + 8 * (i % 500), 0, &err);

		assert_int_equal(err, expected(p, 0));
		if (!err && *moved != *model_value(p))
			fail_msg("page %u holds %lx after its move, not %lx", i, *moved, *model_value(p));
		drop_page(p);
	}
	assert_int_equal(do_munmap(pr->mm, at, (n + 1) * PAGE_SIZE), 0);
}

/* One page more: where it is when there is room, else elsewhere. */
static void do_remap(struct process *pr, unsigned first, unsigned n)
{
	struct model_page *last = &pr->page[first + n - 1], *more = last + 1;
	unsigned long addr = BASE + first * PAGE_SIZE;
	long at;

	if (first + n == WINDOW)
		return;
	at = do_mremap(pr->mm, addr, n * PAGE_SIZE, (n + 1) * PAGE_SIZE, MREMAP_MAYMOVE, 0);
	if (!in_one_area(pr, first, n) && at < 0) {
		assert_int_equal(at, -EFAULT);
	} else if (last->shared) {
		assert_int_equal(at, -EINVAL);
	} else if (at == addr) {
		assert_false(more->mapped);
		*more = *last;
		more->pgoff++;
		more->own = false;
		more->value = 0;
	} else {
		assert_true(at > 0 && more->mapped);
		check_moved(pr, at, first, n);
	}
}

/* The file loses its end, which is gone from all mappings, and gets a new one. */
static void do_truncate(unsigned end)
{
	unsigned cut = min(end, file_end);

	file_end = cut;
	unmap_mapping_pages(&file_inode, cut);
	for (unsigned i = cut; i < FILE_PAGES; i++) {
		assert_int_equal(atomic_read(&file_pages[i]->refcount), 1);
		put_page(file_pages[i]);
		file_pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		file_values[i] = 0;
	}
	for (unsigned i = 0; i < PROCESSES * WINDOW; i++) {
		struct model_page *p = &processes[i / WINDOW].page[i % WINDOW];

		if (p->file && p->pgoff >= cut)
			p->own = false;
	}
	file_end = end;
}

static void do_exit_process(struct process *pr)
{
	for (unsigned i = 0; i < WINDOW; i++)
		drop_page(&pr->page[i]);
	mmput(pr->mm);
	pr->mm = NULL;
}

static void do_fork(struct process *pr, struct process *child)
{
	if (child == pr)
		return;
	if (child->mm)
		do_exit_process(child);
	child->mm = dup_mm(pr->mm);
	assert_non_null(child->mm);
	memcpy(child->page, pr->page, sizeof(child->page));
	for (unsigned i = 0; i < WINDOW; i++)
		if (child->page[i].shared)
			child->page[i].shared->users++;
}

/* The areas say what the model says, in order, in tree and list alike; the counters fit the tables. */
static void check_areas(struct process *pr)
{
	struct mm_struct *mm = pr->mm;
	unsigned long pages = 0;
	struct vm_area_struct *vma;
	struct rb_node *n = rb_first(&mm->areas);
	unsigned i, nr = 0;

	list_for_each_entry(vma, &mm->area_list, list) {
		assert_ptr_equal(vma_of(n), vma);
		assert_ptr_equal(find_vma(mm, vma->vm_start), vma);
		n = rb_next(n);
		pages += vma_pages(vma);
		nr++;
	}
	assert_null(n);
	assert_int_equal(nr, mm->nr_areas);
	assert_int_equal(pages, mm->total_vm);
	for (i = 0; i < WINDOW; i++) {
		vma = find_vma_intersection(mm, BASE + i * PAGE_SIZE, BASE + (i + 1) * PAGE_SIZE);
		assert_int_equal(!!vma, pr->page[i].mapped);
		if (vma)
			assert_int_equal(vma->vm_flags & 7, pr->page[i].prot & 7);
	}
}

static int count_pte(pte_t *slot, unsigned long va, void *arg)
{
	struct page *page = phys_to_page(pte_phys(*slot));
	int *rss = arg;

	if (page != zero_page) {
		rss[!(page->flags & PG_ANON)]++;
		assert_true(atomic_read(&page->mapcount) > 0);
		assert_true(atomic_read(&page->refcount) >= atomic_read(&page->mapcount));
	}
	return 0;
}

static void check_rss(struct mm_struct *mm)
{
	int rss[2] = {0, 0};

	pte_range(mm->pgd, BASE, BASE + WINDOW * PAGE_SIZE, count_pte, rss);
	assert_int_equal(atomic_read(&mm->rss_anon), rss[0]);
	assert_int_equal(atomic_read(&mm->rss_file), rss[1]);
}

static unsigned long memory_in_balance(void)
{
	return nr_free_pages() + atomic64_read(&nr_slab_pages);
}
