/*
 * Address spaces against a model (mm_user_model.h): what each process reads is what it, or a process that it shares
 * memory with, wrote; nothing leaks. Then single behaviours. All of kernel/mm that programs see is compiled for the
 * host, over an array that stands for memory; files are pages of the test.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_user_mm.h>

#include "mm_user_model.h"

/*
 * One call, or a touch, of one process: map, unmap, protect, fork, drop, remap, cut the file. Most steps are touches.
 */
static void random_step(struct process *pr)
{
	unsigned first = host_random() % WINDOW, n = 1 + host_random() % min(WINDOW - first, 20u);
	unsigned op = host_random() % 64;

	if (op < 3)
		do_map(pr, first, n);
	else if (op == 3) {
		assert_int_equal(do_munmap(pr->mm, BASE + first * PAGE_SIZE, n * PAGE_SIZE), 0);
		for (unsigned i = first; i < first + n; i++)
			drop_page(&pr->page[i]);
	} else if (op < 7)
		do_protect(pr, first, n);
	else if (op == 7)
		do_fork(pr, &processes[host_random() % PROCESSES]);
	else if (op == 8)
		do_dontneed(pr, first, n);
	else if (op == 9)
		do_remap(pr, first, n);
	else if (op == 10)
		do_truncate(host_random() % 4 ? FILE_PAGES : host_random() % FILE_PAGES);
	else
		touch(pr, first, op & 1);
}

/*
 * Eight long histories of up to five processes that map, fork, write and end. Every page must read as the model says,
 * the areas and counters must agree with the tables, and when all have ended, memory and references are what they
 * were. A page that is shared when it should be copied, or freed too early, fails here.
 */
static void test_random_histories(void **state)
{
	unsigned long before = memory_in_balance();

	assert_false(file_inode.i_mapped);
	for (int round = 0; round < 8; round++) {
		processes[0].mm = mm_alloc();
		for (int step = 0; step < 4000; step++) {
			struct process *pr = &processes[host_random() % PROCESSES];

			if (!pr->mm)
				continue;
			random_step(pr);
			if (step % 64 == 0 && pr->mm) {
				check_areas(pr);
				check_rss(pr->mm);
			}
		}
		for (unsigned i = 0; i < PROCESSES; i++)
			if (processes[i].mm)
				do_exit_process(&processes[i]);
		assert_null(mm_next(NULL));
		assert_int_equal(memory_in_balance(), before);
		assert_int_equal(atomic_read(&test_file.f_count), file_references);
		for (unsigned i = 0; i < FILE_PAGES; i++) {
			assert_int_equal(atomic_read(&file_pages[i]->refcount), 1);
			assert_int_equal(atomic_read(&file_pages[i]->mapcount), 0);
		}
	}
}

/* ---- Single behaviours. */

