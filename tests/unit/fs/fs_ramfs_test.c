/*
 * The contents of ramfs files: what a file that is cut leaves in its last page for the instruction cache, what lies
 * behind its end, and when a write changes the times. All of user memory is the kernel's own; the file system has no
 * limit.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_user_mm.h>

unsigned long clear_user(void *to, unsigned long n);
#include "../../../kernel/fs/ramfs/ramfs_file.c"
#include "not_called.h"

/* ---- What it stands on */

static int charged; /* pages */
bool ramfs_charge_page(struct super_block *sb)
{
	charged++;
	return true;
}
void ramfs_uncharge_pages(struct super_block *sb, u64 nr)
{
	charged -= (int)nr;
}
static u64 now;
u64 inode_now(void)
{
	return now;
}
int generic_write_checks(loff_t pos, size_t *n)
{
	return 0;
}
int inode_newsize_ok(const struct inode *inode, loff_t size)
{
	return 0;
}
int simple_setattr(struct dentry *dentry, const struct iattr *attr)
{
	return 0;
}
void file_remove_privs(struct inode *inode)
{
}
NOT_CALLED(void file_accessed(const struct file *f), )
NOT_CALLED(loff_t default_llseek(struct file *f, loff_t off, int whence), 0)
NOT_CALLED(unsigned long clear_user(void *to, unsigned long n), 0)

/* ---- A file, and its first page */
static struct inode inode = {.i_mode = S_IFREG | 0755};
static struct dentry dentry = {.d_inode = &inode};
static struct file file = {.f_mode = FMODE_READ | FMODE_WRITE, .f_inode = &inode};

static void set_size(loff_t size)
{
	const struct iattr attr = {.valid = ATTR_SIZE, .size = size};

	mutex_lock(&inode.i_lock);
	assert_int_equal(ramfs_setattr(&dentry, &attr), 0);
	mutex_unlock(&inode.i_lock);
	assert_int_equal(inode.i_size, size);
}

static struct page *first_page(void)
{
	struct page *page = ramfs_find_page(&inode, 0);

	put_page(page); /* the file's own is left */
	return page;
}

static void write_bytes(size_t n)
{
	static char bytes[3 * PAGE_SIZE];
	loff_t pos = 0;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(ramfs_write_kernel(&file, bytes, n, &pos), n);
}

/*
 * The kernel writes zeros behind the new end. Who maps the page for execution next must not fetch what was there: so
 * the mark that says that memory and instruction cache agree goes, as with a write.
 */
static void test_cut_page_is_synchronised_again(void **state)
{
	struct page *page;

	write_bytes(100);
	page = first_page();
	page->flags |= PG_ICACHE;
	set_size(50);
	assert_int_equal(page->flags & PG_ICACHE, 0);
	assert_int_equal(((char *)page_to_virt(page))[49], 'x');
	assert_int_equal(((char *)page_to_virt(page))[50], 0);
	page->flags |= PG_ICACHE;
	write_bytes(10);
	assert_int_equal(page->flags & PG_ICACHE, 0);
	set_size(0);
	assert_int_equal(charged, 0);
}

/* Pages that fallocate(2) has made behind the end go with a truncation to the length that the file has. */
static void test_same_length_drops_what_lies_behind(void **state)
{
	write_bytes(PAGE_SIZE + 1);
	put_page(ramfs_new_page(&inode, 2));
	put_page(ramfs_new_page(&inode, 700));
	assert_int_equal(charged, 4);
	set_size(PAGE_SIZE + 1);
	assert_int_equal(charged, 2);
	assert_int_equal(inode.i_blocks, 2 * PAGE_SIZE / 512);
	assert_null(ramfs_find_page(&inode, 2));
	set_size(0);
	assert_int_equal(charged, 0);
}

/*
 * What a fault maps beside its page: pages in a row with a reference each, to the first hole, to the end of the file
 * and to the end of the node; and nothing from a hole on, or behind the end.
 */
static void test_pages_in_a_row(void **state)
{
	static const unsigned there[] = {0, 1, 2, 4, 510, 511, 512, 513, 1100};
	static const struct {
		unsigned from, n, found;
	} cases[] = {{0, 16, 3},   {1, 16, 2},	 {1, 1, 1},    {3, 16, 0},    {4, 16, 1},
		     {508, 8, 0},  {510, 16, 2}, {512, 16, 1}, {513, 16, 0},  {1100, 16, 0},
		     {5000, 8, 0}, {600, 8, 0},	 {1024, 8, 0}, {262144, 8, 0}};
	struct page *pages[16];
	void *used[64];

	/* Behind a node lies what others have left there. */
	for (unsigned i = 0; i < ARRAY_SIZE(used); i++)
		memset(used[i] = get_free_page(GFP_KERNEL), 'x', PAGE_SIZE);
	for (unsigned i = 0; i < ARRAY_SIZE(used); i++)
		free_page(used[i]);
	write_bytes(1);
	put_page(ramfs_new_page(&inode, 0));
	set_size(513 * PAGE_SIZE - 1); /* page 513 and the last one lie behind the end */
	assert_int_equal(ramfs_find_pages(&file, 0, pages, 16), 1);
	put_page(pages[0]);
	for (unsigned i = 1; i < ARRAY_SIZE(there); i++) {
		pages[0] = ramfs_new_page(&inode, there[i]);
		memset(page_to_virt(pages[0]), 'x', PAGE_SIZE);
		put_page(pages[0]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned found = ramfs_find_pages(&file, cases[i].from, pages, cases[i].n);

		if (found != cases[i].found)
			fail_msg("%u pages from page %u on", found, cases[i].from);
		while (found--) {
			assert_ptr_equal(ramfs_find_page(&inode, cases[i].from + found), pages[found]);
			assert_int_equal(atomic_read(&pages[found]->refcount), 3);
			put_page(pages[found]);
			put_page(pages[found]);
		}
	}
	set_size(0);
	assert_int_equal(charged, 0);
}

/* A write that has stored something sets both times. One of nothing, or one that is refused, leaves them. */
static void test_write_sets_times(void **state)
{
	loff_t pos = 0;

	write_bytes(1);
	now = 10;
	write_bytes(10);
	assert_int_equal(inode.i_mtime, 10);
	assert_int_equal(inode.i_ctime, 10);
	now = 20;
	write_bytes(0);
	assert_int_equal(inode.i_mtime, 10);
	assert_int_equal(inode.i_ctime, 10);
	*ramfs_seals(&inode) = F_SEAL_WRITE;
	assert_int_equal(ramfs_write_kernel(&file, "x", 1, &pos), -EPERM);
	*ramfs_seals(&inode) = 0;
	assert_int_equal(inode.i_mtime, 10);
	assert_int_equal(inode.i_ctime, 10);
	now = 30;
	write_bytes(PAGE_SIZE + 1);
	assert_int_equal(inode.i_mtime, 30);
	assert_int_equal(inode.i_ctime, 30);
	set_size(0);
	assert_int_equal(charged, 0);
}

static int boot(void **state)
{
	host_boot(32, 3);
	kmem_cache_init();
	mm_init();
	return ramfs_init_file(&inode);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_page_is_synchronised_again),
		cmocka_unit_test(test_same_length_drops_what_lies_behind),
		cmocka_unit_test(test_pages_in_a_row),
		cmocka_unit_test(test_write_sets_times),
	};

	return cmocka_run_group_tests(tests, boot, NULL);
}
