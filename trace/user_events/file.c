/*
 * The file user_events_data: by ioctl(2) a program registers events and ends that, and by write(2) and writev(2) it
 * makes records. docs/user-events.md has an example.
 *
 * A write begins with the event's index in this open file; what follows is the record, as the fields of the event say.
 * The bytes are copied and checked before preemption goes off, once for all arrays that want them.
 */
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/capability.h>
#include <sched/sched.h>
#include <uapi/uio.h>

#include "core/tracer.h"
#include "tracefs/tracefs.h"
#include "internal.h"

#define PAYLOAD_STACK 256	   /* up to here a record waits on the stack */
#define PAYLOAD_MAX   (64UL << 10) /* no sub-buffer takes more */

/* The events of an open file, by their index. The table is replaced by a larger one. [I, but for rcu] */
struct user_event_refs {
	struct rcu_head rcu;
	unsigned nr;
	struct user_event *events[]; /* a reference of each is held */
};

/* An open file. */
struct user_event_file {
	struct user_event_refs *refs; /* [dyn_event_mutex, RCU] NULL: none yet */
};

/* ---- The events of a file */

static void free_refs_rcu(struct rcu_head *head)
{
	kfree(container_of(head, struct user_event_refs, rcu));
	no_tail_call();
}

/* The event's index in this file, with a reference if it is new; -ENOMEM. dyn_event_mutex held. */
static int add_ref(struct user_event_file *f, struct user_event *e)
{
	struct user_event_refs *old = f->refs, *new;
	unsigned nr = old ? old->nr : 0;

	for (unsigned i = 0; i < nr; i++)
		if (old->events[i] == e)
			return i;
	new = kzalloc(sizeof(*new) + (nr + 1) * sizeof(new->events[0]), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	if (old)
		memcpy(new->events, old->events, nr * sizeof(new->events[0]));
	new->events[nr] = e;
	new->nr = nr + 1;
	atomic_inc(&e->refs);
	smp_store_release(&f->refs, new);
	if (old)
		call_rcu(&old->rcu, free_refs_rcu);
	return nr;
}

/* The event with this index, or NULL. It stays until the file is closed. */
static struct user_event *event_nr(const struct user_event_file *f, unsigned nr)
{
	const struct user_event_refs *refs;
	struct user_event *e = NULL;

	preempt_disable();
	refs = smp_load_acquire(&f->refs);
	if (refs && nr < refs->nr)
		e = refs->events[nr];
	preempt_enable();
	return e;
}

static int user_events_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct user_event_file), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

/* A file that has registered nothing takes no lock. */
static int user_events_release(struct inode *inode, struct file *file)
{
	struct user_event_file *f = file->private_data;

	if (f->refs) {
		mutex_lock(&event_mutex);
		for (unsigned i = 0; i < f->refs->nr; i++)
			user_event_put(f->refs->events[i]);
		mutex_unlock(&event_mutex);
	}
	kfree(f->refs);
	kfree(f);
	return 0;
}

/* ---- Requests */

/* A structure that begins with its size. 0, -EFAULT, -E2BIG, -EINVAL. */
static int get_sized(void *to, size_t ksize, const void __user *from)
{
	u32 size;

	if (get_user(size, (const u32 __user *)from))
		return -EFAULT;
	if (size > PAGE_SIZE)
		return -E2BIG;
	return size < ksize ? -EINVAL : copy_struct_from_user(to, ksize, from, size);
}

static int get_reg(struct user_reg *reg, const void __user *from)
{
	int err = get_sized(reg, sizeof(*reg), from);

	if (err)
		return err;
	if (reg->flags & ~(USER_EVENT_REG_MAX - 1) || (reg->enable_size != 4 && reg->enable_size != 8) ||
	    reg->enable_addr % reg->enable_size || reg->enable_bit >= reg->enable_size * 8)
		return -EINVAL;
	return access_ok((const void __user *)reg->enable_addr, reg->enable_size) ? 0 : -EFAULT;
}

/* A name or a description: kfree. ERR_PTR: -EFAULT, -EINVAL (too long), -ENOMEM. */
static char *get_text(const void __user *from)
{
	char *text = kmalloc(USER_EVENT_TEXT_MAX, GFP_KERNEL);
	long len;

	if (!text)
		return ERR_PTR(-ENOMEM);
	len = strncpy_from_user(text, from, USER_EVENT_TEXT_MAX);
	if (len >= 0 && len < USER_EVENT_TEXT_MAX)
		return text;
	kfree(text);
	return ERR_PTR(len < 0 ? len : -EINVAL);
}

/* [dyn_event_mutex] The index, or -errno; the file then may have the event all the same. */
static int register_event(struct user_event_file *f, const struct user_reg *reg, const char *text)
{
	struct user_event *e;
	int nr, err = user_event_open(text, reg->flags, &e);

	if (err)
		return err;
	nr = add_ref(f, e);
	if (nr >= 0)
		err = user_program_register(reg, e);
	mutex_lock(&event_mutex);
	user_event_put(e);
	mutex_unlock(&event_mutex);
	return err ?: nr;
}

