/*
 * Writing the kernel log to the consoles: who prints, from which record on, and how a line looks. printk() stores a
 * record and then calls console_flush(), which prints all records that are new. Printing may happen in any context,
 * also inside the scheduler or an interrupt, so no code ever waits for the console; see console_locked.
 */
#include <irq/irqflags.h>
#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <sched/preempt.h>
#include <sched/spinlock.h>

#define LOGLEVEL_DEFAULT 7
#define LOGLEVEL_QUIET	 4
#define LOGLEVEL_DEBUG	 10
#define LOGLEVEL_ALL	 15

int console_loglevel = LOGLEVEL_DEFAULT;

/*
 * printk() only ever tries the console lock. A CPU that finds it taken has put its line into the log before, and the
 * holder looks at the log once more after it has released the lock: so one of the two prints the line. A message from
 * an interrupt on top of the holder, or from inside the scheduler, cannot deadlock. Locks: c console_locked.
 */
static unsigned console_locked;
static struct console *consoles; /* [c] */
static u64 console_seq;		 /* [c] next record to print */
static size_t console_done;	 /* [c] bytes of it that are printed already, while more was to come */
static bool line_shown;		 /* [c] the record being printed passed the level */

static bool console_trylock(void)
{
	return !__atomic_exchange_n(&console_locked, 1, __ATOMIC_ACQUIRE);
}

static void console_release(void)
{
	__atomic_store_n(&console_locked, 0, __ATOMIC_RELEASE);
}

/*
 * For callers that must have the lock. Preemption is off from before the attempt: if a task preempted a holder and
 * spun here with preemption off, the holder could never go on. Thread context.
 */
static void console_lock(void)
{
	preempt_disable();
	while (!console_trylock())
		cpu_relax();
}

/* Release the lock, and print what other CPUs could not print while it was held. */
static noinline void console_unlock(void)
{
	console_release();
	preempt_enable();
	console_flush();
}

/* Write to all consoles. [c], interrupts off so that a console's own interrupt does not come in between */
static void write_all(const char *text, size_t len)
{
	for (struct console *con = consoles; con; con = con->next)
		con->write(con, text, len);
}

int log_stamp(char *buf, size_t size, u64 stamp)
{
	u64 us = stamp / NSEC_PER_USEC;

	return scnprintf(buf, size, "[%5llu.%06llu] ", (unsigned long long)(us / 1000000),
			 (unsigned long long)(us % 1000000));
}

/* Print what is new of one record. Returns false when it is open: more may come. [c], interrupts off */
static bool console_print_record(const struct log_line *line, const char *text)
{
	char stamp[32];

	if (!console_done)
		line_shown = line->level < READ_ONCE(console_loglevel);
	if (line_shown) {
		if (!console_done)
			write_all(stamp, log_stamp(stamp, sizeof(stamp), line->stamp));
		if (line->len > console_done)
			write_all(text + console_done, line->len - console_done);
		if (line->closed)
			write_all("\n", 1);
	}
	/* A record that is open and has no text yet counts as begun; otherwise its stamp would be printed twice. */
	console_done = line->len;
	return line->closed;
}

/*
 * Print one record, or what has been added to an open one. False: there is nothing new to print, or the record is
 * still open. [c]
 */
static bool flush_one(void)
{
	static char text[1024]; /* [c] */
	struct log_line line;
	unsigned long flags;
	u64 seq = console_seq;
	bool more;

	if (!log_get(&seq, &line, text, sizeof(text)))
		return false;
	if (seq != console_seq) { /* overwritten before they were printed */
		console_seq = seq;
		console_done = 0;
	}
	if (console_done && !line.closed && line.len == console_done)
		return false;
	local_irq_save(flags);
	more = console_print_record(&line, text);
	local_irq_restore(flags);
	if (more) {
		console_seq++;
		console_done = 0;
	}
	return more;
}

/*
 * The loop closes a gap: a CPU that adds a record between our last look and the unlock finds the lock taken and goes
 * away. After the unlock the version of the log shows that record, and we try again.
 */
void console_flush(void)
{
	u32 version;

	do {
		version = log_version();
		preempt_disable(); /* a holder that is preempted would keep all messages back */
		if (!READ_ONCE(consoles) || !console_trylock()) {
			preempt_enable();
			return;
		}
		while (flush_one())
			;
		console_release();
		preempt_enable();
		/*
		 * A CPU that failed to get the lock changed the log before that. This barrier, and its own one in the
		 * attempt, make sure that log_version() shows the change here.
		 */
		smp_mb();
	} while (log_version() != version);
}

/* A console that comes late gets what the others have printed already. [c] */
static void play_log(struct console *con)
{
	static char text[1024], stamp[32]; /* [c] */
	struct log_line line;
	unsigned long flags;

	for (u64 seq = 0; seq < console_seq && log_get(&seq, &line, text, sizeof(text)); seq++) {
		if (line.level >= console_loglevel)
			continue;
		local_irq_save(flags);
		con->write(con, stamp, log_stamp(stamp, sizeof(stamp), line.stamp));
		con->write(con, text, line.len);
		con->write(con, "\n", 1);
		local_irq_restore(flags);
	}
}

void console_register(struct console *con)
{
	console_lock();
	play_log(con);
	con->next = consoles;
	WRITE_ONCE(consoles, con);
	console_unlock();
}

void console_unregister(struct console *con)
{
	struct console **link;

	console_lock();
	for (link = &consoles; *link && *link != con; link = &(*link)->next)
		;
	if (*link)
		WRITE_ONCE(*link, con->next);
	console_unlock();
}

bool console_name(unsigned n, char *name, size_t size)
{
	struct console *con;

	console_lock();
	for (con = consoles; con && n; con = con->next)
		n--;
	if (con)
		strscpy(name, con->name, size);
	console_unlock();
	return con;
}

void console_verbose(void)
{
	console_loglevel = LOGLEVEL_ALL;
}

/* For a panic: the holder may be a CPU that is stopped. What it was printing may be printed twice. */
void console_break_lock(void)
{
	console_release();
	console_flush();
}

/* Any number, as on Linux. */
static int set_loglevel(const char *value)
{
	return kstrtoint(value, 0, &console_loglevel);
}
early_param("loglevel=", set_loglevel);

static int set_debug(const char *value)
{
	console_loglevel = LOGLEVEL_DEBUG;
	return 0;
}
early_param("debug", set_debug);

static int set_quiet(const char *value)
{
	console_loglevel = LOGLEVEL_QUIET;
	return *value ? -EINVAL : 0;
}
early_param("quiet", set_quiet);
