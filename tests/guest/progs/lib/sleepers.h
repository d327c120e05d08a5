/*
 * Tasks that make one futex call that sleeps, and what became of it: for tests of who is woken, by whom and
 * when.
 *
 * Nothing here goes by the clock to find out whether a task sleeps: /proc says it. A task that should have
 * been woken and is not ends the wait for it after SLEEPER_PATIENCE, with a message.
 */
#ifndef SLEEPERS_H
#define SLEEPERS_H

#include <callnumbers.h>
#include <numbers.h>
#include <uapi/futex.h>

#define ALL		 0x7fffffff
#define SLEEPER_PATIENCE 3000000000L /* ns that a woken task may take on a loaded machine */
#define SLEEPER_STUCK	 (-10000L)   /* the result of one that nobody has woken; no errno */

typedef unsigned int futex_t;

/* futex(2): what the kernel returns, so -errno. Touches no errno, which threads share here. */
long futex(futex_t *word, int op, unsigned val, const void *time_or_val2, futex_t *word2, unsigned val3);
/* FUTEX_WAKE for memory of this process alone. */
long futex_wake(futex_t *word, unsigned n);
/* Requeueing takes a number where others take a time. */
#define VAL2(n) ((const void *)(long)(n))

struct sleeper {
	futex_t *word;
	int op;
	unsigned val, bitset;
	const struct timespec *time;
	bool forked; /* a process with memory of its own, instead of a thread; *this must be shared then */

	pid_t pid;
	volatile long result;	  /* of the call */
	volatile long began, end; /* check_now() before and after it; end 0: not yet */
};

/* Start it and wait until it sleeps (or has ended: that is no failure here). */
void sleeper_start(struct sleeper *s);
/* Start n that wait for the word as long as it is val, in FUTEX_WAIT for private memory: each sleeps before
 * the next. */
void sleepers_start(struct sleeper *s, int n, futex_t *word, unsigned val);
/* Wait until the task sleeps. False with a failure and a message when it has ended, or goes on running. */
bool sleeper_sleeps(const struct sleeper *s);
/* Collect it. Gives what its call returned, or SLEEPER_STUCK: it sleeps still, and was killed. */
long sleeper_join(struct sleeper *s);
/* Each of these n has been woken, with 0. The failure names the first that has not. */
bool sleepers_woken(struct sleeper *s, int n);
/* Each of these n sleeps on. */
bool sleepers_sleep(const struct sleeper *s, int n);
/* Wait until the word in memory has this value. False after SLEEPER_PATIENCE, with a failure. */
bool word_becomes(const volatile futex_t *word, futex_t value);
/* Memory of n words that children share, zeroed. */
futex_t *shared_words(int n);
/* check_now() + ns, and a clock's own time + ns. */
struct timespec later(long ns);
struct timespec later_on(int clock, long ns);

#endif
