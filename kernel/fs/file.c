/*
 * Descriptor tables: from small integers to open files.
 *
 *     task -> files_struct -> fd[]:  0 ----> struct file (position, flags) --> dentry --> inode
 *                                    1 --+
 *                                    2 --+-> struct file: dup() and fork() make further pointers to one file
 *                                    3       NULL: free, or reserved and not yet open
 *
 * A table has an array of pointers and two bit maps, `open` (taken) and `cloexec`; they grow together by powers of two,
 * and those of a table with up to 64 entries lie in the structure itself. A descriptor is taken in two steps:
 * get_unused_fd_flags() reserves the number, and fd_install() stores the file once it is open. In between the bit is
 * set and the pointer is NULL, so other threads see no file.
 *
 * Locks: files->lock [l] for every store and for look-ups of a shared table. A table that a single task uses is read by
 * that task without the lock and without taking references: see fdget() in files.h. Tables are shared by
 * clone(CLONE_FILES) and copied by fork (files_dup.c).
 */
#include "internal.h"
#include "files.h"

#include <kernel/export.h>
#include <lib/bitmap.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/resource.h>
#include <proc/syscall.h>
#include <sched/sched.h>

struct files_struct init_files = {
	.count = ATOMIC_INIT(1),
	.lock = __SPIN_LOCK_UNLOCKED,
	.max = NR_OPEN_DEFAULT,
	.fd = init_files.fd_inline,
	.open = init_files.bits_inline[0],
	.cloexec = init_files.bits_inline[1],
};
static struct kmem_cache *files_cache;

unsigned sysctl_nr_open = NR_OPEN_MAX;

/* The copy of a table begins as one (files_dup.c). */
struct files_struct *alloc_files(void)
{
	struct files_struct *files = kmem_cache_zalloc(files_cache, GFP_KERNEL);

	if (!files)
		return NULL;
	atomic_set(&files->count, 1);
	files->max = NR_OPEN_DEFAULT;
	files->fd = files->fd_inline;
	files->open = files->bits_inline[0];
	files->cloexec = files->bits_inline[1];
	return files;
}

/* The arrays of a table, unless they are the ones in the structure itself. */
static void free_arrays(struct files_struct *files)
{
	if (files->fd == files->fd_inline)
		return;
	kfree(files->fd);
	kfree(files->open);
}

/* The structure goes after a grace period: lock_task_files() follows the pointer to it under RCU. */
static void files_free_rcu(struct rcu_head *rcu)
{
	struct files_struct *files = container_of(rcu, struct files_struct, rcu);

	free_arrays(files);
	kmem_cache_free(files_cache, files);
	no_tail_call();
}

/*
 * The arrays are allocated without the lock, because that sleeps. Another thread may expand the table meanwhile; then
 * this call's arrays are too small or not needed, and are freed again. What is copied under the lock is complete, since
 * every store to the arrays is made under it.
 *
 * The old arrays can be freed at once. A reader of a shared table holds the lock, so no reader is inside them after the
 * exchange. A reader of a table with one user is the task that is in this function. The inline arrays are a part of the
 * structure and are not freed.
 */
int grow_files(struct files_struct *files, unsigned fd)
{
	unsigned max = NR_OPEN_DEFAULT;
	struct file **array;
	unsigned long *bits;

	while (max <= fd)
		max *= 2;
	array = kcalloc(max, sizeof(*array), GFP_KERNEL);
	bits = kcalloc(2 * max / 64, sizeof(long), GFP_KERNEL);
	if (!array || !bits) {
		kfree(array);
		kfree(bits);
		return -ENOMEM;
	}
	spin_lock(&files->lock);
	if (files->max < max) {
		memcpy(array, files->fd, files->max * sizeof(*array));
		memcpy(bits, files->open, files->max / 8);
		memcpy(bits + max / 64, files->cloexec, files->max / 8);
		swap(files->fd, array);
		swap(files->open, bits);
		files->cloexec = files->open + max / 64;
		files->max = max;
		if (array == files->fd_inline)
			array = NULL, bits = NULL;
	}
	spin_unlock(&files->lock);
	kfree(array);
	kfree(bits);
	return 0;
}

