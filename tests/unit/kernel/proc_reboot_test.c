/*
 * reboot(2): the order in which a machine is shut down, and which calls do what. The machine's own part jumps back to
 * the test, as it does not return.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>

void arch_halt(void) __noreturn;
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/proc/reboot.c"

static jmp_buf ended;
static enum { NOTHING, POWER_OFF, RESTART, HALT } what;
static bool flushed, stopped, lock_broken;

/* The message goes out with interrupts on and the other CPUs at work. */
void console_flush(void)
{
	assert_true(host_logged("reboot: "));
	assert_true(!host_irqs_off && !stopped);
	flushed = true;
}

/* No interrupt may come any more, or this CPU would go on with other tasks. */
void smp_send_stop(void)
{
	assert_true(flushed && host_irqs_off);
	stopped = true;
}

void console_break_lock(void)
{
	assert_true(stopped);
	lock_broken = true;
}

static void __noreturn end(int how)
{
	assert_true(host_irqs_off && stopped && lock_broken);
	what = how;
	longjmp(ended, 1);
}
void arch_power_off(int status)
{
	assert_int_equal(status, 0);
	end(POWER_OFF);
}
void arch_restart(void)
{
	end(RESTART);
}
void arch_halt(void)
{
	end(HALT);
}

static const unsigned magic = 0xfee1dead, births[] = {0x28121969, 0x05121996, 0x16041998, 0x20112000};

/* The call's result, and what it did to the machine. */
static long call(unsigned magic1, unsigned magic2, unsigned cmd)
{
	host_log_clear();
	host_irqs_off = flushed = stopped = lock_broken = false;
	what = NOTHING;
	if (setjmp(ended))
		return 0;
	return sys_reboot((int)magic1, (int)magic2, cmd, 0);
}

/* Each command by each of the second numbers. What has no key to react to does nothing. */
static void test_commands(void **state)
{
	static const struct {
		unsigned cmd;
		int what;
		const char *message;
	} commands[] = {
		{0x01234567, RESTART, "reboot: Restarting system"},
		{0xa1b2c3d4, RESTART, "reboot: Restarting system"},
		{0xcdef0123, HALT, "reboot: System halted"},
		{0x4321fedc, POWER_OFF, "reboot: Power down"},
		{0x89abcdef, NOTHING, ""},
		{0, NOTHING, ""},
	};

	current->caps.effective = CAP_BIT(CAP_SYS_BOOT);
	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++)
		for (unsigned n = 0; n < ARRAY_SIZE(births); n++) {
			assert_int_equal(call(magic, births[n], commands[i].cmd), 0);
			assert_int_equal(what, commands[i].what);
			assert_true(host_logged(commands[i].message));
		}
}

/* Both numbers must be right, the command known, and the caller root: nothing happens otherwise. */
static void test_refusals(void **state)
{
	static const unsigned unknown[] = {1, 0x01234566, 0xcdef0124, 0x45584543, 0xd000fce2, ~0U};

	current->caps.effective = CAP_BIT(CAP_SYS_BOOT);
	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++)
		assert_int_equal(call(magic, births[0], unknown[i]), -EINVAL);
	assert_int_equal(call(magic + 1, births[0], 0x4321fedc), -EINVAL);
	assert_int_equal(call(births[0], magic, 0x4321fedc), -EINVAL);
	for (unsigned i = 0; i < ARRAY_SIZE(births); i++) {
		assert_int_equal(call(magic, births[i] + 1, 0x4321fedc), -EINVAL);
		assert_int_equal(call(0, births[i], 0x4321fedc), -EINVAL);
	}
	current->caps.effective = ~CAP_BIT(CAP_SYS_BOOT);
	assert_int_equal(call(magic, births[0], 0x4321fedc), -EPERM);
	assert_int_equal(call(0, 0, 0), -EPERM);
	assert_int_equal(what, NOTHING);
	assert_false(flushed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
