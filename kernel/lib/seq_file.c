/*
 * seq_file: text for a reader, made record by record. The file gives an iterator (struct seq_operations) or, for a file
 * of one record, a show function. A buffer takes whole records and grows when a single one does not fit; read(2) hands
 * out pieces of the buffer of any size.
 *
 * How it stays cheap and right: the iterator is started and stopped once for each filling of the buffer, so its locks
 * are never held while text is copied to user space. `index` is the record to go on with, `read_pos` the file position
 * that belongs to the first byte not yet handed out. A reader that asks for another position, by pread or lseek, makes
 * all records up to there again (seq_traverse), because lengths of records are not known beforehand.
 *
 * A record that does not fit marks the buffer as full (count == size), and the code that finds the mark drops the
 * record and makes it again in more room. Therefore a buffer that is filled to the last byte counts as overflowed, too,
 * and the functions that add text never fail.
 *
 * Locks: m->lock is held during a whole read or seek [l]. Start, show and stop of the file run under it, and may sleep.
 */
#include "../fs/internal.h"

#include <fs/libfs.h>
#include <kernel/export.h>
#include <lib/printf.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <sched/sched.h>

#define SEQ_MAX_SIZE (64UL << 20) /* bytes of one record; a longer one is a bug of the file that makes it */

int seq_open(struct file *file, const struct seq_operations *op)
{
	struct seq_file *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	mutex_init(&m->lock);
	m->op = op;
	m->file = file;
	file->private_data = m;
	return 0;
}
EXPORT_SYMBOL(seq_open);

/* [l] The buffer goes. */
static void seq_free_buffer(struct seq_file *m)
{
	kvfree(m->buf);
	m->buf = NULL;
	if (m->user) {
		user_uncharge_memory(m->user, m->size);
		put_user_struct(m->user);
		m->user = NULL;
	}
	m->size = 0;
}

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	seq_free_buffer(m);
	kfree(m);
	return 0;
}
EXPORT_SYMBOL(seq_release);

/*
 * [l] A buffer of more than a page stays as long as the file is open, so it counts for the user who reads. False: the
 * user has too much.
 */
static bool seq_charge(struct seq_file *m, size_t size)
{
	struct user_struct *user;

	if (size <= PAGE_SIZE)
		return true;
	user = get_task_user(current);
	if (user_charge_memory(user, size)) {
		m->user = user;
		return true;
	}
	put_user_struct(user);
	return false;
}

/*
 * [l] Get a buffer twice as large, which is empty. Its old contents are made again by the caller, so they are freed
 * first. Returns 0 or -ENOMEM.
 */
static int seq_grow(struct seq_file *m)
{
	size_t size = m->size ? m->size * 2 : PAGE_SIZE;

	seq_free_buffer(m);
	m->count = m->from = 0;
	if (size > SEQ_MAX_SIZE || !seq_charge(m, size))
		return -ENOMEM;
	m->size = size;
	m->buf = kvmalloc(size, GFP_KERNEL);
	if (m->buf)
		return 0;
	seq_free_buffer(m);
	return -ENOMEM;
}

/*
 * [l] Fill the empty buffer from record m->index on: at least one whole record, and then as many as fit and are wanted.
 * Returns 0 or -errno; a count of 0 means the end.
 *
 * Three things may happen to a record. It fits: m->index moves behind it. It does not fit: when others are in the
 * buffer they are handed out first and the record is made again next time; when it is alone, the iterator stops, the
 * buffer grows, and the same record is started again. It shows an error: records before it are handed out first, and
 * the next read meets the error as its first record.
 */
static int seq_fill(struct seq_file *m, size_t want)
{
	loff_t pos = m->index;
	void *p;
	int err = 0;

	m->from = m->count = 0;
	p = m->op->start(m, &pos);
	while (p && !IS_ERR(p)) {
		size_t before = m->count;

		err = m->op->show(m, p);
		if (err < 0)
			m->count = before;
		if (err < 0 || (seq_has_overflowed(m) && before)) {
			if (before) /* what came before is handed out first */
				err = 0;
			m->count = before;
			break;
		}
		if (err == SEQ_SKIP)
			m->count = before;
		err = 0;
		if (seq_has_overflowed(m)) { /* the first record alone is too long */
			m->op->stop(m, p);
			err = seq_grow(m);
			if (err)
				return err;
			pos = m->index;
			p = m->op->start(m, &pos);
			continue;
		}
		p = m->op->next(m, p, &pos);
		m->index = pos;
		if (m->count >= want)
			break;
	}
	m->op->stop(m, IS_ERR(p) ? NULL : p);
	if (IS_ERR(p) && !m->count)
		err = PTR_ERR(p);
	return err;
}

/*
 * [l] Start over and skip to byte `pos`, after pread or lseek. The records are made again in turn; the last buffer
 * keeps what lies behind `pos`. Behind the end of the file the buffer stays empty, and the read returns 0. After an
 * error the position is that of the record that could not be made. Returns 0 or -errno.
 */
static int seq_traverse(struct seq_file *m, loff_t pos)
{
	loff_t at = 0;
	int err = 0;

	m->index = 0;
	m->count = m->from = 0;
	while (at < pos) {
		err = seq_fill(m, 1);
		if (err || !m->count)
			break;
		m->from = min_t(loff_t, pos - at, m->count);
		at += m->from;
	}
	m->read_pos = err ? at : pos;
	return err;
}