/*
 * Make room for descriptor `fd`, if fs.nr_open allows so many. It may have been lowered since the caller's limit was
 * set: then the table keeps what it has, and does not grow. 0, -EMFILE or -ENOMEM.
 */
static int expand_files(struct files_struct *files, unsigned fd)
{
	return fd >= READ_ONCE(sysctl_nr_open) ? -EMFILE : grow_files(files, fd);
}

/* New descriptors are below this, the soft limit. */
static __always_inline u64 fd_limit(void)
{
	return rlimit(RLIMIT_NOFILE);
}

/*
 * Reserve the lowest free descriptor at or above `from`; it has no file yet. next_fd is a lower bound of the free ones,
 * so the search does not start at 0 each time. It moves up only when the search began at or below it, as only then
 * nothing free is left below. -EMFILE or -ENOMEM.
 */
static __always_inline int alloc_fd(unsigned from, unsigned flags)
{
	struct files_struct *files = current->files;
	unsigned fd;
	int err;

	for (;;) {
		spin_lock(&files->lock);
		fd = max(from, files->next_fd);
		if (fd < files->max)
			fd = find_next_zero_bit(files->open, files->max, fd);
		if (likely(fd < min((u64)files->max, fd_limit())))
			break;
		spin_unlock(&files->lock);
		err = fd < fd_limit() ? expand_files(files, fd) : -EMFILE;
		if (err)
			return err;
	}
	files->open[fd / 64] |= BIT(fd % 64);
	if (flags & O_CLOEXEC)
		files->cloexec[fd / 64] |= BIT(fd % 64);
	else
		files->cloexec[fd / 64] &= ~BIT(fd % 64);
	if (from <= files->next_fd)
		files->next_fd = fd + 1;
	spin_unlock(&files->lock);
	return fd;
}

/* The system calls that open something call this before they do, so that a full table leaves nothing to undo. */
int get_unused_fd_flags(unsigned flags)
{
	return alloc_fd(0, flags);
}

/* [l] Make a descriptor free. */
static void __put_unused_fd(struct files_struct *files, unsigned fd)
{
	files->open[fd / 64] &= ~BIT(fd % 64);
	if (fd < files->next_fd)
		files->next_fd = fd;
}

/* For a descriptor that was reserved and got no file: no other thread can have seen one under it. */
void put_unused_fd(unsigned fd)
{
	struct files_struct *files = current->files;

	spin_lock(&files->lock);
	__put_unused_fd(files, fd);
	spin_unlock(&files->lock);
}

/* The last step of an open: from here on other threads find the file, so the caller must not touch it any more. */
void fd_install(unsigned fd, struct file *f)
{
	struct files_struct *files = current->files;

	spin_lock(&files->lock);
	files->fd[fd] = f;
	spin_unlock(&files->lock);
}

/* A file of a shared table, with a reference taken under the lock, or NULL. */
static struct file *fget_files(struct files_struct *files, unsigned fd)
{
	struct file *f;

	spin_lock(&files->lock);
	f = files_lookup(files, fd);
	if (f)
		get_file(f);
	spin_unlock(&files->lock);
	return f;
}

/* Like fdget(), it does not find a file of O_PATH. */
struct file *fget(unsigned fd)
{
	struct file *f = fget_files(current->files, fd);

	if (!f || !(f->f_flags & O_PATH))
		return f;
	fput(f);
	return NULL;
}
EXPORT_SYMBOL(fget);

/* fdget_raw()'s slow path: another thread might close the descriptor meanwhile, so a reference is needed. */
struct fd fdget_shared(unsigned fd)
{
	return (struct fd){fget_files(current->files, fd), FDPUT_FPUT};
}

/* fdget_pos()'s slow path: several tasks use one file position. */
struct fd fdget_pos_lock(struct fd f)
{
	mutex_lock(&f.file->f_pos_lock);
	f.flags |= FDPUT_POS_UNLOCK;
	return f;
}

/*
 * The descriptor is free at once, and the table's reference goes to the caller, which drops it without the lock,
 * because the last fput() may sleep.
 */
