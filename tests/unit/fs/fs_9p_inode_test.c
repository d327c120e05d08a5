/*
 * Inodes of 9p: what a server's answer to TGETATTR makes of an inode, for each type of file, and which answer belongs
 * to a file that is not the inode's any more. The client's functions are the test's own.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <asm/uaccess.h>
#include <host_kernel.h>

#include "../../../kernel/fs/9p/inode.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "not_called.h"

/* ---- The server: what it answers, and which fids were given up */

static struct p9_stat answer;
static struct p9_qid walked;
static int answer_err, walk_err;
static u32 clunked;
static unsigned clunks;

int p9_client_getattr(struct p9_client *c, u32 fid, struct p9_stat *st)
{
	*st = answer;
	return answer_err;
}

int p9_client_walk(struct p9_client *c, u32 from, const char *name, u32 *fid, struct p9_qid *qid)
{
	*fid = 9;
	if (qid)
		*qid = walked;
	return walk_err;
}

void p9_client_clunk(struct p9_client *c, u32 fid)
{
	clunked = fid;
	clunks++;
}

/* ---- The kernel around it */

static long blocks;
static bool no_memory, no_inode;

void *kzalloc(size_t n, gfp_t gfp)
{
	blocks += !no_memory;
	return no_memory ? NULL : calloc(1, n);
}

void kfree(const void *p)
{
	blocks -= p != NULL;
	free((void *)p);
}

struct inode *new_inode(struct super_block *sb, mode_t mode)
{
	static struct inode inode;

	inode = (struct inode){.i_mode = mode, .i_sb = sb};
	return no_inode ? NULL : &inode;
}

static mode_t special_mode;
static dev_t special_dev;
static unsigned specials;
void init_special_inode(struct inode *inode, mode_t mode, dev_t rdev)
{
	special_mode = mode;
	special_dev = rdev;
	specials++;
}

const struct file_operations v9fs_file_fops, v9fs_dir_fops;

NOT_CALLED(int p9_client_call(struct p9_client *c, u8 type, const char *fields, ...), 0)
NOT_CALLED(int p9_client_readlink(struct p9_client *c, u32 fid, char *to, u32 size), 0)
NOT_CALLED(int inode_newsize_ok(const struct inode *inode, loff_t size), 0)
NOT_CALLED(void d_add(struct dentry *dentry, struct inode *inode), )
NOT_CALLED(void d_delete(struct dentry *dentry), )
NOT_CALLED(void generic_fillattr(const struct inode *inode, struct kstat *stat), )
NOT_CALLED(void unmap_mapping_pages(const struct inode *inode, unsigned long from), )

/* ---- Tests */

static struct super_block sb;
static struct dentry root = {};

/* The inode for fid 9, when the server says that it is of this mode and has these other attributes: 1 to 8. */
static struct inode *get_inode(mode_t mode, u64 rdev)
{
	clunks = specials = 0;
	answer = (struct p9_stat){.qid = {.type = 0, .version = 1, .path = 77},
				  .mode = mode,
				  .uid = 1,
				  .gid = 2,
				  .nlink = 3,
				  .rdev = rdev,
				  .size = 4,
				  .blocks = 5,
				  .atime = 6,
				  .mtime = 7,
				  .ctime = 8};
	return v9fs_get_inode(&sb, NULL, 9);
}

static void put_inode(struct inode *inode)
{
	v9fs_evict_inode(inode);
	assert_int_equal(clunked, 9);
	assert_int_equal(clunks, 1);
	assert_int_equal(blocks, 0);
}

/* Each type has its operations, and each attribute its place. */
static void test_types(void **state)
{
	static const struct {
		mode_t type;
		const struct inode_operations *i_op;
		const struct file_operations *i_fop;
	} types[] = {
		{S_IFREG, &v9fs_file_iops, &v9fs_file_fops},
		{S_IFDIR, &v9fs_dir_iops, &v9fs_dir_fops},
		{S_IFLNK, &v9fs_link_iops, NULL},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		struct inode *inode = get_inode(types[i].type | 06751, 0);

		assert_int_equal(inode->i_mode, types[i].type | 06751);
		assert_ptr_equal(inode->i_op, types[i].i_op);
		assert_ptr_equal(inode->i_fop, types[i].i_fop);
		assert_int_equal(specials, 0);
		assert_true(inode->i_ino == 77 && inode->i_uid == 1 && inode->i_gid == 2 && inode->i_nlink == 3);
		assert_true(inode->i_size == 4 && inode->i_blocks == 5 && inode->i_atime == 6 && inode->i_mtime == 7 &&
			    inode->i_ctime == 8);
		put_inode(inode);
	}
}

