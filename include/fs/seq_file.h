/*
 * Text for a reader, made line by line: the one way that proc and tracefs files produce output. A file gives
 * an iterator (start, next, stop, show) or one show function; seq_read hands out pieces of any size and grows
 * its buffer when one record does not fit.
 */
#pragma once

#include <fs/vfs.h>
#include <lib/types.h>

struct seq_file;
struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos); /* NULL: end; ERR_PTR; locks what the walk needs */
	void (*stop)(struct seq_file *m, void *v);	 /* always follows start */
	void *(*next)(struct seq_file *m, void *v, loff_t *pos); /* advances *pos; NULL: end */
	int (*show)(struct seq_file *m, void *v); /* 0, SEQ_SKIP: this record shows nothing, -errno */
};
#define SEQ_SKIP 1

/* Locks: l its lock. */
struct seq_file {
	char *buf;	 /* [l] */
	size_t size;	 /* [l] of buf */
	size_t count;	 /* [l] bytes in buf; == size: overflowed, the record is made again in a larger one */
	size_t from;	 /* [l] first byte not yet handed out */
	loff_t index;	 /* [l] record */
	loff_t read_pos; /* [l] file position */
	struct mutex lock;
	const struct seq_operations *op;
	struct file *file;
	void *private;
	u32 exec_id;  /* [I] of /proc/<pid>: the program that the file was opened for */
};

int seq_open(struct file *file,
	     const struct seq_operations *op); /* file->private_data becomes the seq_file */
ssize_t seq_read(struct file *file, char __user *buf, size_t n, loff_t *pos);
loff_t seq_lseek(struct file *file, loff_t off, int whence);
int seq_release(struct inode *inode, struct file *file);
int single_open(struct file *file, int (*show)(struct seq_file *m, void *v),
		void *data); /* m->private = data */
int single_release(struct inode *inode, struct file *file);

/* They never fail: what does not fit marks the buffer as overflowed. */
void seq_putc(struct seq_file *m, char c);
void seq_puts(struct seq_file *m, const char *s);
void seq_write(struct seq_file *m, const void *data, size_t len);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);
void seq_vprintf(struct seq_file *m, const char *fmt, va_list args);
void seq_escape(struct seq_file *m, const char *s,
		const char *which); /* those characters as a backslash and three octal digits */
void seq_put_decimal_ull(struct seq_file *m, const char *prefix, u64 v);
static inline bool seq_has_overflowed(const struct seq_file *m)
{
	return m->count == m->size;
}
/* Reserve room: returns the place and how much there is; seq_commit says how much was used (-1: overflowed).
 */
size_t seq_get_buf(struct seq_file *m, char **p);
void seq_commit(struct seq_file *m, int used);
