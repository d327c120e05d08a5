/*
 * Kernel code that sleeps, on the host: each task is a host thread, and only the one that the test lets run
 * does run, until it sleeps, spins or ends. So every order of events is the test's choice. What is not as it
 * should be ends the program: most of it is found in a task's thread, and cmocka's assertions are for the
 * test's own.
 *
 * Include once, after the kernel's headers. The locks below are for one who runs at a time: they only check
 * their rules.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>

#define HOST_THREADS 16

#define must(x, fmt, ...)                                                                                        \
	do {                                                                                                     \
		if (!(x)) {                                                                                      \
			fprintf(stderr, "%s:%d: " fmt " (not so: %s)\n", __FILE__, __LINE__, ##__VA_ARGS__, #x); \
			abort();                                                                                 \
		}                                                                                                \
	} while (0)

struct host_thread {
	struct task_struct t;
	pthread_t thread;
	sem_t go;
	void (*fn)(void *arg);
	void *arg;
	bool done, spins;
};

static struct host_thread host_threads[HOST_THREADS];
static unsigned host_nr_threads;
static sem_t host_stopped; /* the one that ran has stopped */
static struct task_struct host_main = {.comm = "test"};
struct task_struct *host_current = &host_main;
unsigned long host_irqs_off;
static struct task_struct *host_woken[64]; /* in this order */
static unsigned host_nr_woken;

static inline struct host_thread *host_self(void)
{
	return container_of(current, struct host_thread, t);
}

/* The test goes on, until it lets this task run again. */
static inline void host_stop(void)
{
	struct host_thread *self = host_self();

	must(self->t.preempt_count == 0 || self->spins, "%s stops with a preempt_count of %#x", self->t.comm,
	     self->t.preempt_count);
	must(!host_irqs_off, "%s stops with interrupts off", self->t.comm);
	sem_post(&host_stopped);
	sem_wait(&self->go);
}

static inline void *host_thread_main(void *arg)
{
	struct host_thread *self = arg;

	sem_wait(&self->go);
	self->fn(self->arg);
	self->done = true;
	sem_post(&host_stopped);
	return NULL;
}

/* A task that will call fn(arg) when it is let run. */
static inline struct host_thread *host_start(const char *name, void (*fn)(void *), void *arg)
{
	struct host_thread *h = &host_threads[host_nr_threads];

	must(host_nr_threads++ < HOST_THREADS, "too many threads");
	memset(h, 0, sizeof(*h));
	h->fn = fn;
	h->arg = arg;
	snprintf(h->t.comm, sizeof(h->t.comm), "%s", name);
	sem_init(&h->go, 0, 0);
	must(!pthread_create(&h->thread, NULL, host_thread_main, h), "no thread");
	return h;
}

static inline bool host_asleep(const struct host_thread *h)
{
	return h->t.state != TASK_RUNNING;
}

/* Until it sleeps, spins or ends. */
static inline void host_let(struct host_thread *h)
{
	must(!h->done, "%s has ended", h->t.comm);
	must(!host_asleep(h), "%s sleeps in state %#x and cannot run", h->t.comm, h->t.state);
	h->spins = false;
	host_current = &h->t;
	sem_post(&h->go);
	sem_wait(&host_stopped);
	host_current = &host_main;
}

/* The test is over: all must have ended. */
static inline void host_end(void)
{
	for (unsigned i = 0; i < host_nr_threads; i++) {
		must(host_threads[i].done, "%s has not come to its end: state %#x", host_threads[i].t.comm,
		     host_threads[i].t.state);
		pthread_join(host_threads[i].thread, NULL);
	}
	host_nr_threads = host_nr_woken = 0;
}

/* So many were woken since the last time, and this one last. */
static inline void expect_woken(unsigned n, const struct host_thread *last, const char *why)
{
	must(host_nr_woken == n, "%u were woken, not %u: %s", host_nr_woken, n, why);
	if (n && last)
		must(host_woken[n - 1] == &last->t, "%s was woken, not %s: %s", host_woken[n - 1]->comm, last->t.comm,
		     why);
	host_nr_woken = 0;
}

/* ---- What the kernel calls. */

void schedule(void)
{
	static unsigned awake; /* calls on end that did not sleep */

	if (signal_pending(current) && (current->state & TASK_INTERRUPTIBLE))
		current->state = TASK_RUNNING;
	awake = current->state == TASK_RUNNING ? awake + 1 : 0;
	must(awake < 1000, "%s neither sleeps nor ends its wait, signal pending: %d", current->comm,
	     signal_pending(current));
	if (current->state != TASK_RUNNING)
		host_stop();
}
void preempt_schedule(void)
{
}
void preempt_schedule_notrace(void)
{
}
void host_relax(void)
{
	host_self()->spins = true;
	host_stop();
}
bool try_to_wake_up(struct task_struct *p, unsigned mask)
{
	if (!(p->state & mask))
		return false;
	p->state = TASK_RUNNING;
	must(host_nr_woken < ARRAY_SIZE(host_woken), "too many wake-ups");
	host_woken[host_nr_woken++] = p;
	return true;
}
bool wake_up_process(struct task_struct *p)
{
	return try_to_wake_up(p, TASK_NORMAL);
}
void _raw_spin_lock(spinlock_t *l)
{
	must(!l->locked, "%s takes a lock that is taken", current->comm);
	l->locked = 1;
	current->preempt_count++;
}
void _raw_spin_unlock(spinlock_t *l)
{
	must(l->locked, "%s gives a lock back that is free", current->comm);
	l->locked = 0;
	current->preempt_count--;
}
unsigned long _raw_spin_lock_irqsave(spinlock_t *l)
{
	unsigned long flags = arch_local_irq_save();

	_raw_spin_lock(l);
	return flags;
}
void _raw_spin_unlock_irqrestore(spinlock_t *l, unsigned long flags)
{
	_raw_spin_unlock(l);
	arch_local_irq_restore(flags);
}
void _raw_spin_lock_irq(spinlock_t *l)
{
	must(!host_irqs_off, "%s would turn interrupts on too early", current->comm);
	_raw_spin_lock_irqsave(l);
}
void _raw_spin_unlock_irq(spinlock_t *l)
{
	_raw_spin_unlock_irqrestore(l, 0);
}
void __warn(const char *file, int line, const char *cond)
{
	must(false, "WARN at %s:%d: %s", file, line, cond);
}
