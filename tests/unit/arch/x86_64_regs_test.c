/* Registers by the names that definitions of probe events use: each leads to its own place in struct pt_regs. */
/* sources: */
/* include: tests/unit/include-x86_64 -Iarch/x86_64/include -Itests/unit/include-mm */
#include <host_test.h>

#include "../../../arch/x86_64/task/regs.c"

/* Each register has a value of its own, which stands here beside its name. */
static void test_each_name(void **state)
{
	static const struct pt_regs regs = {
		.stackframe = {98, 99},
		.r15 = 15,
		.r14 = 14,
		.r13 = 13,
		.r12 = 12,
		.rbp = 105,
		.rbx = 103,
		.r11 = 11,
		.r10 = 10,
		.r9 = 9,
		.r8 = 8,
		.rax = 100,
		.rcx = 101,
		.rdx = 102,
		.rsi = 106,
		.rdi = 107,
		.vector = 97,
		.orig_rax = 108,
		.rip = 109,
		.cs = 110,
		.rflags = 111,
		.rsp = 104,
		.ss = 112,
	};
	static const struct {
		const char *name;
		u64 value;
	} names[] = {
		{"r8", 8},   {"r9", 9},	  {"r10", 10}, {"r11", 11}, {"r12", 12},      {"r13", 13}, {"r14", 14},
		{"r15", 15}, {"ax", 100}, {"cx", 101}, {"dx", 102}, {"bx", 103},      {"sp", 104}, {"bp", 105},
		{"si", 106}, {"di", 107}, {"ip", 109}, {"cs", 110}, {"orig_ax", 108}, {"ss", 112}, {"flags", 111},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		int offset = regs_query_register_offset(names[i].name);

		if (offset < 0 || *(const u64 *)((const char *)&regs + offset) != names[i].value)
			fail_msg("%s is at %d", names[i].name, offset);
	}
}

static void test_no_registers(void **state)
{
	static const char *const names[] = {"", "r7", "r16", "rax", "eax", "axx", "a", "vector", "AX"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(regs_query_register_offset(names[i]), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_name),
		cmocka_unit_test(test_no_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
