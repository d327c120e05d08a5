/*
 * rename(2) between two directories: in which order their locks are taken. A wrong order is a deadlock between two
 * renames that only a busy machine shows, so the test looks at the order itself. Of the kernel there is only a tree of
 * four directories; mutexes note who is taken when.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/fs/rename.c"
#include "not_called.h"

/* ---- What it stands on: only the tree of directories is here. */
struct mutex rename_mutex;
bool d_is_ancestor(struct dentry *a, struct dentry *d)
{
	assert_true(rename_mutex.owner);
	while (d != a && d != d->d_parent)
		d = d->d_parent;
	return d == a;
}
atomic_t fsnotify_watches;
const struct fsnotify_ops *fsnotify_ops; /* with no watch it is not looked at */
NOT_CALLED(void d_exchange(struct dentry *a, struct dentry *b), )
NOT_CALLED(void d_move(struct dentry *old, struct dentry *new), )
NOT_CALLED(void dput(struct dentry *d), )
NOT_CALLED(void free_mount(struct mount *m), )
NOT_CALLED(void free_page(void *p), )
NOT_CALLED(void path_free_names(struct nameidata *nd), )
NOT_CALLED(void shrink_negative_children(struct dentry *dir), )
NOT_CALLED(int getname(struct filename *f, const char __user *path, bool empty_ok), 0)
NOT_CALLED(int may_create(struct inode *dir, struct dentry *dentry), 0)
NOT_CALLED(int may_delete(struct inode *dir, struct dentry *victim, bool is_dir), 0)
NOT_CALLED(int mode_permission(const struct inode *inode, int mask), 0)
NOT_CALLED(int mnt_want_write(const struct path *path), 0)
NOT_CALLED(int path_parentat(struct nameidata *nd, int dfd, const char *name, struct path *parent), 0)
NOT_CALLED(struct dentry *lookup_one(struct dentry *parent, const char *name, unsigned len, u32 hash), NULL)

/* ---- A tree: top, top/sub, top/sub/below, top/other. */
enum { TOP, SUB, BELOW, OTHER, DIRS };
static struct inode inodes[DIRS];
static struct dentry dirs[DIRS];
static struct mutex *taken[3];
static unsigned nr_taken;

static void note(struct mutex *m)
{
	assert_in_range(nr_taken, 0, 2);
	taken[nr_taken++] = m;
}

/*
 * For each pair of directories: rename_mutex comes first, then an ancestor before what is below it, as all other ways
 * down the tree have it; one lock is enough when both are the same. Afterwards all locks are free.
 */
static void test_ancestor_first(void **state)
{
	static const unsigned parents[DIRS] = {TOP, TOP, SUB, TOP};

	for (unsigned i = 0; i < DIRS; i++)
		dirs[i] = (struct dentry){.d_inode = &inodes[i], .d_parent = &dirs[parents[i]]};
	host_mutex_locking = note;
	for (unsigned a = 0; a < DIRS; a++) {
		for (unsigned b = 0; b < DIRS; b++) {
			nr_taken = 0;
			lock_rename(&dirs[a], &dirs[b]);
			unlock_rename(&dirs[a], &dirs[b]);
			for (unsigned i = 0; i < DIRS; i++)
				assert_int_equal(inodes[i].i_lock.owner, 0);
			assert_int_equal(nr_taken, a == b ? 1 : 3);
			if (a == b)
				continue;
			assert_ptr_equal(taken[0], &rename_mutex);
			host_mutex_locking = NULL;
			mutex_lock(&rename_mutex);
			if ((d_is_ancestor(&dirs[a], &dirs[b]) && taken[1] != &inodes[a].i_lock) ||
			    (d_is_ancestor(&dirs[b], &dirs[a]) && taken[1] != &inodes[b].i_lock))
				fail_msg("from directory %u to %u: the one below is locked before the one above", a, b);
			mutex_unlock(&rename_mutex);
			host_mutex_locking = note;
		}
	}
	host_mutex_locking = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ancestor_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