/* [l] Hand out up to n bytes of what is in the buffer. Returns how many, or -EFAULT. */
static ssize_t seq_copy(struct seq_file *m, char __user *buf, size_t n)
{
	n = min(n, m->count - m->from);
	if (copy_to_user(buf, m->buf + m->from, n))
		return -EFAULT;
	m->from += n;
	m->read_pos += n;
	return n;
}

/*
 * Hand out what is left in the buffer; only when it was empty, fill it once. So a read returns whole records up to the
 * buffer's end, as on Linux, and its length says nothing about pages. An error after some bytes is kept for the next
 * read.
 */
noinline ssize_t seq_read(struct file *file, char __user *buf, size_t n, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	ssize_t done = 0, res = 0;

	mutex_lock(&m->lock);
	if (!m->buf)
		res = seq_grow(m);
	if (!res && *pos != m->read_pos)
		res = seq_traverse(m, *pos);
	while (!res && done < n) {
		if (m->from == m->count) {
			if (done)
				break;
			res = seq_fill(m, n - done);
			if (res || !m->count)
				break;
		}
		res = seq_copy(m, buf + done, n - done);
		if (res > 0) {
			done += res;
			res = 0;
		}
	}
	*pos += done;
	mutex_unlock(&m->lock);
	return done ? done : res;
}
EXPORT_SYMBOL(seq_read);

/*
 * The traverse is done at once, not at the next read, so that an error of the file is reported by the call that causes
 * it. SEEK_END is refused: the length is not known.
 */
loff_t seq_lseek(struct file *file, loff_t off, int whence)
{
	struct seq_file *m = file->private_data;
	loff_t res = -EINVAL;

	mutex_lock(&m->lock);
	if (whence == SEEK_CUR)
		off += file->f_pos;
	if ((whence == SEEK_CUR || whence == SEEK_SET) && off >= 0) {
		res = !m->buf ? seq_grow(m) : 0;
		if (!res)
			res = seq_traverse(m, off);
		if (!res)
			res = file->f_pos = off;
	}
	mutex_unlock(&m->lock);
	return res;
}
EXPORT_SYMBOL(seq_lseek);

/* Files of one record: the record is the seq_file itself, and only position 0 has one. */
static void *single_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : m;
}

static void *single_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void single_stop(struct seq_file *m, void *v)
{
}

/* The operations are allocated for each open file, because `show` differs; single_release() frees them. */
int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data)
{
	struct seq_operations *op = kmalloc(sizeof(*op), GFP_KERNEL);
	int err;

	if (!op)
		return -ENOMEM;
	*op = (struct seq_operations){single_start, single_stop, single_next, show};
	err = seq_open(file, op);
	if (err)
		kfree(op);
	else
		((struct seq_file *)file->private_data)->private = data;
	return err;
}
EXPORT_SYMBOL(single_open);

int single_release(struct inode *inode, struct file *file)
{
	const struct seq_operations *op = ((struct seq_file *)file->private_data)->op;

	seq_release(inode, file);
	kfree(op);
	return 0;
}
EXPORT_SYMBOL(single_release);

/* Fill the buffer up: count == size is the mark of overflow. */
static void seq_set_overflow(struct seq_file *m)
{
	m->count = m->size;
}

void seq_putc(struct seq_file *m, char c)
{
	if (m->count < m->size)
		m->buf[m->count++] = c;
}
EXPORT_SYMBOL(seq_putc);

void seq_escape(struct seq_file *m, const char *s, const char *which)
{
	for (; *s; s++) {
		if (strchr(which, *s))
			seq_printf(m, "\\%03o", (unsigned char)*s);
		else
			seq_putc(m, *s);
	}
}
EXPORT_SYMBOL(seq_escape);

void seq_write(struct seq_file *m, const void *data, size_t len)
{
	if (m->count + len >= m->size) {
		seq_set_overflow(m);
		return;
	}
	memcpy(m->buf + m->count, data, len);
	m->count += len;
}
EXPORT_SYMBOL(seq_write);

void seq_puts(struct seq_file *m, const char *s)
{
	seq_write(m, s, strlen(s));
}
EXPORT_SYMBOL(seq_puts);

void seq_vprintf(struct seq_file *m, const char *fmt, va_list args)
{
	size_t room = m->size - m->count;
	int len;

	if (!room)
		return;
	len = vsnprintf(m->buf + m->count, room, fmt, args);
	if (len >= room)
		seq_set_overflow(m);
	else
		m->count += len;
}
EXPORT_SYMBOL(seq_vprintf);

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	seq_vprintf(m, fmt, args);
	va_end(args);
}
EXPORT_SYMBOL(seq_printf);

/* Without the format machinery: files such as /proc/stat consist of such numbers. */
void seq_put_decimal_ull(struct seq_file *m, const char *prefix, u64 v)
{
	char digits[24];
	char *end;

	seq_puts(m, prefix);
	end = put_dec(digits, v, 0, ' ');
	seq_write(m, digits, end - digits);
}
EXPORT_SYMBOL(seq_put_decimal_ull);

size_t seq_get_buf(struct seq_file *m, char **p)
{
	*p = m->buf + m->count;
	return m->size - m->count;
}

void seq_commit(struct seq_file *m, int used)
{
	if (used < 0)
		seq_set_overflow(m);
	else
		m->count += used;
}
