/* Kernel messages: a log that dmesg and /dev/kmsg read, written through to the consoles by level. */
#pragma once

#include <lib/types.h>

#define KERN_SOH     "\001"
#define KERN_EMERG   KERN_SOH "0"
#define KERN_ALERT   KERN_SOH "1"
#define KERN_CRIT    KERN_SOH "2"
#define KERN_ERR     KERN_SOH "3"
#define KERN_WARNING KERN_SOH "4"
#define KERN_NOTICE  KERN_SOH "5"
#define KERN_INFO    KERN_SOH "6"
#define KERN_DEBUG   KERN_SOH "7"
#define KERN_CONT    KERN_SOH "c" /* goes on with the line before */

/*
 * Append to the log and to every console whose level is above the message's. Lines show as "[    1.234567]
 * text". Context: any, also oops (a lock it cannot get then is broken) and nmi (shown by the next tick or message;
 * one that came in the middle of another on the same CPU is lost, and counted). Returns the length.
 */
int printk(const char *fmt, ...) __printf(1, 2);
int vprintk(const char *fmt, va_list args);
/* Into the log; the next tick or message shows it. For who may hold a lock that a console or a run queue needs. */
int printk_deferred(const char *fmt, ...) __printf(1, 2);

/* A file that defines this before its first #include puts its own words before all of its messages. */
#ifndef pr_fmt
#define pr_fmt(fmt) fmt
#endif
#define pr_emerg(fmt, ...)  printk(KERN_EMERG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err(fmt, ...)    printk(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)   printk(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice(fmt, ...) printk(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...)   printk(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
#define pr_debug(fmt, ...)  printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__)
#define pr_cont(fmt, ...)   printk(KERN_CONT fmt, ##__VA_ARGS__)
#define pr_warn_once(fmt, ...)                                            \
	do {                                                              \
		static bool _said;                                        \
		if (!__atomic_exchange_n(&_said, true, __ATOMIC_RELAXED)) \
			pr_warn(fmt, ##__VA_ARGS__);                      \
	} while (0)

/* A place messages go to. `write` is called with the console lock held and interrupts off, and must poll. */
struct console {
	const char *name;
	void (*write)(struct console *con, const char *text, size_t len);
	void *data;
	struct console *next; /* [console lock] */
};
/* Adds a console and plays the log so far to it. Context: boot, thread. */
void console_register(struct console *con);
void console_unregister(struct console *con); /* nobody is in its write any more. Boot */
/* The name of the n-th console, the newest first; false: there are fewer. Thread context. */
bool console_name(unsigned n, char *name, size_t size);
extern int console_loglevel; /* messages below this level are shown; loglevel= and quiet set it */
/* Oops and panic: show everything, whatever the level is and even if another CPU holds the console. */
void console_verbose(void);

/* Print what the log has and no console has shown; returns at once when another CPU is at it (it prints ours too). */
void console_flush(void);
/* Panic: take the consoles from a CPU that was stopped while it printed, and print what is left. */
void console_break_lock(void);

#define LOG_BUFFER_SIZE (1U << 17) /* bytes of text that are kept */
/* Between kernel/printk.c, kernel/console.c and syslog(2). */
struct log_line {
	u64 stamp; /* sched_clock of the first byte, ns */
	u64 lost;  /* records overwritten between the one asked for and this one */
	size_t len;
	u8 level;    /* 0..7 */
	bool closed; /* complete: no KERN_CONT can come */
};
/* Record *seq, or the first still kept after it (*seq is set to it), cut to `size`. False: none yet. Any context. */
bool log_get(u64 *seq, struct log_line *line, char *text, size_t size);
u32 log_version(void);				  /* changes whenever the log does */
int log_stamp(char *buf, size_t size, u64 stamp); /* "[    1.234567] "; returns the length */

/* Read access for /dev/kmsg, /proc/kmsg and syslog(2). */
/*
 * Copies the record at *seq (or the first one still kept) to buf as a record of /dev/kmsg,
 * "level,seq,microseconds,-;text\n", advances *seq. 0: none yet; *lost counts records overwritten before they were
 * read. Context: any.
 */
ssize_t printk_read(u64 *seq, char *buf, size_t size, u64 *lost);
/* May the current task read the log (kernel.dmesg_restrict)? Any context. */
bool log_may_read(void);
u64 printk_first_seq(void);
u64 printk_next_seq(void);
struct wait_queue_head;
extern struct wait_queue_head
	printk_wait;		 /* woken (from the tick or a thread, never from printk itself) when there is more */
extern bool printk_wake_pending; /* something was printed where its readers could not be woken */
/* Wake them: from the tick and from idle, interrupts off, no lock held. */
void printk_wake_readers(void);
static inline void printk_tick(void)
{
	if (unlikely(READ_ONCE(printk_wake_pending)))
		printk_wake_readers();
}