/* The word is looked at first, so that a bad address makes no event. */
static long ioctl_register(struct user_event_file *f, struct user_reg __user *from)
{
	struct user_reg reg;
	char *text;
	int nr = get_reg(&reg, from);

	if (nr)
		return nr;
	text = get_text((const void __user *)reg.name_args);
	if (IS_ERR(text))
		return PTR_ERR(text);
	nr = -EFAULT;
	if (user_program_may_write(reg.enable_addr)) {
		mutex_lock(&dyn_event_mutex);
		nr = register_event(f, &reg, text);
		mutex_unlock(&dyn_event_mutex);
	}
	kfree(text);
	if (nr < 0)
		return nr;
	return copy_to_user(&from->write_index, &nr, sizeof(from->write_index)) ? -EFAULT : 0;
}

static long ioctl_delete(const void __user *from)
{
	char *name = get_text(from);
	long err;

	if (IS_ERR(name))
		return PTR_ERR(name);
	mutex_lock(&dyn_event_mutex);
	err = user_event_delete(name);
	mutex_unlock(&dyn_event_mutex);
	kfree(name);
	return err;
}

static long ioctl_unregister(const void __user *from)
{
	struct user_unreg reg;
	long err = get_sized(&reg, sizeof(reg), from);

	if (err)
		return err;
	if (reg.__reserved || reg.__reserved2)
		return -EINVAL;
	mutex_lock(&dyn_event_mutex);
	err = user_program_unregister(&reg);
	mutex_unlock(&dyn_event_mutex);
	return err;
}

static long user_events_ioctl(struct file *file, unsigned cmd, unsigned long arg)
{
	switch (cmd) {
	case DIAG_IOCSREG:
		return ioctl_register(file->private_data, (struct user_reg __user *)arg);
	case DIAG_IOCSDEL:
		return ioctl_delete((const void __user *)arg);
	case DIAG_IOCSUNREG:
		return ioctl_unregister((const void __user *)arg);
	}
	return -ENOTTY;
}

/* ---- Records */

/* Bytes `from` to `from + n` of what the pieces hold together. False: a fault, or they hold less. */
static bool copy_pieces(char *to, const struct iovec *vec, unsigned long nr, size_t from, size_t n)
{
	for (; nr && n; vec++, nr--) {
		size_t len;

		if (from >= vec->iov_len) {
			from -= vec->iov_len;
			continue;
		}
		len = min(vec->iov_len - from, n);
		if (copy_from_user(to, (const char __user *)vec->iov_base + from, len))
			return false;
		to += len;
		n -= len;
		from = 0;
	}
	return !n;
}

/* The payload of n bytes. 0; -EFAULT: it cannot be read, or a string does not lie in it; -EBADF: the event is off. */
static int write_payload(const struct user_event *e, const struct iovec *vec, unsigned long nr, size_t n)
{
	char small[PAYLOAD_STACK], *payload = small;
	int err = 0;

	if (n > sizeof(small)) {
		payload = kvmalloc(n, GFP_KERNEL);
		if (!payload)
			return -ENOMEM;
	}
	if (!copy_pieces(payload, vec, nr, sizeof(u32), n) || !user_event_is_valid(e, payload, n))
		err = -EFAULT;
	if (!err) {
		tracing_record_cmdline(current);
		err = user_event_record(e, payload, n) ? 0 : -EBADF;
	}
	if (payload != small)
		kvfree(payload);
	return err;
}

/*
 * The number of bytes; -EFAULT: there is no whole index, and what write_payload() says; -EINVAL: a negative index, or
 * less than the fields need; -ENOENT: no event of this index. What no sub-buffer takes is lost, as on Linux.
 */
static ssize_t write_pieces(struct file *file, const struct iovec *vec, unsigned long nr)
{
	const struct user_event *e;
	size_t n = 0;
	s32 index;
	int err;

	for (unsigned long i = 0; i < nr; i++)
		n += vec[i].iov_len;
	if (!copy_pieces((char *)&index, vec, nr, 0, sizeof(index)))
		return -EFAULT;
	if (index < 0)
		return -EINVAL;
	e = event_nr(file->private_data, index);
	if (!e)
		return -ENOENT;
	if (n - sizeof(index) < e->min_size)
		return -EINVAL;
	if (!user_event_is_on(e))
		return -EBADF;
	err = n > PAYLOAD_MAX ? 0 : write_payload(e, vec, nr, n - sizeof(index));
	return err ?: (ssize_t)n;
}

static ssize_t user_events_write(struct file *file, const char __user *buf, size_t n, loff_t *pos)
{
	const struct iovec vec = {(void *)buf, n};

	return *pos ? -EFAULT : write_pieces(file, &vec, 1);
}

static ssize_t user_events_vec(struct file *file, const struct iovec *vec, unsigned long nr, bool write)
{
	return write ? write_pieces(file, vec, nr) : -EINVAL;
}

static const struct file_operations user_events_fops = {
	.open = user_events_open,
	.release = user_events_release,
	.write = user_events_write,
	.read_write_vec = user_events_vec,
	.unlocked_ioctl = user_events_ioctl,
};
TRACEFS_FILE(user_events_data, "user_events_data", 0640, TRACEFS_TOP, &user_events_fops);
