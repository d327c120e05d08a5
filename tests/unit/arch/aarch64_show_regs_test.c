/*
 * The registers of an oops on aarch64: each under its own name, and the instructions around pc. Each register has a
 * value of its own, so one that is shown in another's place is seen.
 */
/* sources: */
/* include: tests/unit/include-regs -Itests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"

static u32 text[8]; /* what can be read */
long copy_from_kernel_nofault(void *to, const void *from, size_t n)
{
	if ((const u32 *)from < text || (const u32 *)from >= text + ARRAY_SIZE(text))
		return -14;
	memcpy(to, from, n);
	return 0;
}

#include "../../../arch/aarch64/task/show_regs.c"

static struct pt_regs some_regs(u64 pstate)
{
	struct pt_regs regs = {.sp = 0x5555000000000001, .pc = 0x4444000000000004, .pstate = pstate};

	for (unsigned i = 0; i < 31; i++)
		regs.regs[i] = 0x1111000000000000UL + i;
	host_log_clear();
	return regs;
}

/* What a console would show: without the marks of a message's level and of one that continues the last. */
static void show(struct pt_regs *regs)
{
	char *to = host_log;

	show_regs(regs);
	for (const char *from = host_log; *from; from++)
		if (*from == KERN_SOH[0])
			from++;
		else
			*to++ = *from;
	*to = '\0';
}

/* x0 to x29 by three in a line, and what else there is; a program's code is not shown. */
static void test_each_register(void **state)
{
	struct pt_regs regs = some_regs(0x80000000);
	char line[64];

	show(&regs);
	for (unsigned i = 0; i < 30; i++) {
		sprintf(line, "x%-2u: %016lx", i, 0x1111000000000000UL + i);
		if (!host_logged(line))
			fail_msg("there is no %s in:\n%s", line, host_log);
	}
	assert_true(host_logged("lr : 111100000000001e\n"));
	assert_true(host_logged("pc : 4444000000000004\n"));
	assert_true(host_logged("sp : 5555000000000001 pstate : 80000000\n"));
	assert_false(host_logged("Code:"));
}

/* Four before pc and the one at it, those that can be read. */
static void test_code(void **state)
{
	struct pt_regs regs = some_regs(5);

	for (unsigned i = 0; i < ARRAY_SIZE(text); i++)
		text[i] = 0xd5000000 + i;
	regs.pc = (unsigned long)(text + 4);
	show(&regs);
	assert_true(host_logged("Code: d5000000 d5000001 d5000002 d5000003 (d5000004)\n"));
	host_log_clear();
	regs.pc = (unsigned long)(text + 2);
	show(&regs);
	assert_true(host_logged("Code: -------- -------- d5000000 d5000001 (d5000002)\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_register),
		cmocka_unit_test(test_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