static __always_inline struct file *take_fd(unsigned fd)
{
	struct files_struct *files = current->files;
	struct file *f;

	spin_lock(&files->lock);
	f = files_lookup(files, fd);
	if (f) {
		files->fd[fd] = NULL;
		__put_unused_fd(files, fd);
	}
	spin_unlock(&files->lock);
	return f;
}

struct file *fd_take(unsigned fd)
{
	return take_fd(fd);
}

/* The descriptor is free at once, even if flush reports an error: the error is about the data. */
noinline int close_fd(unsigned fd)
{
	struct file *f = take_fd(fd);

	return f ? filp_close(f, current->files) : -EBADF;
}

/* 1 or 0, or -EBADF. */
int fd_get_cloexec(unsigned fd)
{
	struct files_struct *files = current->files;
	int res = -EBADF;

	spin_lock(&files->lock);
	if (files_lookup(files, fd))
		res = test_bit(fd, files->cloexec);
	spin_unlock(&files->lock);
	return res;
}

/* Two steps, clear and set, are enough: the lock is held, and readers of the bit map take it, too. */
int fd_set_cloexec(unsigned fd, bool on)
{
	struct files_struct *files = current->files;
	int res = -EBADF;

	spin_lock(&files->lock);
	if (files_lookup(files, fd)) {
		files->cloexec[fd / 64] &= ~BIT(fd % 64);
		files->cloexec[fd / 64] |= (unsigned long)on << (fd % 64);
		res = 0;
	}
	spin_unlock(&files->lock);
	return res;
}

/* F_DUPFD above the limit is -EINVAL, a full table -EMFILE, as fcntl(2) has it. */
int fd_dup(struct file *f, unsigned from, bool cloexec)
{
	int fd = from >= fd_limit() ? -EINVAL : alloc_fd(from, cloexec ? O_CLOEXEC : 0);

	if (fd >= 0)
		fd_install(fd, get_file(f));
	return fd;
}

/*
 * The part of dup2: let newfd stand for f, and close the file that it stood for before. The exchange is made under the
 * lock in one step, so at no time is newfd free for another thread's open to take; that is what distinguishes dup2 from
 * close and dup.
 *
 * A slot that another thread has reserved but not filled yet is -EBUSY, which is Linux's answer to that race. An error
 * of closing the old file is not reported, as on Linux.
 */
static int replace_fd(unsigned newfd, struct file *f, unsigned flags)
{
	struct files_struct *files = current->files;
	struct file *old;
	int err;

	if (newfd >= fd_limit())
		return -EBADF;
	if (newfd >= READ_ONCE(files->max)) {
		err = expand_files(files, newfd);
		if (err)
			return err == -EMFILE ? -EBADF : err;
	}
	spin_lock(&files->lock);
	old = files->fd[newfd];
	if (!old && test_bit(newfd, files->open)) {
		spin_unlock(&files->lock);
		return -EBUSY;
	}
	files->fd[newfd] = get_file(f);
	files->open[newfd / 64] |= BIT(newfd % 64);
	files->cloexec[newfd / 64] &= ~BIT(newfd % 64);
	if (flags & O_CLOEXEC)
		files->cloexec[newfd / 64] |= BIT(newfd % 64);
	spin_unlock(&files->lock);
	if (old)
		filp_close(old, files);
	return newfd;
}

/* The same number twice changes nothing. */
static long do_dup(unsigned oldfd, unsigned newfd, unsigned flags)
{
	struct file *f = fget_files(current->files, oldfd);
	long res;

	if (!f)
		return -EBADF;
	res = oldfd == newfd ? (long)newfd : replace_fd(newfd, f, flags);
	fput(f);
	return res;
}

/* dup3 of a descriptor to itself is an error, unlike dup2's, which does nothing and succeeds. */
SYSCALL_DEFINE3(dup3, unsigned int, oldfd, unsigned int, newfd, int, flags)
{
	return (flags & ~O_CLOEXEC) || oldfd == newfd ? -EINVAL : do_dup(oldfd, newfd, flags);
}

SYSCALL_DEFINE2(dup2, unsigned int, oldfd, unsigned int, newfd)
{
	return do_dup(oldfd, newfd, 0);
}

