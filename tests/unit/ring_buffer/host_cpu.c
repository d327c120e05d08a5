/*
 * Host threads as CPUs; kernel/smp.h in the folder include beside this says what tests may use. A CPU is a thread that
 * has called host_cpu_start(). An interrupt is a signal to it, which waits while the CPU has interrupts off; an nmi is
 * the same signal and does not wait. A test names this file among its sources.
 */
#define _GNU_SOURCE
#include <kernel/smp.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

/*
 * One signal for interrupts and nmis: ThreadSanitizer loses a thread's signals for good otherwise. It notes a
 * signal and calls the handler later, all signals blocked meanwhile, and saves the mask in one place per
 * thread. When another signal is noted between its look and that blocking, the first atomic operation in the
 * handler does all this once more, inside; so the mask saved last, "all blocked", is what comes back at the
 * end. A second signal of the same number is not noted again.
 */
#define HOST_SIGNAL SIGUSR2

/* Seconds of this process's own time, not of the clock on the wall: a loaded machine is no reason to give up.
 */
#define PATIENCE 60

/* What a CPU is to run. One at a time: asked for and not served, while the two numbers differ. Locks: m the
 * CPU's lock; a atomic. */
struct host_call {
	unsigned asked;	 /* [am] */
	unsigned served; /* [a] the CPU's own */
	smp_call_func_t fn;
	void *info;
};

struct host_cpu {
	pthread_mutex_t lock; /* held for a moment only */
	pthread_t thread;     /* [m] */
	bool up;	      /* [m] */
	struct host_call irq, nmi;
};

static struct host_cpu cpus[NR_CPUS] = {[0 ... NR_CPUS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

unsigned nr_cpu_ids = 1;
long host_allocations_left = -1;
_Thread_local int host_cpu_id;
_Thread_local volatile int host_irqs_off;
static _Thread_local volatile int nmis_off;
static _Thread_local bool is_up;

static bool waiting(struct host_call *call)
{
	return __atomic_load_n(&call->asked, __ATOMIC_ACQUIRE) != __atomic_load_n(&call->served, __ATOMIC_RELAXED);
}

/* `off` keeps out what would come inside of us. */
static void serve(struct host_call *call, volatile int *off)
{
	/* Again, if a signal came while we were off: it did nothing. */
	while (waiting(call)) {
		*off = 1;
		barrier();
		if (waiting(call)) {
			call->fn(call->info);
			__atomic_fetch_add(&call->served, 1, __ATOMIC_RELEASE);
		}
		barrier();
		*off = 0;
	}
}

void host_irq_serve(void)
{
	if (is_up)
		serve(&cpus[host_cpu_id].irq, &host_irqs_off);
}

/* An nmi comes into anything but an nmi, and no interrupt comes into it. */
static void on_signal(int number)
{
	int flags = host_irqs_off;

	if (!is_up)
		return;
	host_irqs_off = 1;
	barrier();
	if (!nmis_off)
		serve(&cpus[host_cpu_id].nmi, &nmis_off);
	barrier();
	host_irqs_off = flags;
	if (!flags)
		host_irq_serve();
}

void host_cpu_start(int cpu)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};

	sigaction(HOST_SIGNAL, &action, NULL);
	host_cpu_id = cpu;
	is_up = true;
	pthread_mutex_lock(&cpus[cpu].lock);
	cpus[cpu].thread = pthread_self();
	cpus[cpu].up = true;
	pthread_mutex_unlock(&cpus[cpu].lock);
}

void host_cpu_stop(void)
{
	struct host_cpu *cpu = &cpus[host_cpu_id];

	pthread_mutex_lock(&cpu->lock);
	cpu->up = false;
	pthread_mutex_unlock(&cpu->lock);
	/* What was asked for before that; its signal may be still to come, and does nothing then. */
	serve(&cpu->nmi, &nmis_off);
	host_irq_serve();
	is_up = false;
	host_cpu_id = 0;
}

/* *ticket: what `served` will be when it is done. */
static int ask(int number, struct host_call *call, smp_call_func_t fn, void *info, unsigned *ticket)
{
	struct host_cpu *cpu = &cpus[number];
	int err = 0;

	pthread_mutex_lock(&cpu->lock);
	if (!cpu->up) {
		err = -ENXIO;
	} else if (call->asked != __atomic_load_n(&call->served, __ATOMIC_ACQUIRE)) {
		err = -EBUSY;
	} else {
		call->fn = fn;
		call->info = info;
		*ticket = call->asked + 1;
		__atomic_store_n(&call->asked, *ticket, __ATOMIC_RELEASE);
		pthread_kill(cpu->thread, HOST_SIGNAL);
	}
	pthread_mutex_unlock(&cpu->lock);
	return err;
}

int host_interrupt(int number, smp_call_func_t fn, void *info)
{
	unsigned ticket;

	return ask(number, &cpus[number].irq, fn, info, &ticket);
}

int host_nmi(int number, smp_call_func_t fn, void *info)
{
	unsigned ticket;

	return ask(number, &cpus[number].nmi, fn, info, &ticket);
}

u64 host_cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A turn of waiting for a CPU. Nothing takes that long: better a message than a test that hangs. */
static void wait_for(int number, u64 since)
{
	sched_yield();
	if (host_cpu_time() - since > PATIENCE * 1000000000ull) {
		fprintf(stderr, "CPU %d has not taken an interrupt for %d s of our time\n", number, PATIENCE);
		abort();
	}
}

/*
 * As the kernel's: on our own CPU at once, else by an interrupt, as soon as the last one there has been served.
 * -ENXIO: there is no such CPU. With `wait` it returns when the function has run.
 */
int smp_call_function_single(int number, smp_call_func_t fn, void *info, bool wait)
{
	struct host_call *call = &cpus[number].irq;
	u64 since = host_cpu_time();
	unsigned long flags;
	unsigned ticket;
	int err;

	if (is_up && number == host_cpu_id) {
		raw_local_irq_save(flags);
		fn(info);
		raw_local_irq_restore(flags);
		return 0;
	}
	while ((err = ask(number, call, fn, info, &ticket)) == -EBUSY)
		wait_for(number, since);
	if (err)
		return err;
	while (wait && (int)(__atomic_load_n(&call->served, __ATOMIC_ACQUIRE) - ticket) < 0)
		wait_for(number, since);
	return 0;
}

void on_each_cpu(smp_call_func_t fn, void *info, bool wait)
{
	for (unsigned number = 0; number < nr_cpu_ids; number++)
		smp_call_function_single((int)number, fn, info, wait);
}