/* A cut takes what lies behind it, in areas that begin before it, at it and behind it, and nothing else. */
static void test_truncated_file(void **state)
{
	struct mm_struct *mm = mm_alloc(), *child;
	int err = 0;

	file_end = FILE_PAGES;
	for (unsigned area = 0; area < 4; area++)
		do_mmap(mm, &test_file, BASE + area * 16 * PAGE_SIZE, 8 * PAGE_SIZE, 3,
			(area % 2 ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED, area < 2 ? 0 : 8);
	for (unsigned i = 0; i < 64; i++)
		user_touch(mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE, &err);
	child = dup_mm(mm);
	assert_int_equal(atomic_read(&mm->rss_anon) + atomic_read(&mm->rss_file), 32);
	assert_ptr_equal(mm_next(NULL), mm); /* a child comes behind its parent, whose entries it may have copied */
	assert_ptr_equal(mm_next(mm), child);
	assert_null(mm_next(child));
	do_truncate(10);
	for (int who = 0; who < 2; who++) {
		struct mm_struct *one = who ? child : mm;

		assert_int_equal(atomic_read(&one->rss_anon) + atomic_read(&one->rss_file), 2 * (8 + 2));
		for (unsigned i = 0; i < 8; i++) {
			assert_int_equal(touch_err(one, BASE + i * PAGE_SIZE, 0), 0);
			assert_int_equal(touch_err(one, BASE + (32 + i) * PAGE_SIZE, 0), i < 2 ? 0 : -EIO);
			assert_int_equal(touch_err(one, BASE + (48 + i) * PAGE_SIZE, FAULT_FLAG_WRITE),
					 i < 2 ? 0 : -EIO);
		}
	}
	do_truncate(FILE_PAGES);
	assert_int_equal(*(u64 *)user_touch(mm, BASE + 34 * PAGE_SIZE, 0, &err), 0);
	mmput(child);
	mmput(mm);
}

/*
 * A stack grows at a touch down to RLIMIT_STACK and not one byte further; mmap stays below the room that it may still
 * take.
 */
static void test_stack_grows_to_its_limit(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned long top = STACK_TOP;
	long below;

	map_stack(mm, top - 4 * PAGE_SIZE, 4 * PAGE_SIZE);
	assert_int_equal(touch_err(mm, top - (1 << 20), FAULT_FLAG_WRITE), 0);
	assert_int_equal(touch_err(mm, top - STACK_LIMIT, FAULT_FLAG_WRITE), 0);
	assert_int_equal(touch_err(mm, top - STACK_LIMIT - 8, FAULT_FLAG_WRITE), -EFAULT);
	assert_int_equal(mm->total_vm, STACK_LIMIT >> PAGE_SHIFT);
	below = do_mmap(mm, NULL, 0, 3 * PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	assert_int_equal(below, mm->mmap_base - 3 * PAGE_SIZE);
	mmput(mm);
}

static void test_stack_keeps_its_distance(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned long top = 0x50000000;

	map_stack(mm, top - PAGE_SIZE, PAGE_SIZE);
	assert_int_equal(
		do_mmap(mm, NULL, top - (2 << 20), PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0),
		top - (2 << 20));
	assert_int_equal(touch_err(mm, top - (2 << 20) + STACK_GUARD_GAP + PAGE_SIZE, FAULT_FLAG_WRITE), 0);
	assert_int_equal(touch_err(mm, top - (2 << 20) + STACK_GUARD_GAP, FAULT_FLAG_WRITE), -EFAULT);
	mmput(mm);
}

/*
 * The heap grows and shrinks, gives its pages back, and stops at another mapping: then brk returns the old end, as
 * programs expect.
 */
static void test_brk(void **state)
{
	struct mm_struct *mm = mm_alloc();

	mm->start_brk = mm->brk = BASE + 100;
	assert_int_equal(do_brk(mm, 0), BASE + 100);
	assert_int_equal(do_brk(mm, BASE + 3 * PAGE_SIZE + 1), BASE + 3 * PAGE_SIZE + 1);
	assert_int_equal(touch_err(mm, BASE + 3 * PAGE_SIZE + 5, FAULT_FLAG_WRITE), 0);
	assert_int_equal(do_brk(mm, BASE + 20 * PAGE_SIZE), BASE + 20 * PAGE_SIZE);
	assert_int_equal(mm->nr_areas, 1);
	assert_int_equal(do_brk(mm, BASE + 2 * PAGE_SIZE), BASE + 2 * PAGE_SIZE);
	assert_int_equal(touch_err(mm, BASE + 3 * PAGE_SIZE + 5, FAULT_FLAG_WRITE), -EFAULT);
	assert_int_equal(atomic_read(&mm->rss_anon), 0);
	do_mmap(mm, NULL, BASE + 9 * PAGE_SIZE, PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	assert_int_equal(do_brk(mm, BASE + 10 * PAGE_SIZE), BASE + 2 * PAGE_SIZE);
	assert_int_equal(do_brk(mm, BASE + (1UL << 37)), BASE + 2 * PAGE_SIZE);
	mmput(mm);
}

/*
 * Each argument that mmap, mprotect and munmap must refuse, with Linux's errno. A mapping of the zero page or of a
 * file that may not be written would be a hole in the kernel's protection.
 */
static void test_mmap_refusals(void **state)
{
	struct mm_struct *mm = mm_alloc();
	struct file read_only = {.f_mode = FMODE_READ, .f_op = &file_ops, .f_inode = &file_inode};
	static const struct file_operations no_ops;
	struct file pipe = {.f_mode = FMODE_READ, .f_op = &no_ops, .f_inode = &file_inode};
	unsigned anon = MAP_PRIVATE | MAP_ANONYMOUS;
	long at;

	assert_int_equal(do_mmap(mm, NULL, 0, 0, 3, anon, 0), -EINVAL);
	assert_true(do_mmap(mm, NULL, 0, PAGE_SIZE, 8, anon, 0) > 0); /* rights that are unknown mean nothing */
	assert_int_equal(do_mmap(mm, NULL, 0, PAGE_SIZE, 3, MAP_ANONYMOUS, 0), -EINVAL);
	assert_int_equal(do_mmap(mm, NULL, 0, ~0UL, 3, anon, 0), -ENOMEM);
	assert_int_equal(do_mmap(mm, NULL, 0, 1UL << 36, 3, anon, 0), -ENOMEM);
	assert_int_equal(do_mmap(mm, NULL, 123, PAGE_SIZE, 3, anon | MAP_FIXED, 0), -EINVAL);
	assert_int_equal(do_mmap(mm, NULL, 0, PAGE_SIZE, 3, anon | MAP_FIXED, 0), -EPERM);
	assert_int_equal(do_mmap(mm, NULL, TASK_SIZE, PAGE_SIZE, 3, anon | MAP_FIXED, 0), -ENOMEM);
	assert_int_equal(do_mmap(mm, &pipe, 0, PAGE_SIZE, 1, MAP_PRIVATE, 0), -ENODEV);
	assert_int_equal(do_mmap(mm, &read_only, 0, PAGE_SIZE, 3, MAP_SHARED, 0), -EACCES);
	at = do_mmap(mm, &read_only, 0, PAGE_SIZE, 1, MAP_SHARED, 0);
	assert_true(at > 0);
	assert_int_equal(do_mprotect(mm, at, PAGE_SIZE, PROT_WRITE), -EACCES);
	assert_int_equal(do_mmap(mm, NULL, at, PAGE_SIZE, 3, anon | MAP_FIXED_NOREPLACE, 0), -EEXIST);
	assert_int_equal(do_munmap(mm, at + 1, PAGE_SIZE), -EINVAL);
	assert_int_equal(do_munmap(mm, at, 0), -EINVAL);
	mmput(mm);
}

/* A length that ends within a page takes the whole page: in the area's end, in its place, and in what it replaces. */
static void test_mmap_takes_whole_pages(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned anon = MAP_PRIVATE | MAP_ANONYMOUS;
	long at = do_mmap(mm, NULL, 0, PAGE_SIZE + 1, 3, anon, 0);

	assert_true(at > 0);
	if (at & (PAGE_SIZE - 1))
		fail_msg("a mapping of a page and a byte begins within a page, at %#lx", at);
	assert_int_equal(mm->total_vm, 2);
	assert_int_equal(touch_err(mm, at + 2 * PAGE_SIZE - 8, FAULT_FLAG_WRITE), 0);
	assert_int_equal(do_mmap(mm, NULL, at, 1, PROT_READ, anon | MAP_FIXED, 0), at);
	assert_int_equal(mm->total_vm, 2);
	assert_int_equal(do_munmap(mm, at, 2 * PAGE_SIZE), 0);
	assert_int_equal(mm->total_vm, 0);
	mmput(mm);
}

/*
 * A fault on a file maps its neighbours in the aligned window, counted as one fault, and not beyond the file's end.
 * Each page that may be executed is made coherent with instruction fetch exactly once; without that aarch64 would
 * execute old bytes.
 */
static void test_fault_around_and_icache(void **state)
{
	struct mm_struct *mm = mm_alloc();
	unsigned long syncs = icache_syncs;
	u64 faults = current->min_flt;

	do_mmap(mm, &test_file, BASE, 64 * PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, 0);
	assert_int_equal(touch_err(mm, BASE + 20 * PAGE_SIZE, FAULT_FLAG_EXEC), 0);
	assert_int_equal(atomic_read(&mm->rss_file), 16);
	assert_int_equal(current->min_flt - faults, 1);
	assert_int_equal(touch_err(mm, BASE + 34 * PAGE_SIZE, 0), 0);
	assert_int_equal(atomic_read(&mm->rss_file), 16 + FILE_PAGES - 32);
	assert_int_equal(touch_err(mm, BASE + FILE_PAGES * PAGE_SIZE, 0), -EIO);
	assert_int_equal(icache_syncs - syncs, 16 + FILE_PAGES - 32);
	mmput(mm);
}

/*
 * A file that keeps no pages is asked for the one that is touched alone: each costs messages to a server. One that was
 * replaced by a private copy stays when its neighbours are mapped.
 */
static void test_fault_around_leaves_pages(void **state)
{
	static const struct file_operations keeps_none = {.get_page = file_get_page};
	struct mm_struct *mm = mm_alloc();

	test_file.f_op = &keeps_none;
	do_mmap(mm, &test_file, BASE, 16 * PAGE_SIZE, 3, MAP_PRIVATE | MAP_FIXED, 0);
	assert_int_equal(touch_err(mm, BASE + 3 * PAGE_SIZE, 0), 0);
	assert_int_equal(atomic_read(&mm->rss_file), 1);
	assert_int_equal(touch_err(mm, BASE + 5 * PAGE_SIZE, FAULT_FLAG_WRITE), 0);
	test_file.f_op = &file_ops;
	assert_int_equal(touch_err(mm, BASE + 9 * PAGE_SIZE, 0), 0);
	assert_int_equal(atomic_read(&mm->rss_file), 15);
	assert_int_equal(atomic_read(&mm->rss_anon), 1);
	assert_int_equal(atomic_read(&file_pages[5]->mapcount), 0);
	assert_int_equal(atomic_read(&file_pages[3]->mapcount), 1);
	do_mmap(mm, &test_file, BASE + 16 * PAGE_SIZE, 16 * PAGE_SIZE, 3, MAP_PRIVATE | MAP_FIXED, 0);
	assert_int_equal(touch_err(mm, BASE + 20 * PAGE_SIZE, FAULT_FLAG_WRITE), 0);
	assert_int_equal(atomic_read(&mm->rss_file), 15); /* a copy is wanted: no page is mapped beside it */
	assert_int_equal(atomic_read(&mm->rss_anon), 2);
	mmput(mm);
	assert_int_equal(atomic_read(&file_pages[5]->refcount), 1);
	assert_int_equal(atomic_read(&file_pages[3]->refcount), 1);
}

/*
 * A fork flushes the TLB once, however many pages there are. When the child has gone, writes copy nothing: no page is
 * shared any more.
 */
static void test_fork_flushes_once_and_reuses_last_page(void **state)
{
	struct mm_struct *mm = mm_alloc(), *child;
	unsigned long flushes, free_before;

	do_mmap(mm, NULL, BASE, 64 * PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	for (unsigned i = 0; i < 64; i++)
		touch_err(mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE);
	flushes = host_tlb_flushes;
	child = dup_mm(mm);
	assert_int_equal(host_tlb_flushes - flushes, 1);
	assert_int_equal(atomic_read(&child->rss_anon), 64);
	mmput(child);
	free_before = nr_free_pages();
	for (unsigned i = 0; i < 64; i++)
		touch_err(mm, BASE + i * PAGE_SIZE, FAULT_FLAG_WRITE);
	assert_int_equal(nr_free_pages(), free_before); /* nobody shares them any more: nothing was copied */
	mmput(mm);
}

/* The layout that exec has set is the child's as well, number by number: /proc shows it of both. */
static void test_fork_copies_layout(void **state)
{
	struct mm_struct *mm = mm_alloc(), *child;
	unsigned long *const layout[] = {&mm->start_code, &mm->end_code,  &mm->start_data,  &mm->end_data,
					 &mm->start_brk,  &mm->brk,	  &mm->start_stack, &mm->arg_start,
					 &mm->arg_end,	  &mm->env_start, &mm->env_end,	    &mm->mmap_base};

	for (unsigned i = 0; i < ARRAY_SIZE(layout); i++)
		*layout[i] = BASE + (i + 1) * PAGE_SIZE;
	mm->nr_auxv = 2;
	mm->saved_auxv[0] = 4711;
	mm->saved_auxv[1] = 4712;
	child = dup_mm(mm);
	for (unsigned i = 0; i < ARRAY_SIZE(layout); i++) {
		size_t at = (size_t)((char *)layout[i] - (char *)mm);
		unsigned long copy = *(unsigned long *)((char *)child + at);

		if (copy != *layout[i])
			fail_msg("number %u of the layout is %#lx in the child", i, copy);
	}
	assert_int_equal(child->nr_auxv, 2);
	assert_int_equal(child->saved_auxv[0], 4711);
	assert_int_equal(child->saved_auxv[1], 4712);
	mmput(child);
	mmput(mm);
}

/*
 * A mapping grows in place, does not when another one lies behind it, and moves when it may, with its contents; the
 * old place faults.
 */
static void test_mremap(void **state)
{
	struct mm_struct *mm = mm_alloc();
	int err;
	u64 *p;
	long at;

	do_mmap(mm, NULL, BASE, 4 * PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	p = user_touch(mm, BASE + 3 * PAGE_SIZE, FAULT_FLAG_WRITE, &err);
	*p = 4711;
	assert_int_equal(do_mremap(mm, BASE, 4 * PAGE_SIZE, 8 * PAGE_SIZE, 0, 0), BASE);
	do_mmap(mm, NULL, BASE + 8 * PAGE_SIZE, PAGE_SIZE, 1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	assert_int_equal(do_mremap(mm, BASE, 8 * PAGE_SIZE, 9 * PAGE_SIZE, 0, 0), -ENOMEM);
	at = do_mremap(mm, BASE, 8 * PAGE_SIZE, 9 * PAGE_SIZE, MREMAP_MAYMOVE, 0);
	assert_true(at > 0 && at != BASE);
	p = user_touch(mm, at + 3 * PAGE_SIZE, 0, &err);
	assert_int_equal(*p, 4711);
	assert_int_equal(touch_err(mm, BASE + 3 * PAGE_SIZE, 0), -EFAULT);
	assert_int_equal(do_mremap(mm, at, 9 * PAGE_SIZE, PAGE_SIZE, 0, 0), at);
	assert_int_equal(mm->total_vm, 2);
	assert_int_equal(do_mremap(mm, BASE, PAGE_SIZE, PAGE_SIZE, 0, 0), -EFAULT);
	mmput(mm);
}

/*
 * What /proc/PID/mem does: reads and writes across pages, as far as there is memory; not into a page that the program
 * itself may not write, and not into a task without memory.
 */
static void test_access_from_outside(void **state)
{
	static char buf[3 * PAGE_SIZE];
	struct task_struct task = {.mm = mm_alloc()};

	do_mmap(task.mm, NULL, BASE, 2 * PAGE_SIZE, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	assert_int_equal(access_process_vm(&task, BASE + PAGE_SIZE - 3, "abcdef", 6, true), 6);
	assert_int_equal(access_process_vm(&task, BASE + PAGE_SIZE - 4, buf, 8, false), 8);
	assert_memory_equal(buf, "\0abcdef", 8);
	assert_int_equal(access_process_vm(&task, BASE + PAGE_SIZE, buf, sizeof(buf), false), PAGE_SIZE);
	do_mprotect(task.mm, BASE, PAGE_SIZE, PROT_READ);
	assert_int_equal(access_process_vm(&task, BASE, "x", 1, true), 0);
	/* A write into a page that is mapped for execution reaches instruction fetch, however it came to that. */
	do_mprotect(task.mm, BASE, 2 * PAGE_SIZE, 7);
	do_mmap(task.mm, NULL, BASE, PAGE_SIZE, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	touch_err(task.mm, BASE, FAULT_FLAG_WRITE);
	icache_syncs = 0;
	assert_int_equal(access_process_vm(&task, BASE + PAGE_SIZE - 1, "xx", 2, true), 2);
	assert_int_equal(icache_syncs, 2);
	assert_int_equal(atomic_read(&task.mm->mm_users), 1);
	mmput(task.mm);
	task.mm = NULL;
	assert_int_equal(access_process_vm(&task, BASE, buf, 1, false), 0);
}

/*
 * The lines of /proc/PID/maps for a file, the heap and an area without rights, byte by byte, as programs parse them.
 */
static void test_maps_text(void **state)
{
	struct mm_struct *mm = mm_alloc();

	do_mmap(mm, &test_file, 0x400000, 2 * PAGE_SIZE, 5, MAP_PRIVATE | MAP_FIXED, 1);
	mm->start_brk = mm->brk = 0x500000;
	do_brk(mm, 0x502000);
	do_mmap(mm, NULL, BASE, PAGE_SIZE, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0);
	host_text_used = 0;
	assert_int_equal(show_maps(NULL, mm), 0);
	assert_string_equal(host_text,
			    "00400000-00402000 r-xp 00001000 03:01 77                                 /bin/test\n"
			    "00500000-00502000 rw-p 00000000 00:00 0                                  [heap]\n"
			    "10000000-10001000 ---p 00000000 00:00 0 \n");
	host_file_name = "/bin/two\nlines\\012"; /* a line feed, and what looks like one escaped */
	host_text_used = 0;
	assert_int_equal(show_maps(NULL, mm), 0);
	host_file_name = "/bin/test";
	assert_non_null(strstr(host_text, " /bin/two\\012lines\\012\n00500000"));
	mmput(mm);
}

static int boot(void **state)
{
	host_boot(32, 3);
	kmem_cache_init();
	mm_init();
	atomic_set(&test_file.f_count, file_references);
	for (unsigned i = 0; i < FILE_PAGES; i++)
		file_pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return 0;
}

int main(void)
{
	init_limits();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_histories),
		cmocka_unit_test(test_stack_grows_to_its_limit),
		cmocka_unit_test(test_stack_keeps_its_distance),
		cmocka_unit_test(test_truncated_file),
		cmocka_unit_test(test_brk),
		cmocka_unit_test(test_mmap_refusals),
		cmocka_unit_test(test_mmap_takes_whole_pages),
		cmocka_unit_test(test_fault_around_and_icache),
		cmocka_unit_test(test_fault_around_leaves_pages),
		cmocka_unit_test(test_fork_flushes_once_and_reuses_last_page),
		cmocka_unit_test(test_fork_copies_layout),
		cmocka_unit_test(test_mremap),
		cmocka_unit_test(test_access_from_outside),
		cmocka_unit_test(test_maps_text),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
