/*
 * What may go while a path walk is under way: names of a folder that is removed, the file system of what a walk holds,
 * the parent of a folder that is listed, the file system of a watch of inotify. Each needs another task at one moment,
 * so the test lets it come just then. The file system keeps nothing but its tree of names.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>
#include <asm/uaccess.h>

long strncpy_from_user(char *dst, const char *src, long n);

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/fs/dcache.c"
#include "../../../kernel/fs/inotify/inotify.c"
#include "../../../kernel/fs/made/libfs.c"
#include "../../../kernel/fs/namei.c"
#include "not_called.h"

/* ---- What it stands on */

static unsigned dentries, inodes; /* that are there */
unsigned inotify_max_events = 10, inotify_max_instances = 10, inotify_max_watches = 10;
atomic_t fsnotify_watches;
const struct fsnotify_ops *fsnotify_ops = &inotify_ops; /* as inotify_setup() does it */

struct kmem_cache *kmem_cache_create(const char *name, unsigned size, unsigned align, unsigned flags,
				     void (*ctor)(void *))
{
	return NULL;
}
void *kmem_cache_zalloc(struct kmem_cache *s, gfp_t gfp)
{
	dentries++;
	return calloc(1, sizeof(struct dentry));
}
void kmem_cache_free(struct kmem_cache *s, void *object)
{
	dentries--;
	free(object);
}
void *kmalloc(size_t n, gfp_t gfp)
{
	return malloc(n);
}
void *kzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void kfree(const void *p)
{
	free((void *)p);
}
void ihold(struct inode *inode)
{
	atomic_inc(&inode->i_count);
}
static struct super_block sb;
void iput(struct inode *inode)
{
	if (!inode || !atomic_dec_and_test(&inode->i_count))
		return;
	assert_ptr_equal(inode->i_sb, &sb);
	inodes--;
	free(inode);
}
struct inode *new_inode(struct super_block *s, mode_t mode)
{
	struct inode *inode = calloc(1, sizeof(*inode));

	inodes++;
	inode->i_ino = inodes;
	inode->i_mode = mode;
	inode->i_sb = s;
	inode->i_nlink = 1;
	atomic_set(&inode->i_count, 1);
	return inode;
}
static struct user_struct user;
struct user_struct *get_task_user(struct task_struct *t)
{
	return &user;
}
static struct file instance;
struct file *fget(unsigned fd)
{
	return &instance;
}
void fput(struct file *f)
{
}
int mode_permission(const struct inode *inode, int mask)
{
	return 0;
}
static unsigned there_at_the_end, ended; /* dentries when the mount went, and mounts that have gone */
void free_mount(struct mount *m)
{
	there_at_the_end = dentries;
	ended++;
}
void put_user_struct(struct user_struct *u)
{
}
bool user_charge_memory(struct user_struct *u, size_t bytes)
{
	return true;
}
void user_uncharge_memory(struct user_struct *u, size_t bytes)
{
}
size_t ksize(const void *p)
{
	return 0;
}
NOT_CALLED(char *kstrdup(const char *s, gfp_t gfp), NULL)
NOT_CALLED(int get_unused_fd_flags(unsigned flags), 0)
NOT_CALLED(int may_follow(const struct nameidata *nd, const struct dentry *link), 0)
NOT_CALLED(int walk_dotdot(struct nameidata *nd), 0)
NOT_CALLED(long strncpy_from_user(char *dst, const char *src, long n), 0)
NOT_CALLED(ssize_t strscpy(char *dst, const char *src, size_t size), 0)
NOT_CALLED(struct fd fdget_shared(unsigned fd), (struct fd){})
NOT_CALLED(struct file *anon_inode_file(const char *name, const struct file_operations *fops, void *data,
					unsigned flags),
	   NULL)
NOT_CALLED(void *get_free_page(gfp_t gfp), NULL)
NOT_CALLED(void fd_install(unsigned fd, struct file *f), )
NOT_CALLED(void free_page(void *p), )
NOT_CALLED(void poll_wait(struct file *f, struct wait_queue_head *q, struct poll_table *pt), )

/* ---- A tree: a root, whose reference the test has */
static struct dentry *root;
static int tree(void **state)
{
	ended = 0;
	root = d_make_root(&sb, new_inode(&sb, S_IFDIR | 0755));
	return 0;
}

