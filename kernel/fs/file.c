/* Descriptor tables: from small integers to open files, growing as needed. */
#include "internal.h"
#include "files.h"

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

static struct files_struct *alloc_files(void)
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

static void free_arrays(struct files_struct *files)
{
	if (files->fd == files->fd_inline)
		return;
	kfree(files->fd);
	kfree(files->open);
}

static void files_free_rcu(struct rcu_head *rcu)
{
	struct files_struct *files = container_of(rcu, struct files_struct, rcu);

	free_arrays(files);
	kmem_cache_free(files_cache, files);
}

/* Room for descriptor `fd`: a power of two. Not locked; may sleep. 0, -EMFILE, -ENOMEM. */
static int expand_files(struct files_struct *files, unsigned fd)
{
	unsigned max = NR_OPEN_DEFAULT;
	struct file **array;
	unsigned long *bits;

	if (fd >= NR_OPEN_MAX)
		return -EMFILE;
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
	/* All who read the arrays hold the lock or are us: nobody has the old ones. */
	kfree(array);
	kfree(bits);
	return 0;
}

/* Descriptors are below this: the soft limit, which the hard one keeps at NR_OPEN_MAX or below. */
static __always_inline u64 fd_limit(void)
{
	return rlimit(RLIMIT_NOFILE);
}

/* The lowest free descriptor >= from, reserved: no file yet. -EMFILE, -ENOMEM. */
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

int get_unused_fd_flags(unsigned flags)
{
	return alloc_fd(0, flags);
}

/* [lock] */
static void __put_unused_fd(struct files_struct *files, unsigned fd)
{
	files->open[fd / 64] &= ~BIT(fd % 64);
	if (fd < files->next_fd)
		files->next_fd = fd;
}

void put_unused_fd(unsigned fd)
{
	struct files_struct *files = current->files;

	spin_lock(&files->lock);
	__put_unused_fd(files, fd);
	spin_unlock(&files->lock);
}

void fd_install(unsigned fd, struct file *f)
{
	struct files_struct *files = current->files;

	spin_lock(&files->lock);
	files->fd[fd] = f;
	spin_unlock(&files->lock);
}

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

struct file *fget(unsigned fd)
{
	return fget_files(current->files, fd);
}

struct fd fdget_shared(unsigned fd)
{
	return (struct fd){fget_files(current->files, fd), FDPUT_FPUT};
}

struct fd fdget_pos_lock(struct fd f)
{
	mutex_lock(&f.file->f_pos_lock);
	f.flags |= FDPUT_POS_UNLOCK;
	return f;
}

struct file *fd_take(unsigned fd)
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

int fd_dup(struct file *f, unsigned from, bool cloexec)
{
	int fd = from >= fd_limit() ? -EINVAL : alloc_fd(from, cloexec ? O_CLOEXEC : 0);

	if (fd >= 0)
		fd_install(fd, get_file(f));
	return fd;
}

/* dup2's part: make newfd mean f, closing what it was. Linux's race rule: a reserved slot is -EBUSY. */
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
			return err;
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
		filp_close(old); /* as Linux: its error is nobody's */
	return newfd;
}

SYSCALL_DEFINE3(dup3, unsigned, oldfd, unsigned, newfd, int, flags)
{
	struct file *f;
	long res;

	if ((flags & ~O_CLOEXEC) || oldfd == newfd)
		return -EINVAL;
	f = fget(oldfd);
	if (!f)
		return -EBADF;
	res = replace_fd(newfd, f, flags);
	fput(f);
	return res;
}

SYSCALL_DEFINE2(dup2, unsigned, oldfd, unsigned, newfd)
{
	struct file *f = fget(oldfd);
	long res;

	if (!f)
		return -EBADF;
	res = oldfd == newfd ? (long)newfd : replace_fd(newfd, f, 0);
	fput(f);
	return res;
}

SYSCALL_DEFINE1(dup, unsigned, oldfd)
{
	struct file *f = fget(oldfd);
	long res;

	if (!f)
		return -EBADF;
	res = fd_dup(f, 0, false);
	fput(f);
	return res;
}

/* How many words of the bit map are in use. [lock] */
static unsigned count_fds(const struct files_struct *files)
{
	unsigned words = files->max / 64;

	while (words > 1 && !files->open[words - 1])
		words--;
	return words * 64;
}

