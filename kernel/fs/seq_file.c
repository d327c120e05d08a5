/* seq_file: text for a reader, record by record, through a buffer that grows when a record does not fit. */
#include "internal.h"

#include <fs/libfs.h>
#include <lib/printf.h>
#include <mm/page.h>
#include <mm/slab.h>

#define SEQ_MAX_SIZE (64UL << 20) /* of one record: more is a bug of its maker */

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

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	kvfree(m->buf);
	kfree(m);
	return 0;
}

/* [l] Twice the room, empty. 0, -ENOMEM. */
static int seq_grow(struct seq_file *m)
{
	size_t size = m->size ? m->size * 2 : PAGE_SIZE;

	kvfree(m->buf);
	m->buf = size <= SEQ_MAX_SIZE ? kvmalloc(size, GFP_KERNEL) : NULL;
	m->size = m->buf ? size : 0;
	m->count = m->from = 0;
	return m->buf ? 0 : -ENOMEM;
}

/*
 * [l] Fill the empty buffer from record m->index on: at least one whole record, and then as many as fit and
 * are wanted. Returns 0 (count 0: the end) or -errno. A record that shows an error after others waits for the
 * next read.
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

/* [l] Start over and skip to byte `pos`: after pread or lseek. */
static int seq_traverse(struct seq_file *m, loff_t pos)
{
	loff_t at = 0;
	int err;

	m->index = 0;
	m->count = m->from = 0;
	while (at < pos) {
		err = seq_fill(m, 1);
		if (err)
			return err;
		if (!m->count)
			break;
		m->from = min_t(loff_t, pos - at, m->count);
		at += m->from;
	}
	m->read_pos = pos;
	return 0;
}

/* [l] Hand out what is in the buffer. */
static ssize_t seq_copy(struct seq_file *m, char __user *buf, size_t n)
{
	n = min(n, m->count - m->from);
	if (copy_to_user(buf, m->buf + m->from, n))
		return -EFAULT;
	m->from += n;
	m->read_pos += n;
	return n;
}

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
			/* One buffer of whole records a call, as Linux: a reader sees records, not pages. */
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
	*pos = m->read_pos;
	mutex_unlock(&m->lock);
	return done ? done : res;
}

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

/* Files of one record. */
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

int single_release(struct inode *inode, struct file *file)
{
	const struct seq_operations *op = ((struct seq_file *)file->private_data)->op;

	seq_release(inode, file);
	kfree(op);
	return 0;
}

/* What does not fit fills the buffer up: that is the mark of overflow. */
static void seq_set_overflow(struct seq_file *m)
{
	m->count = m->size;
}

void seq_putc(struct seq_file *m, char c)
{
	if (m->count < m->size)
		m->buf[m->count++] = c;
}

void seq_escape(struct seq_file *m, const char *s, const char *which)
{
	for (; *s; s++) {
		if (strchr(which, *s))
			seq_printf(m, "\\%03o", (unsigned char)*s);
		else
			seq_putc(m, *s);
	}
}

void seq_write(struct seq_file *m, const void *data, size_t len)
{
	if (m->count + len >= m->size) {
		seq_set_overflow(m);
		return;
	}
	memcpy(m->buf + m->count, data, len);
	m->count += len;
}

void seq_puts(struct seq_file *m, const char *s)
{
	seq_write(m, s, strlen(s));
}

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

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	seq_vprintf(m, fmt, args);
	va_end(args);
}

void seq_put_decimal_ull(struct seq_file *m, const char *prefix, u64 v)
{
	char digits[24];
	char *end;

	seq_puts(m, prefix);
	end = put_dec(digits, v, 0, ' ');
	seq_write(m, digits, end - digits);
}

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
