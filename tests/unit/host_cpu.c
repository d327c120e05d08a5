/* Host threads as CPUs: see kernel/smp.h beside this. A test names it among its sources. */
#define _GNU_SOURCE
#include <kernel/smp.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define IPI_SIGNAL SIGUSR2

/* One call at a time for each CPU. Locks: m lock; a atomic. */
struct host_cpu {
	pthread_mutex_t lock;
	pthread_t thread; /* [m] */
	bool up;	  /* [m] */
	int posted;	  /* [a] fn is to be called; 0 when it was */
	smp_call_func_t fn;
	void *info;
};

static struct host_cpu cpus[NR_CPUS] = {[0 ... NR_CPUS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

unsigned nr_cpu_ids = 1;
long host_allocations_left = -1;
_Thread_local int host_cpu_id;
_Thread_local volatile int host_irqs_off;
static _Thread_local bool is_up;

void host_irq_serve(void)
{
	struct host_cpu *cpu = &cpus[host_cpu_id];

	/* Again, if a signal came while interrupts were off here: it did nothing. */
	while (is_up && __atomic_load_n(&cpu->posted, __ATOMIC_ACQUIRE)) {
		host_irqs_off = 1;
		barrier();
		if (__atomic_load_n(&cpu->posted, __ATOMIC_ACQUIRE)) {
			cpu->fn(cpu->info);
			__atomic_store_n(&cpu->posted, 0, __ATOMIC_RELEASE);
		}
		barrier();
		host_irqs_off = 0;
	}
}

static void on_signal(int number)
{
	if (!host_irqs_off)
		host_irq_serve();
}

void host_cpu_start(int cpu)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(IPI_SIGNAL, &action, NULL);
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

	/* Who holds the lock may wait for us to serve it. */
	while (pthread_mutex_trylock(&cpu->lock)) {
		host_irq_serve();
		sched_yield();
	}
	host_irq_serve();
	cpu->up = false;
	pthread_mutex_unlock(&cpu->lock);
	is_up = false;
	host_cpu_id = 0;
}

/* Under the lock. Returns false when the call before has not been served yet. */
static bool post(struct host_cpu *cpu, smp_call_func_t fn, void *info)
{
	if (__atomic_load_n(&cpu->posted, __ATOMIC_ACQUIRE))
		return false;
	cpu->fn = fn;
	cpu->info = info;
	__atomic_store_n(&cpu->posted, 1, __ATOMIC_RELEASE);
	pthread_kill(cpu->thread, IPI_SIGNAL);
	return true;
}

int host_interrupt(int number, smp_call_func_t fn, void *info)
{
	struct host_cpu *cpu = &cpus[number];
	int err = 0;

	pthread_mutex_lock(&cpu->lock);
	if (!cpu->up)
		err = -ENXIO;
	else if (!post(cpu, fn, info))
		err = -EBUSY;
	pthread_mutex_unlock(&cpu->lock);
	return err;
}

int smp_call_function_single(int number, smp_call_func_t fn, void *info, bool wait)
{
	struct host_cpu *cpu = &cpus[number];
	unsigned long flags;
	int err = 0;

	if (is_up && number == host_cpu_id) {
		raw_local_irq_save(flags);
		fn(info);
		raw_local_irq_restore(flags);
		return 0;
	}
	pthread_mutex_lock(&cpu->lock);
	if (cpu->up) {
		while (!post(cpu, fn, info))
			sched_yield();
		while (__atomic_load_n(&cpu->posted, __ATOMIC_ACQUIRE))
			sched_yield();
	} else {
		err = -ENXIO;
	}
	pthread_mutex_unlock(&cpu->lock);
	return err;
}
