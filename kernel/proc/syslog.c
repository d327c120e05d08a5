/*
 * syslog(2) and /proc/kmsg: reading and controlling the kernel log for programs such as dmesg and klogd. The log
 * itself is in kernel/printk.c, with locks of its own; syslog_mutex [m] guards only the positions of the readers
 * here. All callers of READ share one position, so each record goes to one of them; READ_ALL shows what is there and
 * takes nothing away. A record becomes a line when it is read: "<level>[seconds] text".
 */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <fs/poll.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/capability.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/mutex.h>
#include <sched/wait.h>
#include <uapi/fcntl.h>

#define SYSLOG_ACTION_CLOSE	    0
#define SYSLOG_ACTION_OPEN	    1
#define SYSLOG_ACTION_READ	    2
#define SYSLOG_ACTION_READ_ALL	    3
#define SYSLOG_ACTION_READ_CLEAR    4
#define SYSLOG_ACTION_CLEAR	    5
#define SYSLOG_ACTION_CONSOLE_OFF   6
#define SYSLOG_ACTION_CONSOLE_ON    7
#define SYSLOG_ACTION_CONSOLE_LEVEL 8
#define SYSLOG_ACTION_SIZE_UNREAD   9
#define SYSLOG_ACTION_SIZE_BUFFER   10
#define LINE_SIZE		    1024

static DEFINE_MUTEX(syslog_mutex);
static u64 read_seq;	     /* [syslog_mutex] next record for READ */
static size_t read_at;	     /* [syslog_mutex] bytes of it that were given out */
static u64 clear_seq;	     /* [syslog_mutex] READ_ALL begins here */
static int saved_level = -1; /* [syslog_mutex] the console's before CONSOLE_OFF */

/*
 * Format record *seq as "<6>[ 1.234567] text\n" into buf (LINE_SIZE bytes). If that record is overwritten already,
 * *seq moves to the oldest one that is kept. Returns the number of bytes, 0 when there is no such record.
 */
static size_t format_line(u64 *seq, char *buf)
{
	char text[LINE_SIZE - 48];
	struct log_line line;
	size_t n;

	if (!log_get(seq, &line, text, sizeof(text)))
		return 0;
	n = scnprintf(buf, LINE_SIZE, "<%u>", line.level);
	n += log_stamp(buf + n, LINE_SIZE - n, line.stamp);
	return n + scnprintf(buf + n, LINE_SIZE - n, "%.*s\n", (int)line.len, text);
}

/* How many bytes all records from seq on make as lines. `buf` is scratch. */
static size_t size_from(u64 seq, char *buf)
{
	size_t n, sum = 0;

	for (; (n = format_line(&seq, buf)); seq++)
		sum += n;
	return sum;
}

/*
 * The newest records that fit into `size`: the size of all is computed first, and the oldest are skipped until the
 * rest fits. New records may come between the two walks, so the second one checks the room again. [m]
 */
static long read_all(char __user *ubuf, size_t size, char *buf, bool clear)
{
	size_t total = size_from(clear_seq, buf), n, done = 0;
	u64 seq = clear_seq;

	for (; (n = format_line(&seq, buf)); seq++) {
		if (total > size) {
			total -= n;
			continue;
		}
		if (done + n > size)
			break; /* more came while we were at it */
		if (copy_to_user(ubuf + done, buf, n))
			return -EFAULT;
		done += n;
	}
	if (clear)
		clear_seq = seq;
	return done;
}

/*
 * What READ has not given out yet. Waits until there is at least one byte; the mutex is free during the wait, so that
 * others can read or clear. A line may be cut by a small buffer: read_at says where the next call goes on. [m]
 */
static long read_next(char __user *ubuf, size_t size, char *buf)
{
	size_t n, done = 0;
	u64 seq;

	while (read_seq >= printk_next_seq()) {
		int err;

		mutex_unlock(&syslog_mutex);
		err = wait_event_interruptible(&printk_wait, READ_ONCE(read_seq) < printk_next_seq());
		mutex_lock(&syslog_mutex);
		if (err)
			return err;
	}
	while (done < size) {
		seq = read_seq;
		n = format_line(&read_seq, buf);
		if (!n)
			break;
		if (seq != read_seq)
			read_at = 0; /* the one we had begun is gone */
		read_at = min(read_at, n);
		n = min(n - read_at, size - done);
		if (copy_to_user(ubuf + done, buf + read_at, n))
			return done ? (long)done : -EFAULT;
		done += n;
		read_at += n;
		if (buf[read_at - 1] == '\n') {
			read_seq++;
			read_at = 0;
		}
	}
	return done;
}

/* How severe a message must be to reach the console. OFF remembers the level, so that ON can bring it back. [m] */
static long set_level(int type, int level)
{
	if (type == SYSLOG_ACTION_CONSOLE_OFF) {
		if (saved_level < 0)
			saved_level = console_loglevel;
		console_loglevel = 1;
	} else if (type == SYSLOG_ACTION_CONSOLE_ON) {
		if (saved_level >= 0)
			console_loglevel = saved_level;
		saved_level = -1;
	} else {
		if (level < 1 || level > 8)
			return -EINVAL;
		console_loglevel = level;
		saved_level = -1;
	}
	return 0;
}

