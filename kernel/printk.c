/*
 * The kernel log: a ring of records in memory, and a ring of their texts. printk() works in any context, nmi
 * included: it formats the text on its stack and copies it into the rings under log_lock. Printing the records is
 * kernel/console.c's business; readers of the log (dmesg, /dev/kmsg) wait on printk_wait.
 *
 * A record's number grows without end, and record n stands at n % NR_RECORDS. Old records make room for new ones, so
 * a reader that is too slow finds that its next number is gone.
 */
#include <irq/irqflags.h>
#include <kernel/export.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/current.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>
#include <sched/wait.h>
#include <time/clock.h>

#define CREATE_TRACE_POINTS
#include <trace/events/printk.h>

#define NR_RECORDS (1U << 11)
#define LINE_MAX   960 /* longest text of one record; a stack buffer must hold it */

/* One line. Locks: l log_lock. */
struct record {
	u64 begin;   /* [l] position in log_text, counted on without end */
	u64 stamp;   /* [l] ns */
	u32 caller;  /* [l] who may go on with it by KERN_CONT */
	u16 len;     /* [l] */
	u8 level;    /* [l] */
	bool closed; /* [l] its newline has come */
};

/*
 * Taken with interrupts off, for a copy of one line: neither traced nor preempted. Nothing that can print
 * runs under it, so only a fault inside the copy can find it taken by its own CPU, see log_lock_get().
 */
static spinlock_t log_lock;
static u32 log_owner = ~0U;		  /* [l] CPU that holds it */
static char log_text[LOG_BUFFER_SIZE];	  /* [l] */
static struct record records[NR_RECORDS]; /* [l] record n stands at n % NR_RECORDS */
static u64 first_seq, next_seq;		  /* [l] kept are first_seq .. next_seq - 1 */
static u64 text_end;			  /* [l] where the next text goes */
static u32 version;			  /* [l] counts changes */

static atomic_t nmi_lost; /* messages of NMIs that the lock kept out, not yet told */

DECLARE_WAIT_QUEUE_HEAD(printk_wait);
bool printk_wake_pending;

static struct record *record_of(u64 seq)
{
	return &records[seq % NR_RECORDS];
}

/*
 * False: the lock was not taken, and the caller goes on without it, since a garbled line is better than none. That is
 * so when this CPU holds the lock itself (it faulted in the middle of a copy), and, once an oops is in progress, when
 * the holder does not release it for long: it may have been stopped.
 */
static bool log_lock_get(unsigned long *flags)
{
	local_irq_save(*flags);
	if (READ_ONCE(log_owner) == smp_processor_id())
		return false;
	for (u32 spins = 0; !arch_spin_trylock(&log_lock); spins++) {
		if (oops_in_progress && spins > 1000000)
			return false;
		cpu_relax();
	}
	WRITE_ONCE(log_owner, smp_processor_id());
	return true;
}

/* `locked`: what log_lock_get() said. */
static void log_lock_put(bool locked, unsigned long flags)
{
	if (locked) {
		WRITE_ONCE(log_owner, ~0U);
		arch_spin_unlock(&log_lock);
	}
	local_irq_restore(flags);
}

/*
 * Forget the oldest records until a text that ends at `end` overwrites none that is kept, and a place for a record is
 * free. [l]
 */
static void log_make_room(u64 end)
{
	while (first_seq < next_seq &&
	       (end - record_of(first_seq)->begin > LOG_BUFFER_SIZE || next_seq - first_seq >= NR_RECORDS))
		first_seq++;
}

/* A new record behind the newest one. [l] */
static void append_record(u8 level, u32 caller, const char *text, size_t len, bool closed)
{
	u64 begin = text_end;
	struct record *r;

	if (begin % LOG_BUFFER_SIZE + len >
	    LOG_BUFFER_SIZE) /* a text lies in one piece, so the rest of the ring stays empty */
		begin = ALIGN(begin, LOG_BUFFER_SIZE);
	log_make_room(begin + len);
	memcpy(&log_text[begin % LOG_BUFFER_SIZE], text, len);
	text_end = begin + len;
	r = record_of(next_seq);
	*r = (struct record){begin, sched_clock(), caller, len, level, closed};
	next_seq++;
}

/*
 * KERN_CONT: lengthen the newest record. That works only while the record is open, from the same caller, and the text
 * still fits behind its own one; otherwise the caller makes a new record. [l]
 */
static bool extend_record(u32 caller, const char *text, size_t len, bool closed)
{
	struct record *r = record_of(next_seq - 1);

	if (first_seq == next_seq || r->closed || r->caller != caller || r->len + len > LINE_MAX ||
	    text_end % LOG_BUFFER_SIZE + len > LOG_BUFFER_SIZE || text_end % LOG_BUFFER_SIZE == 0)
		return false;
	log_make_room(text_end + len);
	memcpy(&log_text[text_end % LOG_BUFFER_SIZE], text, len);
	text_end += len;
	r->len += len;
	r->closed = closed;
	return true;
}

/*
 * Cut a text into lines and store each as a record. The caller is a task, or (bit 31) a CPU in an interrupt, so that
 * parts of lines of different callers are not put together. [l]
 */
static void store_lines(int level, bool cont, const char *text, size_t len)
{
	u32 caller = in_interrupt() ? 0x80000000u | smp_processor_id() : (u32)current->pid;

	WRITE_ONCE(version, version + 1);
	do {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;

		if (!cont || !extend_record(caller, text, n, newline))
			append_record(level, caller, text, n, newline);
		cont = false;
		text += n + !!newline;
		len -= n + !!newline;
	} while (len);
}

static void log_store(int level, bool cont, const char *text, size_t len)
{
	unsigned long flags;
	bool locked = log_lock_get(&flags);

	store_lines(level, cont, text, len);
	log_lock_put(locked, flags);
}

