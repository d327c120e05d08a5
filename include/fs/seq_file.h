/*
 * Text for a reader, made record by record: the one way in which proc and tracefs files produce output. A file gives an
 * iterator (start, next, stop, show) or one show function. seq_read hands out pieces of any size, and grows its buffer
 * when a record does not fit. kernel/lib/seq_file.c explains how.
 */
#pragma once

#include <fs/vfs.h>
#include <lib/types.h>

struct seq_file;
struct user_struct;
/*
 * An iterator over records. All four run in thread context under the lock of the seq_file. start takes the locks that
 * the walk needs, and stop, which always follows, releases them. A record that did not fit is shown again after stop
 * and start, so show must not change what it shows.
 */
struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos);	 /* record *pos; NULL: end; ERR_PTR. Takes locks */
	void (*stop)(struct seq_file *m, void *v);		 /* always follows start */
	void *(*next)(struct seq_file *m, void *v, loff_t *pos); /* advances *pos; NULL: end */
	int (*show)(struct seq_file *m, void *v);		 /* 0, SEQ_SKIP: this record shows nothing, -errno */
};
#define SEQ_SKIP 1

/* An open file. Locks: l its lock; I immutable. */
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
	struct user_struct *user; /* [l] whose memory a buffer of more than a page counts for; NULL: it is smaller */
	u32 exec_id;		  /* [I] for files of /proc/<pid>: the program that the file was opened for */
};

/*
 * What the functions of a file call, or are. Thread context. seq_open: file->private_data becomes the seq_file; 0 or
 * -ENOMEM. single_open: a file of one record, m->private is `data`; 0 or -ENOMEM; needs single_release.
 */
int seq_open(struct file *file, const struct seq_operations *op);
ssize_t seq_read(struct file *file, char __user *buf, size_t n, loff_t *pos);
loff_t seq_lseek(struct file *file, loff_t off, int whence);
int seq_release(struct inode *inode, struct file *file);
int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data);
int single_release(struct inode *inode, struct file *file);

/* For show functions. They never fail: what does not fit marks the buffer as overflowed, and the record is repeated. */
void seq_putc(struct seq_file *m, char c);
void seq_puts(struct seq_file *m, const char *s);
void seq_write(struct seq_file *m, const void *data, size_t len);
void seq_printf(struct seq_file *m, const char *fmt, ...) __printf(2, 3);
void seq_vprintf(struct seq_file *m, const char *fmt, va_list args);
void seq_escape(struct seq_file *m, const char *s,
		const char *which); /* the characters in `which` become a backslash and three octal digits */
void seq_put_decimal_ull(struct seq_file *m, const char *prefix, u64 v);
/* For long records: has this one failed already, so that the rest need not be made? */
static inline bool seq_has_overflowed(const struct seq_file *m)
{
	return m->count == m->size;
}

/*
 * Let other code store into the buffer: returns the room and, in *p, where it begins. seq_commit then says how much was
 * used (-1: overflowed).
 */
size_t seq_get_buf(struct seq_file *m, char **p);
void seq_commit(struct seq_file *m, int used);