/* [m] buf: LINE_SIZE bytes of scratch. The result is that of syslog(2). */
static long do_syslog(int type, char __user *ubuf, int len, char *buf)
{
	switch (type) {
	case SYSLOG_ACTION_CLOSE:
	case SYSLOG_ACTION_OPEN:
		return 0;
	case SYSLOG_ACTION_READ:
		return len ? read_next(ubuf, len, buf) : 0;
	case SYSLOG_ACTION_READ_ALL:
	case SYSLOG_ACTION_READ_CLEAR:
		return read_all(ubuf, len, buf, type == SYSLOG_ACTION_READ_CLEAR);
	case SYSLOG_ACTION_CLEAR:
		clear_seq = printk_next_seq();
		return 0;
	case SYSLOG_ACTION_CONSOLE_OFF:
	case SYSLOG_ACTION_CONSOLE_ON:
	case SYSLOG_ACTION_CONSOLE_LEVEL:
		return set_level(type, len);
	case SYSLOG_ACTION_SIZE_UNREAD:
		return size_from(read_seq, buf) - read_at;
	case SYSLOG_ACTION_SIZE_BUFFER:
		return LOG_BUFFER_SIZE;
	}
	return -EINVAL;
}

static int dmesg_restrict; /* sysctl: only CAP_SYSLOG reads the log. A word, read whole */

/* Log lines may hold addresses of the kernel, so dmesg_restrict keeps them from other users. Any context. */
bool log_may_read(void)
{
	return !READ_ONCE(dmesg_restrict) || capable(CAP_SYSLOG);
}

/*
 * Anybody may ask for the newest records and for the buffer's size, unless dmesg_restrict is set. Taking records away
 * and changing the console are for CAP_SYSLOG.
 */
static bool may_syslog(int type)
{
	if (type == SYSLOG_ACTION_READ_ALL || type == SYSLOG_ACTION_SIZE_BUFFER)
		return log_may_read();
	return capable(CAP_SYSLOG);
}

static int dmesg_restrict_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", READ_ONCE(dmesg_restrict));
	return 0;
}

/* Only 0 and 1 are accepted: -EINVAL for anything else. */
static int dmesg_restrict_store(char *text, void *data)
{
	char *end;
	u64 value = simple_strtoull(text, &end, 10);

	if (end == text || (*end && !isspace(*end)) || value > 1)
		return -EINVAL;
	WRITE_ONCE(dmesg_restrict, value);
	return 0;
}

static const struct text_file dmesg_restrict_entry = {
	.path = "sys/kernel/dmesg_restrict", .mode = 0644, .show = dmesg_restrict_show, .store = dmesg_restrict_store};
REGISTER_PROC(dmesg_restrict_entry);

/*
 * The buffer for one line is allocated before the mutex is taken, so that a lack of memory does not hold up other
 * readers.
 */
static long ksys_syslog(int type, char __user *ubuf, int len)
{
	char *buf;
	long ret;

	if (type >= SYSLOG_ACTION_READ && type <= SYSLOG_ACTION_READ_CLEAR && (!ubuf || len < 0))
		return -EINVAL;
	buf = kmalloc(LINE_SIZE, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	mutex_lock(&syslog_mutex);
	ret = do_syslog(type, ubuf, len, buf);
	mutex_unlock(&syslog_mutex);
	kfree(buf);
	return ret;
}

SYSCALL_DEFINE3(syslog, int, type, char __user *, buf, int, len)
{
	return may_syslog(type) ? ksys_syslog(type, buf, len) : -EPERM;
}

/*
 * /proc/kmsg gives what SYSLOG_ACTION_READ gives. The right is asked for at the open: a daemon that gives the right
 * up later goes on reading. All readers share one position.
 */
static int kmsg_open(struct inode *inode, struct file *f)
{
	return capable(CAP_SYSLOG) ? 0 : -EPERM;
}

/* Without the mutex: a hint, and read_next() looks again. */
static bool kmsg_has_more(void)
{
	return READ_ONCE(read_seq) < printk_next_seq();
}

static ssize_t kmsg_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	if ((f->f_flags & O_NONBLOCK) && !kmsg_has_more())
		return -EAGAIN;
	return ksys_syslog(SYSLOG_ACTION_READ, buf, min_t(size_t, n, INT_MAX));
}

static unsigned kmsg_poll(struct file *f, struct poll_table *pt)
{
	poll_wait(f, &printk_wait, pt);
	return kmsg_has_more() ? POLLIN | POLLRDNORM : 0;
}

static const struct file_operations kmsg_fops = {
	.open = kmsg_open, .read = kmsg_read, .poll = kmsg_poll, .llseek = no_llseek};
static const struct text_file kmsg_entry = {.path = "kmsg", .mode = 0400, .fop = &kmsg_fops};
REGISTER_PROC(kmsg_entry);