/* The lowest free number. The reference goes to the new descriptor. */
SYSCALL_DEFINE1(dup, unsigned int, fildes)
{
	struct file *f = fget_files(current->files, fildes);
	int fd;

	if (!f)
		return -EBADF;
	fd = get_unused_fd_flags(0);
	if (fd >= 0)
		fd_install(fd, f);
	else
		fput(f);
	return fd;
}

void get_files_struct(struct files_struct *files)
{
	atomic_inc(&files->count);
}

/*
 * No other user is left. A task that looks at the table still (lock_task_files) sees an empty one from here on, so it
 * takes no reference to a file that this loop drops. Files that other tables hold stay open.
 */
static void close_files(struct files_struct *files)
{
	unsigned words = files->max / 64;

	spin_lock(&files->lock);
	files->max = 0;
	spin_unlock(&files->lock);
	for (unsigned w = 0; w < words; w++)
		for (unsigned long bits = files->open[w]; bits; bits &= bits - 1) {
			struct file *f = files->fd[w * 64 + __builtin_ctzl(bits)];

			if (f)
				filp_close(f, files);
		}
}

/* The files are closed by the last user at once; only the memory waits for a grace period. */
void put_files_struct(struct files_struct *files)
{
	if (!files || !atomic_dec_and_test(&files->count))
		return;
	close_files(files);
	call_rcu(&files->rcu, files_free_rcu);
}

/* The pointer goes first: fget_task() follows it under RCU, and finds the table empty when it has no user any more. */
void exit_files(void *arg)
{
	struct task_struct *task = arg;
	struct files_struct *files = task->files;

	WRITE_ONCE(task->files, NULL);
	put_files_struct(files);
}

/*
 * After unshare_files() the table has no other user that changes it, so the bit maps may be read without the lock;
 * fd_take() takes it for each close.
 */
void do_close_on_exec(struct files_struct *files)
{
	for (unsigned w = 0; w < files->max / 64; w++)
		for (unsigned long bits = files->cloexec[w] & files->open[w]; bits; bits &= bits - 1) {
			struct file *f = fd_take(w * 64 + __builtin_ctzl(bits));

			if (f)
				filp_close(f, files);
		}
}

/*
 * Another task's table, with its lock, or NULL. The task that looks is not counted as a user, so it neither makes the
 * owner's fdget() slower nor owns the files when the owner exits. The memory lasts for a grace period after the last
 * user.
 */
static struct files_struct *lock_task_files(struct task_struct *task)
{
	struct files_struct *files;

	rcu_read_lock();
	files = READ_ONCE(task->files);
	if (files)
		spin_lock(&files->lock);
	else
		rcu_read_unlock();
	return files;
}

static void unlock_task_files(struct files_struct *files)
{
	spin_unlock(&files->lock);
	rcu_read_unlock();
}

/*
 * The first file at or behind descriptor *fd; *fd becomes its descriptor. For a listing of /proc/<pid>/fd, which asks
 * again from the next number on.
 */
struct file *fget_task_next(struct task_struct *task, unsigned *fd)
{
	struct files_struct *files = lock_task_files(task);
	struct file *f = NULL;

	if (!files)
		return NULL;
	while (*fd < files->max && !files->fd[*fd])
		++*fd;
	if (*fd < files->max)
		f = get_file(files->fd[*fd]);
	unlock_task_files(files);
	return f;
}

/* For /proc, which has checked whether its reader may look at the task. */
struct file *fget_task(struct task_struct *task, unsigned fd)
{
	struct files_struct *files = lock_task_files(task);
	struct file *f;

	if (!files)
		return NULL;
	f = files_lookup(files, fd);
	if (f)
		get_file(f);
	unlock_task_files(files);
	return f;
}

/* Does exec close this file of another task's? The answer may be old when it is used. */
bool fd_cloexec_task(struct task_struct *task, unsigned fd)
{
	struct files_struct *files = lock_task_files(task);
	bool cloexec;

	if (!files)
		return false;
	cloexec = fd < files->max && test_bit(fd, files->cloexec);
	unlock_task_files(files);
	return cloexec;
}

void files_init(void)
{
	files_cache = kmem_cache_create("files_cache", sizeof(struct files_struct), 0, SLAB_PANIC, NULL);
}
