/*
 * Walks over the stack of a task that sleeps: where a walk begins and ends, and what it finds in place of return
 * addresses that function_graph has replaced. The stack is memory of the test, with frame records at places that it
 * chooses.
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

/* ---- What it stands on. Programs and registers have no part in this. */
#include <arch/stacktrace.h>
struct pt_regs;
bool user_mode(const struct pt_regs *regs);
unsigned long instruction_pointer(const struct pt_regs *regs);
unsigned long frame_pointer(const struct pt_regs *regs);
unsigned long user_stack_pointer(const struct pt_regs *regs);
struct pt_regs *task_pt_regs(const struct task_struct *t);
static unsigned long task_fp;
unsigned long arch_task_pc(const struct task_struct *t)
{
	return 0x100;
}
unsigned long arch_task_fp(const struct task_struct *t)
{
	return task_fp;
}
bool arch_on_irq_stack(unsigned long addr, unsigned long *end)
{
	return false;
}

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/stacktrace.c"

const char _stext[1], _etext[1], __sched_text_start[1], __sched_text_end[1];
bool user_mode(const struct pt_regs *regs)
{
	return false;
}
unsigned long instruction_pointer(const struct pt_regs *regs)
{
	return 0;
}
unsigned long frame_pointer(const struct pt_regs *regs)
{
	return 0;
}
unsigned long user_stack_pointer(const struct pt_regs *regs)
{
	return 0;
}
struct pt_regs *task_pt_regs(const struct task_struct *t)
{
	return NULL;
}
void preempt_schedule_notrace(void)
{
}
long copy_from_user_nofault(void *dst, const void __user *src, size_t n)
{
	return -EFAULT;
}
/* No program is probed; the table must have an entry. */
static const struct uprobe_ops host_uprobe_ops;
REGISTER_UPROBE_OPS(host_uprobe_ops);

/* ---- A task that sleeps */
static unsigned long stack[THREAD_SIZE / sizeof(long)] __attribute__((aligned(16)));
static struct task_struct sleeper = {.stack = stack};
static unsigned asked; /* for returns that were replaced */

/* The shadow stack may be freed a grace period after the task has left it, so a walk keeps preemption off. */
unsigned long fgraph_ret_addr(const struct task_struct *task, unsigned *pos, unsigned long slot)
{
	assert_ptr_equal(task, &sleeper);
	assert_true(host_task.preempt_count);
	asked++;
	return 0x1000 + (slot - (unsigned long)stack) / sizeof(long);
}

/* The records stand at these words of the stack, up to a 0, each leading to the next. Their returns are 0x200 + i. */
static void records(const unsigned *at)
{
	memset(stack, 0, sizeof(stack));
	task_fp = (unsigned long)&stack[at[0]];
	for (unsigned i = 0; at[i]; i++) {
		stack[at[i]] = at[i + 1] ? (unsigned long)&stack[at[i + 1]] : 0;
		stack[at[i] + 1] = 0x200 + i;
	}
	asked = 0;
	host_task.preempt_count = 0;
}

static unsigned walk(unsigned long *store, unsigned size, unsigned skip)
{
	unsigned n = stack_trace_save_tsk(&sleeper, store, size, skip);

	assert_int_equal(host_task.preempt_count, 0);
	return n;
}

/* The place of the switch and the callers, as many as there is room for; none of a task that runs. */
static void test_the_callers_of_a_task_that_sleeps(void **state)
{
	unsigned long store[8];

	records((unsigned[]){10, 14, 20, 0});
	assert_int_equal(walk(store, 8, 0), 4);
	assert_int_equal(store[0], 0x100);
	assert_int_equal(store[1], 0x200);
	assert_int_equal(store[3], 0x202);
	assert_int_equal(walk(store, 2, 0), 2);
	assert_int_equal(walk(store, 8, 2), 2);
	assert_int_equal(store[0], 0x201);
	sleeper.on_cpu = 1;
	assert_int_equal(walk(store, 8, 0), 0);
	sleeper.on_cpu = 0;
}

static void test_returns_that_were_replaced(void **state)
{
	unsigned long store[8];

	records((unsigned[]){10, 14, 20, 0});
	stack[11] = stack[21] = RETURN_TO_HANDLER_ADDR;
	assert_int_equal(walk(store, 8, 0), 4);
	assert_int_equal(asked, 2);
	assert_int_equal(store[1], 0x1000 + 11);
	assert_int_equal(store[2], 0x201);
	assert_int_equal(store[3], 0x1000 + 21);
}

/* Whatever the memory holds, a walk goes upwards, within the stack. */
static void test_where_a_walk_ends(void **state)
{
	const unsigned last = THREAD_SIZE / sizeof(long) - 1;
	unsigned long store[8];

	records((unsigned[]){20, 10, 30, 0});
	assert_int_equal(walk(store, 8, 0), 2);
	records((unsigned[]){20, 21, 30, 0});
	assert_int_equal(walk(store, 8, 0), 2);
	records((unsigned[]){20, 30, 0});
	stack[20] += 4;
	assert_int_equal(walk(store, 8, 0), 2);
	records((unsigned[]){20, 30, 0});
	stack[30] = (unsigned long)&stack[last];
	assert_int_equal(walk(store, 8, 0), 3);
	records((unsigned[]){20, 30, 0});
	stack[30] = (unsigned long)stack + THREAD_SIZE;
	assert_int_equal(walk(store, 8, 0), 3);
	records((unsigned[]){20, 0});
	task_fp = 16;
	assert_int_equal(walk(store, 8, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_callers_of_a_task_that_sleeps),
		cmocka_unit_test(test_returns_that_were_replaced),
		cmocka_unit_test(test_where_a_walk_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
