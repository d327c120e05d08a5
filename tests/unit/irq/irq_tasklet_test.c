/*
 * tasklet_kill(): it returns when the tasklet neither is scheduled nor runs, also to each of two tasks that kill the
 * same one.
 */
/* sources: kernel/module/api/tasklet.c kernel/sched/wait.c kernel/lib/bitmap.c */
/* include: tests/unit/include-sched */
#include "../include-mm/host_test.h"

#include <host_abi.h>

#include <irq/irqflags.h>
#include <irq/tasklet.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <time/clock.h>

#include <host_threads.h>

u64 host_clock = 1, clock_mult = 1ULL << CLOCK_SHIFT;
unsigned nr_cpu_ids = 1;
struct cpumask cpu_possible_mask = {{1}}, cpu_online_mask = {{1}};
unsigned long __per_cpu_offset[NR_CPUS];

static void (*softirqs[NR_SOFTIRQS])(void);
static unsigned raised, runs;

void open_softirq(int nr, void (*action)(void))
{
	softirqs[nr] = action;
}
void raise_softirq_irqoff(int nr)
{
	raised |= 1U << nr;
}

/* What the function does in the middle of its run, when other CPUs go on; NULL: nothing. */
static void (*meanwhile)(void);
static struct tasklet_struct tasklet;

static void count_run(struct tasklet_struct *t)
{
	runs++;
	if (meanwhile)
		meanwhile();
}

/* The test is the CPU on which the softirq comes. */
static void serve(void)
{
	must(raised == 1U << TASKLET_SOFTIRQ, "the softirq is pending");
	raised = 0;
	softirqs[TASKLET_SOFTIRQ]();
}

static void kill_it(void *t)
{
	tasklet_kill(t);
}
static struct host_thread *killers[2];
static void start_killer(int n)
{
	killers[n] = host_start(n ? "second killer" : "first killer", kill_it, &tasklet);
	host_let(killers[n]);
}

static void begin(void)
{
	tasklet_setup(&tasklet, count_run);
	meanwhile = NULL;
	raised = runs = 0;
}

/* One that is scheduled runs first. */
static void kill_waits_for_the_run(void **state)
{
	begin();
	tasklet_schedule(&tasklet);
	start_killer(0);
	must(host_asleep(killers[0]), "it has not run");
	serve();
	must(runs == 1 && !host_asleep(killers[0]), "it has run");
	host_let(killers[0]);
	must(killers[0]->done && !tasklet.state, "it is at rest");
	host_end();
}

static void first_kills(void)
{
	start_killer(0);
	must(host_asleep(killers[0]), "the function runs");
	start_killer(1);
	must(host_asleep(killers[1]), "the first one has the tasklet");
}

/* Both begin while the function runs. `order`: which one is first to go on after its end. */
static void two_kill(void **state)
{
	for (int order = 0; order < 2; order++) {
		begin();
		meanwhile = first_kills;
		tasklet_schedule(&tasklet);
		serve();
		must(!host_asleep(killers[0]) && !host_asleep(killers[1]), "the run has ended");
		host_let(killers[order]);
		if (order) {
			must(host_asleep(killers[1]), "the first one has the tasklet still");
			host_let(killers[0]);
			must(!host_asleep(killers[1]), "the second killer is not woken and sleeps for ever");
		}
		host_let(killers[1]);
		must(killers[0]->done && killers[1]->done && !tasklet.state, "the tasklet is at rest");
		host_end();
	}
}

extern initcall_fn *const __start_ptrs_initcall_core[], *const __stop_ptrs_initcall_core[];

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kill_waits_for_the_run),
		cmocka_unit_test(two_kill),
	};

	for (initcall_fn *const *fn = __start_ptrs_initcall_core; fn < __stop_ptrs_initcall_core; fn++)
		must(!(*fn)(), "tasklets are set up");
	sem_init(&host_stopped, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