static int no_tree(void **state)
{
	dput(root);
	assert_int_equal(dentries, 0);
	assert_int_equal(inodes, 0);
	assert_int_equal(sb.s_watches.counter, 0);
	return 0;
}

static struct dentry *add(struct dentry *parent, const char *name, struct inode *inode)
{
	struct dentry *d = d_alloc(parent, name, strlen(name));

	d_add(d, inode);
	return d;
}

/*
 * A walk has found that a name does not exist, and holds what remembers that, while the folder is removed: neither is
 * kept afterwards. If they were, the file system could go before they do.
 */
static void test_removed_folder_is_not_kept(void **state)
{
	struct dentry *folder = add(root, "folder", new_inode(&sb, S_IFDIR | 0755)), *name;

	d_pin(folder);
	name = add(folder, "no such file", NULL);
	d_delete(folder);
	shrink_negative_children(folder);
	dput(folder);
	assert_int_equal(dentries, 3);
	dput(name);
	assert_int_equal(dentries, 1);
}

/* The same name in a folder that stays is remembered. */
static void test_missing_name_is_remembered(void **state)
{
	struct dentry *name = add(root, "no such file", NULL);

	dput(name);
	assert_int_equal(dentries, 2);
	spin_lock(&dcache_lock);
	assert_ptr_equal(__d_lookup(root, "no such file", 12, name_hash("no such file", 12)), name);
	spin_unlock(&dcache_lock);
	shrink_negative_children(root);
	assert_int_equal(dentries, 1);
}

/* ---- Walks whose mount is unmounted meanwhile (umount -l): when it goes they hold nothing else of its file system */
static struct mount mount, other;

static struct nameidata walk_in_a_mount(void)
{
	atomic_set(&mount.mnt_count, 1);
	atomic_set(&other.mnt_count, 1);
	spin_lock(&dcache_lock);
	return (struct nameidata){.base = {&mount, dget(root)}, .path = {&other, root}};
}

static void test_walk_ends(void **state)
{
	struct nameidata nd = walk_in_a_mount();

	nd.held = d_alloc(root, "held", 4);
	path_finish(&nd);
	assert_int_equal(ended, 1);
	assert_int_equal(there_at_the_end, 1);
}

static void test_walk_goes_on_elsewhere(void **state)
{
	struct nameidata nd = walk_in_a_mount();

	nd.held = d_alloc(root, "held", 4);
	walk_unlock(&nd);
	assert_int_equal(ended, 1);
	assert_int_equal(there_at_the_end, 1);
	assert_ptr_equal(nd.base.mnt, &other);
	path_put(&nd.base);
}

static struct dentry *magic_link;
static int leads_elsewhere(struct inode *inode, struct path *to)
{
	mntput(&mount);
	dput(magic_link);
	*to = (struct path){&other, root};
	path_get(to);
	return 0;
}

/* A link to an object, whose own file system goes while it is followed: the link is put before its mount. */
static void test_link_leads_elsewhere(void **state)
{
	static const struct inode_operations iops = {.get_path = leads_elsewhere};
	struct inode *inode = new_inode(&sb, S_IFLNK | 0777);
	struct nameidata nd = {.name = ""};

	inode->i_op = &iops;
	magic_link = d_alloc(root, "link", 4);
	magic_link->d_inode = inode;
	atomic_set(&mount.mnt_count, 1);
	atomic_set(&other.mnt_count, 1);
	spin_lock(&dcache_lock);
	nd.path = (struct path){&mount, root};
	assert_int_equal(follow_link(&nd, magic_link), 1);
	assert_int_equal(ended, 1);
	assert_int_equal(there_at_the_end, 1);
	assert_ptr_equal(nd.path.mnt, &other);
	path_finish(&nd);
}

/* ---- A folder that is listed while it moves */
static struct dentry *moving, *old_parent;

/* The rename is over before the lister gets the lock. */
static void has_moved(spinlock_t *l)
{
	host_spin_locking = NULL;
	moving->d_parent = root;
}

static u64 above; /* what ".." was told to be */
static bool note_entry(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino, unsigned type)
{
	above = ino;
	return true;
}