/*
 * Store from an NMI. It may have interrupted the holder of the lock in the middle of a record: waiting would last for
 * ever, and going on without the lock would damage the log. So the text is given up, and counted in nmi_lost.
 */
static void log_store_nmi(int level, bool cont, const char *text, size_t len)
{
	for (u32 spins = 0; !arch_spin_trylock(&log_lock); spins++) {
		if (READ_ONCE(log_owner) == smp_processor_id() || spins > 100000) {
			atomic_inc(&nmi_lost);
			return;
		}
		cpu_relax();
	}
	WRITE_ONCE(log_owner, smp_processor_id());
	store_lines(level, cont, text, len);
	WRITE_ONCE(log_owner, ~0U);
	arch_spin_unlock(&log_lock);
}

/* The level from a KERN_ prefix, or -1 without one. *text moves behind the prefix; *cont: it was KERN_CONT. */
static int parse_prefix(const char **text, size_t *len, bool *cont)
{
	int level = -1;

	while (*len >= 2 && (*text)[0] == KERN_SOH[0] && (*text)[1]) {
		if (isdigit((*text)[1]))
			level = (*text)[1] - '0';
		else if ((*text)[1] == 'c')
			*cont = true;
		*text += 2;
		*len -= 2;
	}
	return level;
}

/*
 * Readers sleep on printk_wait. Waking them takes the locks of run queues, which our caller may hold. With interrupts
 * on and preemption allowed the caller holds no spinlock, so they are woken at once; otherwise the next tick does it.
 */
static void wake_readers(void)
{
	/* Pairs with the barrier in prepare_to_wait: the reader sees the record or we see the reader. */
	smp_mb();
	if (!waitqueue_active(&printk_wait))
		return;
	if (!preempt_count() && !irqs_disabled() && !oops_in_progress)
		wake_up_all(&printk_wait);
	else
		WRITE_ONCE(printk_wake_pending, true);
}

/* At a tick. The consoles may have work as well: a message of an NMI is only stored when it comes. */
void printk_wake_readers(void)
{
	WRITE_ONCE(printk_wake_pending, false);
	console_flush();
	wake_up_all(&printk_wait);
}

/* The log has changed: print, wake the readers, and say how many messages were lost. */
static void finish_message(void)
{
	int lost = unlikely(atomic_read(&nmi_lost)) ? atomic_xchg(&nmi_lost, 0) : 0;

	console_flush();
	wake_readers();
	if (unlikely(lost))
		pr_warn("printk: %d messages of NMIs are lost\n", lost);
}

/*
 * The text is formatted on the stack before any lock is taken, so a fault in formatting does no harm to the log. In
 * an NMI only storing is safe: the drivers of consoles and the readers' queue have locks. Once the kernel fails,
 * getting the message out counts for more than those locks.
 */
static int log_message(bool only_store, const char *fmt, va_list args)
{
	char buf[LINE_MAX];
	const char *text = buf;
	size_t len = vscnprintf(buf, sizeof(buf), fmt, args);
	bool cont = false;
	int level = parse_prefix(&text, &len, &cont);

	if (level < 0)
		level = 4; /* KERN_WARNING, Linux's default for a message without a level */
	trace_console(text, len);
	if (unlikely(in_nmi()) && !oops_in_progress) {
		log_store_nmi(level, cont, text, len);
		WRITE_ONCE(printk_wake_pending, true);
	} else if (only_store) {
		log_store(level, cont, text, len);
		WRITE_ONCE(printk_wake_pending, true);
	} else {
		log_store(level, cont, text, len);
		finish_message();
	}
	return len;
}

int vprintk(const char *fmt, va_list args)
{
	return log_message(false, fmt, args);
}
EXPORT_SYMBOL(vprintk);

int printk(const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vprintk(fmt, args);
	va_end(args);
	return len;
}
EXPORT_SYMBOL(printk);

int printk_deferred(const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = log_message(true, fmt, args);
	va_end(args);
	return len;
}

/*
 * A record that is overwritten already is replaced by the oldest one that is kept; line->lost says how many were
 * missed. The newest record may still be open; one that others follow counts as closed.
 */
bool log_get(u64 *seq, struct log_line *line, char *text, size_t size)
{
	unsigned long flags;
	bool locked = log_lock_get(&flags), found;
	struct record *r;

	line->lost = *seq < first_seq ? first_seq - *seq : 0;
	*seq += line->lost;
	found = *seq < next_seq;
	if (found) {
		r = record_of(*seq);
		line->level = r->level;
		line->stamp = r->stamp;
		line->closed = r->closed || *seq + 1 < next_seq;
		line->len = min_t(size_t, r->len, size);
		memcpy(text, &log_text[r->begin % LOG_BUFFER_SIZE], line->len);
	}
	log_lock_put(locked, flags);
	return found;
}

/* The format of /dev/kmsg: "level,number,microseconds,-;text". */
ssize_t printk_read(u64 *seq, char *buf, size_t size, u64 *lost)
{
	char text[LINE_MAX];
	struct log_line line;
	u64 us;
	int n;

	if (!log_get(seq, &line, text, sizeof(text)))
		return 0;
	*lost += line.lost;
	us = line.stamp / NSEC_PER_USEC;
	n = scnprintf(buf, size, "%u,%llu,%llu,-;", line.level, (unsigned long long)*seq, (unsigned long long)us);
	n += scnprintf(buf + n, size - n, "%.*s\n", (int)line.len, text);
	++*seq;
	return n;
}

u32 log_version(void)
{
	return READ_ONCE(version);
}

u64 printk_first_seq(void)
{
	return READ_ONCE(first_seq);
}

u64 printk_next_seq(void)
{
	return READ_ONCE(next_seq);
}