/* [old->lock] The reserved slots of other threads stay behind: they have no file to share. */
static void copy_fds(struct files_struct *new, const struct files_struct *old, unsigned count)
{
	for (unsigned w = 0; w < count / 64; w++) {
		unsigned long bits = old->open[w];

		new->cloexec[w] = old->cloexec[w];
		for (; bits; bits &= bits - 1) {
			unsigned fd = w * 64 + __builtin_ctzl(bits);

			if (!old->fd[fd])
				continue;
			new->fd[fd] = get_file(old->fd[fd]);
			new->open[w] |= BIT(fd % 64);
		}
	}
	new->next_fd = find_first_zero_bit(new->open, new->max);
}

struct files_struct *dup_fd(struct files_struct *old)
{
	struct files_struct *new = alloc_files();
	unsigned count;

	if (!new)
		return NULL;
	for (;;) {
		spin_lock(&old->lock);
		count = count_fds(old);
		if (count <= new->max)
			break;
		spin_unlock(&old->lock);
		if (expand_files(new, count - 1)) {
			put_files_struct(new);
			return NULL;
		}
	}
	copy_fds(new, old, count);
	spin_unlock(&old->lock);
	return new;
}

void get_files_struct(struct files_struct *files)
{
	atomic_inc(&files->count);
}

/* The last user is gone: close all. */
static void close_files(struct files_struct *files)
{
	for (unsigned w = 0; w < files->max / 64; w++)
		for (unsigned long bits = files->open[w]; bits; bits &= bits - 1) {
			struct file *f = files->fd[w * 64 + __builtin_ctzl(bits)];

			if (f)
				filp_close(f);
		}
}

void put_files_struct(struct files_struct *files)
{
	if (!files || !atomic_dec_and_test(&files->count))
		return;
	close_files(files);
	call_rcu(&files->rcu, files_free_rcu);
}

void exit_files(void *arg)
{
	struct task_struct *task = arg;
	struct files_struct *files = task->files;

	/* fget_task follows the pointer under RCU and takes a user only while there is one. */
	WRITE_ONCE(task->files, NULL);
	put_files_struct(files);
}

int unshare_files(void)
{
	struct files_struct *old = current->files, *new;

	if (atomic_read(&old->count) == 1)
		return 0;
	new = dup_fd(old);
	if (!new)
		return -ENOMEM;
	WRITE_ONCE(current->files, new);
	put_files_struct(old);
	return 0;
}

void do_close_on_exec(struct files_struct *files)
{
	for (unsigned w = 0; w < files->max / 64; w++)
		for (unsigned long bits = files->cloexec[w] & files->open[w]; bits; bits &= bits - 1) {
			struct file *f = fd_take(w * 64 + __builtin_ctzl(bits));

			if (f)
				filp_close(f);
		}
}

unsigned files_count_open(struct files_struct *files)
{
	unsigned n = 0;

	spin_lock(&files->lock);
	for (unsigned fd = 0; fd < files->max; fd++)
		n += !!files->fd[fd];
	spin_unlock(&files->lock);
	return n;
}

/*
 * Another task's table. Taking a user makes its owner's fdget stop borrowing from then on, but one that
 * borrowed a moment ago goes on: harmless, since this user only reads and takes references with the lock.
 */
static struct files_struct *get_task_files(struct task_struct *task)
{
	struct files_struct *files;

	rcu_read_lock();
	files = READ_ONCE(task->files);
	if (files && !atomic_inc_not_zero(&files->count))
		files = NULL;
	rcu_read_unlock();
	return files;
}

struct file *fget_task_next(struct task_struct *task, unsigned *fd)
{
	struct files_struct *files = get_task_files(task);
	struct file *f = NULL;

	if (!files)
		return NULL;
	spin_lock(&files->lock);
	for (; *fd < files->max && !f; *fd += !f)
		if (files->fd[*fd])
			f = get_file(files->fd[*fd]);
	spin_unlock(&files->lock);
	put_files_struct(files);
	return f;
}

struct file *fget_task(struct task_struct *task, unsigned fd)
{
	unsigned at = fd;
	struct file *f = fget_task_next(task, &at);

	if (f && at != fd) {
		fput(f);
		return NULL;
	}
	return f;
}

bool fd_cloexec_task(struct task_struct *task, unsigned fd)
{
	struct files_struct *files = get_task_files(task);
	bool cloexec;

	if (!files)
		return false;
	spin_lock(&files->lock);
	cloexec = fd < files->max && test_bit(fd, files->cloexec);
	spin_unlock(&files->lock);
	put_files_struct(files);
	return cloexec;
}

void files_init(void)
{
	files_cache = kmem_cache_create("files_cache", sizeof(struct files_struct), 0, SLAB_PANIC, NULL);
}