/* The folder above is looked at under the lock: the one that it was may have gone. */
static void test_listed_while_it_moves(void **state)
{
	struct dir_context ctx = {.emit = note_entry};
	struct file file = {};

	old_parent = add(root, "old", new_inode(&sb, S_IFDIR | 0755));
	moving = add(old_parent, "moving", new_inode(&sb, S_IFDIR | 0755));
	file.f_dentry = moving;
	host_spin_locking = has_moved;
	assert_true(dir_emit_dots(&file, &ctx));
	assert_int_equal(above, root->d_inode->i_ino);
	assert_int_equal(ctx.pos, 2);
	moving->d_parent = old_parent;
	dput(moving);
	dput(old_parent);
}

static char listed[64];
static bool note_name(struct dir_context *ctx, const char *name, int len, loff_t pos, u64 ino, unsigned type)
{
	strncat(listed, name, (size_t)len);
	strcat(listed, " ");
	return true;
}

/*
 * A reader that has come to the end stands directly behind the last entry: the next name that is added is the next one
 * that it gets.
 */
static void test_listing_goes_on_behind_the_last(void **state)
{
	struct dir_context ctx = {.emit = note_name};
	struct file file = {.f_dentry = root};
	struct dentry *names[2];

	listed[0] = '\0';
	names[0] = add(root, "first", new_inode(&sb, S_IFREG | 0644));
	d_pin(names[0]);
	assert_int_equal(dcache_readdir(&file, &ctx), 0);
	assert_string_equal(listed, ". .. first ");
	assert_int_equal(ctx.pos, names[0]->d_off + 1);
	assert_true(dcache_readdir_done(&file, &ctx));
	names[1] = add(root, "second", new_inode(&sb, S_IFREG | 0644));
	d_pin(names[1]);
	assert_int_equal(names[1]->d_off, ctx.pos);
	assert_false(dcache_readdir_done(&file, &ctx));
	assert_int_equal(dcache_readdir(&file, &ctx), 0);
	assert_string_equal(listed, ". .. first second ");
	for (int i = 0; i < 2; i++) {
		d_delete(names[i]);
		dput(names[i]);
	}
}

/* ---- Watches of inotify */

static int counted; /* watches that hold the file system while one of them is being put */
static void watch_was_taken(struct mutex *m)
{
	if (m == &inotify_mutex && !fsnotify_active())
		counted = atomic_read(&sb.s_watches);
}

/* A watch that was taken out of the lists holds its inode until it is put, and is counted for so long. */
static void test_watch_is_counted_until_it_is_put(void **state)
{
	struct inotify_group *g = new_group();
	struct path path = {NULL, root};
	int wd = watch_path(g, &path, IN_MODIFY);

	instance = (struct file){.f_op = &inotify_fops, .private_data = g};
	assert_int_equal(atomic_read(&sb.s_watches), 1);
	counted = 0;
	host_mutex_unlocked = watch_was_taken;
	assert_int_equal(__do_sys_inotify_rm_watch(3, wd), 0);
	host_mutex_unlocked = NULL;
	assert_int_equal(counted, 1);
	assert_int_equal(atomic_read(&sb.s_watches), 0);
	inotify_release(NULL, &instance);
}

static bool the_other_task_puts_it(void)
{
	host_asleep = NULL;
	atomic_dec(&sb.s_watches);
	wake_up_all(&watches_put);
	return true;
}

/* The end of a file system takes the watches that are in lists, and waits for one that another task is putting. */
static void test_end_waits_for_a_watch(void **state)
{
	struct inotify_group *g = new_group();
	struct path path = {NULL, root};

	assert_int_equal(watch_path(g, &path, IN_MODIFY), 1);
	atomic_inc(&sb.s_watches);
	host_asleep = the_other_task_puts_it;
	host_sleeps = 0;
	fsnotify_unmount(&sb);
	assert_int_equal(host_sleeps, 1);
	assert_int_equal(atomic_read(&root->d_inode->i_count), 1);
	inotify_release(NULL, &(struct file){.private_data = g});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_removed_folder_is_not_kept, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_missing_name_is_remembered, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_walk_ends, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_walk_goes_on_elsewhere, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_link_leads_elsewhere, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_listed_while_it_moves, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_listing_goes_on_behind_the_last, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_watch_is_counted_until_it_is_put, tree, no_tree),
		cmocka_unit_test_setup_teardown(test_end_waits_for_a_watch, tree, no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
