/*
 * The idle loop: what a CPU that waits is still there for when its tick has ended. The loop is the kernel's own; a wait
 * for an interrupt comes to the test, which lets the next one happen. And what the ended tick would have seen.
 */
/* sources of: tests/unit/include-sched/host_sched.h */
/* include: tests/unit/include-sched */
#include <host_sched.h>

static jmp_buf left;
static unsigned waits, prints_at; /* a device's interrupt prints in this wait; 0: in no wait */
static u64 printed;

/* Interrupts are off; the machine takes one, and then the loop goes on. Without one the test is over. */
static void one_interrupt(void)
{
	u64 next = host_event[0];
	bool prints = ++waits == prints_at;

	if (!prints && next == NEVER)
		longjmp(left, 1);
	irq_enter();
	if (prints) {
		printk_wake_pending = true;
		printed = host_clock;
	} else {
		host_clock = next;
		host_event[0] = NEVER;
		hrtimer_interrupt();
	}
	irq_exit();
	if (host_readers_woken == 1 && prints_at) {
		assert_in_range(host_clock - printed, 1, 4 * MS);
		prints_at = 0;
	}
}

/* CPU 0 idles until it would wait for ever. Its tick has ended by the second wait. */
static void idle_for_ever(unsigned print_at)
{
	struct task_struct *p;

	host_boot(1);
	p = host_fork("p");
	host_run(9 * MS);
	host_sleep(p);
	waits = 0;
	prints_at = print_at;
	host_on_idle = one_interrupt;
	host_do("CPU 0 has begun to idle");
	if (!setjmp(left))
		cpu_startup_entry();
	host_irqs_off = 0;
}

static void tick_ends(void **state)
{
	idle_for_ever(0);
	assert_int_equal(waits, 2); /* the tick that was due still, then none */
	assert_int_equal(host_readers_woken, 0);
}

/* A message from an interrupt: the log's readers are woken by a tick, and the tick ends again. */
static void message_of_an_interrupt(void **state)
{
	for (unsigned at = 1; at <= 2; at++) {
		idle_for_ever(at);
		if (host_readers_woken != 1)
			fail_msg("printed in wait %u: the readers of the log were woken %u times", at,
				 host_readers_woken);
		assert_int_equal(waits, at == 1 ? 3 : 4);
		assert_int_equal(host_event[0], NEVER);
	}
}

/* A task that sleeps uninterruptibly for a minute, with nothing else to do: 1 - 1/e of it in the first average. */
static void sleeper_is_load(void **state)
{
	struct task_struct *p;
	u64 load[3];

	host_boot(1);
	p = host_fork("p");
	host_run(5 * MS);
	host_do("p has slept uninterruptibly");
	host_on(0);
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
	host_frame();
	host_run(5 * MS);
	assert_int_equal(host_event[0], NEVER);
	host_run(60000 * MS);
	host_wake(p);
	host_run(5 * MS);
	get_avenrun(load);
	assert_in_range(load[0], 65536 * 631 / 1000, 65536 * 663 / 1000); /* 12 or 13 periods of 5 s */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tick_ends),
		cmocka_unit_test(message_of_an_interrupt),
		cmocka_unit_test(sleeper_is_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
