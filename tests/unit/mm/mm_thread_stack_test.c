/*
 * Stacks of dead tasks: two stay with the CPU, the others wait for a worker that must be asked to come, and new tasks
 * take them before any memory is mapped for another one.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_kernel.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/mm/pages/thread_stack.c"

static int mapped; /* stacks */
void *vmalloc_stack(void)
{
	mapped++;
	return malloc(sizeof(struct dead_stack));
}
void vfree_stack(void *stack)
{
	assert_false(host_irqs_off);
	mapped--;
	free(stack);
}

static struct work_struct *asked; /* the work that the worker must do */
bool schedule_work(struct work_struct *w)
{
	bool idle = !asked;

	asked = w;
	return idle;
}
static void do_work(void)
{
	struct work_struct *w = asked;

	assert_non_null(w);
	asked = NULL;
	w->func(w);
}

static void expect_stacks(int nr)
{
	assert_int_equal(mapped, nr);
	assert_int_equal(nr_thread_stacks(), nr);
}

/* Two are kept, and for the third the worker is asked, each time that there is one. */
static void test_worker_frees_the_rest(void **state)
{
	void *stacks[6];

	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++)
		stacks[i] = alloc_thread_stack();
	expect_stacks(6);
	free_thread_stack(stacks[0]);
	free_thread_stack(stacks[1]);
	assert_null(asked);
	free_thread_stack(stacks[2]);
	assert_non_null(asked);
	free_thread_stack(stacks[3]);
	expect_stacks(6); /* interrupts are off where a stack is freed, so not there */
	do_work();
	expect_stacks(4);
	free_thread_stack(stacks[4]);
	do_work();
	expect_stacks(3);
	/* New tasks: two of the CPU, and one that waits for the worker. */
	free_thread_stack(stacks[5]);
	assert_ptr_equal(alloc_thread_stack(), stacks[1]);
	assert_ptr_equal(alloc_thread_stack(), stacks[0]);
	assert_ptr_equal(alloc_thread_stack(), stacks[5]);
	expect_stacks(3);
	do_work(); /* finds nothing left */
	expect_stacks(3);
	free_thread_stack(stacks[0]);
	free_thread_stack(stacks[1]);
	free_thread_stack(stacks[5]);
	do_work();
	expect_stacks(2);
	stacks_cpu_dead(0);
	expect_stacks(0);
}

/* What a CPU has kept goes with it, and what another CPU has kept does not. */
static void test_cpu_goes(void **state)
{
	void *stacks[4];

	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++)
		stacks[i] = alloc_thread_stack();
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		host_task.cpu = i / 2;
		free_thread_stack(stacks[i]);
	}
	host_task.cpu = 0;
	assert_null(asked);
	expect_stacks(4);
	assert_int_equal(stacks_cpu_dead(1), 0);
	expect_stacks(2);
	assert_ptr_equal(alloc_thread_stack(), stacks[1]);
	free_thread_stack(stacks[1]);
	assert_int_equal(stacks_cpu_dead(0), 0);
	expect_stacks(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker_frees_the_rest),
		cmocka_unit_test(test_cpu_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