/* Numbers of devices: of 12 bits major and 20 bits minor, the minor's upper bits above the major's. */
static void test_devices(void **state)
{
	static const struct {
		u64 told;
		unsigned major, minor;
	} numbers[] = {
		{0x103, 1, 3},
		{0xfff00, 0xfff, 0},
		{0xff, 0, 0xff},
		{0x100000, 0, 0x100},
		{0xfff00000, 0, 0xfff00},
		{0xffffffff, 0xfff, 0xfffff},
		{0x12345678, 0x456, 0x12378},
	};
	static const mode_t types[] = {S_IFCHR, S_IFBLK, S_IFIFO, S_IFSOCK};

	for (unsigned i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct inode *inode = get_inode(types[i % 4] | 0640, numbers[i].told);

		assert_int_equal(specials, 1);
		assert_int_equal(special_mode, types[i % 4] | 0640);
		assert_int_equal(MAJOR(special_dev), numbers[i].major);
		assert_int_equal(MINOR(special_dev), numbers[i].minor);
		put_inode(inode);
	}
}

/* Whatever fails, the fid is given up, and no memory is lost. */
static void test_failures(void **state)
{
	no_memory = true;
	assert_ptr_equal(get_inode(S_IFREG, 0), ERR_PTR(-ENOMEM));
	assert_int_equal(clunks, 1);
	no_memory = false;
	no_inode = true;
	assert_ptr_equal(get_inode(S_IFREG, 0), ERR_PTR(-ENOMEM));
	assert_int_equal(clunks, 1);
	no_inode = false;
	answer_err = -EIO;
	assert_ptr_equal(get_inode(S_IFREG, 0), ERR_PTR(-EIO));
	assert_int_equal(clunks, 1);
	answer_err = 0;
	assert_int_equal(blocks, 0);
}

/*
 * The type that an inode has stays. Another file under the name means that the inode's is gone, and then nothing is
 * stored; the root is what the server shows there.
 */
static void test_refresh(void **state)
{
	struct inode *inode = get_inode(S_IFREG | 0600, 0);

	sb.s_root = &root;
	answer.mode = S_IFDIR | 0444;
	answer.size = 100;
	assert_int_equal(v9fs_refresh_inode(inode), 0);
	assert_true(inode->i_mode == (S_IFREG | 0444) && inode->i_size == 100);
	answer.qid.path++;
	answer.size = 200;
	assert_int_equal(v9fs_refresh_inode(inode), -ENOENT);
	assert_int_equal(inode->i_size, 100);
	root.d_inode = inode;
	assert_int_equal(v9fs_refresh_inode(inode), 0);
	assert_int_equal(inode->i_size, 200);
	answer_err = -EIO;
	answer.size = 300;
	assert_int_equal(v9fs_refresh_inode(inode), -EIO);
	assert_int_equal(inode->i_size, 200);
	answer_err = 0;
	root.d_inode = NULL;
	put_inode(inode);
}

/*
 * A name in use is asked for at each step: it stays while it leads to the same file, whose attributes are renewed; it
 * is looked up again when it is gone or leads to another; and another error is told. The fid of the question is given
 * up.
 */
static void test_revalidate(void **state)
{
	struct inode *inode = get_inode(S_IFREG | 0600, 0);
	struct v9fs_inode of_dir = {};
	struct inode dir = {.i_fs_info = &of_dir};
	struct dentry name = {.d_inode = inode}, unused = {};

	walked = answer.qid;
	answer.size = 50;
	assert_int_equal(v9fs_d_revalidate(&dir, &name), 1);
	assert_int_equal(inode->i_size, 50);
	assert_int_equal(clunks, 1);
	assert_int_equal(v9fs_d_revalidate(&dir, &unused), 0);
	answer_err = -ENOENT; /* gone since the walk */
	assert_int_equal(v9fs_d_revalidate(&dir, &name), 0);
	answer_err = -EIO;
	assert_int_equal(v9fs_d_revalidate(&dir, &name), -EIO);
	answer_err = 0;
	walked.path++;
	assert_int_equal(v9fs_d_revalidate(&dir, &name), 0);
	assert_int_equal(clunks, 5);
	walk_err = -ENOENT;
	assert_int_equal(v9fs_d_revalidate(&dir, &name), 0);
	walk_err = -EIO;
	assert_int_equal(v9fs_d_revalidate(&dir, &name), -EIO);
	assert_int_equal(clunks, 5);
	walk_err = clunks = 0;
	put_inode(inode);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),	cmocka_unit_test(test_devices),	   cmocka_unit_test(test_failures),
		cmocka_unit_test(test_refresh), cmocka_unit_test(test_revalidate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
