/*
 * Reads of files of 9p, message by message: a page whose second message fails, and what is held while the data is
 * copied. The client's functions are the test's own.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <asm/uaccess.h>
#include <host_kernel.h>
#include <mm/page.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "not_called.h"

static struct page the_page;
static char bytes[PAGE_SIZE] __aligned(PAGE_SIZE); /* of that page */
static unsigned copies, held;			   /* held: requests that have a tag */

/* The user's memory may be a file of the same mount. */
static unsigned long copy_without_tag(void *to, const void *from, unsigned long n)
{
	copies++;
	assert_int_equal(held, 0);
	return copy_to_user(to, from, n);
}
#define copy_to_user copy_without_tag
#undef page_to_virt
#define page_to_virt(page) ((void *)bytes)
#define alloc_page(gfp)	   (&the_page)
#include "../../../kernel/fs/9p/file.c"

/* ---- The client: it answers with bytes of `content`, `most` in a message; what message is an error */

static char content[10000];
static unsigned most, length, messages, fails;
static struct p9_client client = {};

/* A request with the bytes at `pos`, as many as a message carries. 0 behind the end. */
ssize_t p9_client_read(struct p9_client *c, u8 type, u32 fid, u64 pos, size_t n, struct p9_req **out)
{
	struct p9_req *req;
	size_t there = pos < length ? length - pos : 0;

	if (++messages == fails)
		return -EIO;
	n = min(n, (size_t)most);
	if (!there)
		return 0;
	req = calloc(1, sizeof(*req));
	req->data = malloc(n);
	req->data_len = n;
	memcpy(req->data, content + pos, min(n, there));
	held++;
	*out = req;
	return min(n, there);
}

void p9_req_put(struct p9_req *req)
{
	held--;
	free(req->data);
	free(req);
}

void kfree(const void *p)
{
	free((void *)p);
}

static unsigned pages_given_back;

/* ---- What else it stands on: not called */
NOT_CALLED(int p9_client_call(struct p9_client *c, u8 type, const char *fields, ...), 0)
NOT_CALLED(int p9_client_walk(struct p9_client *c, u32 from, const char *name, u32 *fid, struct p9_qid *qid), 0)
NOT_CALLED(ssize_t p9_client_write(struct p9_client *c, u32 fid, u64 pos, const void *from, size_t n, bool kernel), 0)
NOT_CALLED(int p9_msg_get_dirent(struct p9_msg *m, struct p9_dirent *entry), 0)
NOT_CALLED(int v9fs_refresh_inode(struct inode *inode), 0)
NOT_CALLED(int generic_write_checks(loff_t pos, size_t *n), 0)
NOT_CALLED(loff_t default_llseek(struct file *f, loff_t off, int whence), 0)
NOT_CALLED(void *kzalloc(size_t n, gfp_t gfp), 0)
void p9_client_clunk(struct p9_client *c, u32 fid)
{
}
bool fatal_signal_pending(struct task_struct *t)
{
	return false;
}
void put_page(struct page *page)
{
	pages_given_back++;
}

/* A file of `size` bytes, in messages of `message` bytes; number `bad` (from 1 on, 0: none) is an error. */
static struct file *a_file(unsigned size, unsigned message, unsigned bad)
{
	static struct v9fs_file of = {.fid = 5};
	static struct v9fs_inode v = {.client = &client};
	static struct inode inode = {.i_fs_info = &v};
	static struct file f = {.f_inode = &inode, .private_data = &of};

	for (unsigned i = 0; i < sizeof(content); i++)
		content[i] = i % 251 + 1;
	length = size;
	most = message;
	fails = bad;
	messages = pages_given_back = copies = 0;
	memset(bytes, 0x55, sizeof(bytes));
	return &f;
}

/* A page is whole, or cannot be had: none has zeros where the file has bytes. */
static void test_a_page_is_whole(void **state)
{
	assert_ptr_equal(v9fs_file_get_page(a_file(9000, 4072, 0), 1), &the_page);
	assert_memory_equal(bytes, content + 4096, 4096);
	assert_int_equal(messages, 2);
	assert_ptr_equal(v9fs_file_get_page(a_file(9000, 4072, 2), 1), ERR_PTR(-EIO));
	assert_int_equal(pages_given_back, 1);
	assert_ptr_equal(v9fs_file_get_page(a_file(9000, 4072, 1), 1), ERR_PTR(-EIO));
	/* The last one ends with zeros, and costs no message more; behind the end there is none. */
	assert_ptr_equal(v9fs_file_get_page(a_file(5000, 4072, 0), 1), &the_page);
	assert_int_equal(messages, 1);
	assert_memory_equal(bytes, content + 4096, 5000 - 4096);
	for (unsigned i = 5000 - 4096; i < PAGE_SIZE; i++)
		assert_int_equal(bytes[i], 0);
	assert_ptr_equal(v9fs_file_get_page(a_file(4096, 4072, 0), 1), ERR_PTR(-EIO));
	assert_int_equal(held, 0);
}

/* What came before an error is returned; the next read tells the error. Where nothing can be copied it is a fault. */
static void test_a_read_ends_at_an_error(void **state)
{
	static char to[10000];
	loff_t pos = 0;

	assert_int_equal(v9fs_file_read(a_file(9000, 4000, 0), to, 9500, &pos), 9000);
	assert_memory_equal(to, content, 9000);
	assert_int_equal(copies, 3);
	pos = 0;
	assert_int_equal(v9fs_file_read(a_file(9000, 4000, 2), to, 9500, &pos), 4000);
	assert_int_equal(pos, 4000);
	assert_int_equal(v9fs_file_read(a_file(9000, 4000, 1), to, 9500, &pos), -EIO);
	assert_int_equal(v9fs_file_read(a_file(9000, 4000, 0), (char *)16, 9500, &pos), -EFAULT);
	assert_int_equal(pos, 4000);
	assert_int_equal(held, 0);
}

/* The fid that a creation has opened is for one open, by the task that created: others find none, and leave it. */
static void test_whose_the_created_fid_is(void **state)
{
	struct inode *inode = a_file(1, 1, 0)->f_inode;
	struct v9fs_inode *v = v9fs_i(inode);

	assert_int_equal(take_created(inode), 0);
	v->created = 7;
	v->created_by = current + 1;
	assert_int_equal(take_created(inode), 0);
	assert_int_equal(v->created, 7);
	v->created_by = current;
	assert_int_equal(take_created(inode), 7);
	assert_int_equal(take_created(inode), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_page_is_whole),
		cmocka_unit_test(test_a_read_ends_at_an_error),
		cmocka_unit_test(test_whose_the_created_fid_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
