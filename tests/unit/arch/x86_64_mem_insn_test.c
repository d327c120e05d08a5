/*
 * Each instruction that arch/x86_64/debug/mem_insn.c knows is run by the host's CPU and by the emulation, from the same
 * registers, flags and memory: afterwards all of them must be the same. The instruction stands in a page that can be
 * written and executed, with a return behind it.
 */
/* sources: */
/* include: tests/unit/include-x86_64 -Iarch/x86_64/include -Itests/unit/include-mm */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "../../../arch/x86_64/debug/mem_insn.c"

#define FLAGS_AT_START (X86_EFLAGS_FIXED | (1UL << 9))
#define ROUNDS	       40

static u8 *code;	      /* a page that can be written and executed */
static u64 seed = 0x12345678; /* the same values on each run */

static u64 next_random(void)
{
	seed = seed * 6364136223846793005UL + 1442695040888963407UL;
	return seed >> 8 ^ seed << 40;
}

/* Often a value at which flags change. */
static u64 next_value(void)
{
	static const u64 edges[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, ~0UL, 1UL << 63};

	return next_random() % 3 ? edges[next_random() % ARRAY_SIZE(edges)] : next_random();
}

struct state {
	u64 rax, rcx, rdx, rbx, flags;
	u64 memory[2];
};

/* The CPU runs the code that is in `code`. rdi: its operand; r8: what the forms with REX.R have. */
static void run_native(struct state *s)
{
	u64 flags = s->flags;

	__asm__ volatile("sub	$128, %%rsp\n\t" /* below what the compiler may use without moving rsp */
			 "push	%[flags]\n\t"
			 "popfq\n\t"
			 "call	*%[code]\n\t"
			 "pushfq\n\t"
			 "pop	%[flags]\n\t"
			 "add	$128, %%rsp"
			 : "+a"(s->rax), "+c"(s->rcx), "+d"(s->rdx), "+b"(s->rbx), [flags] "+r"(flags)
			 : [code] "r"(code), "D"(s->memory)
			 : "memory", "cc");
	s->flags = flags;
}

/* The same by the decoder and the emulation, which must also know the instruction's length and its operand. */
static void run_emulated(struct state *s, unsigned length)
{
	struct pt_regs regs = {.rax = s->rax,
			       .rcx = s->rcx,
			       .rdx = s->rdx,
			       .rbx = s->rbx,
			       .rdi = (u64)s->memory,
			       .rip = (u64)code,
			       .rflags = s->flags | X86_EFLAGS_RF};
	struct mem_access done[MEM_INSN_ACCESSES];
	struct mem_insn insn;

	assert_int_equal(arch_mem_insn_decode(&insn, &regs, code), 0);
	assert_int_equal(insn.length, length);
	assert_ptr_equal((void *)insn.address, s->memory);
	arch_mem_insn_emulate(&insn, &regs, s->memory, done);
	assert_int_equal(regs.rip, (u64)code + length);
	*s = (struct state){regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rflags, {s->memory[0], s->memory[1]}};
}

/* AF is not defined after AND, OR, XOR and TEST. */
#define DEFINED_FLAGS(s, logical) ((s)->flags & (X86_EFLAGS_ARITH | X86_EFLAGS_RF) & ~((logical) ? FLAG_AF : 0))

/*
 * One instruction from 40 random states, with values at which flags change. Where the manual leaves a flag undefined
 * it is not compared.
 */
static void compare(const u8 *insn, unsigned length, bool logical)
{
	memcpy(code, insn, length);
	code[length] = 0xc3; /* ret */
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct state native = {next_value(),
				       next_value(),
				       next_value(),
				       next_value(),
				       FLAGS_AT_START | (next_random() & X86_EFLAGS_ARITH),
				       {next_value(), next_value()}};
		struct state emulated = native;

		run_native(&native);
		run_emulated(&emulated, length);
		assert_int_equal(DEFINED_FLAGS(&native, logical), DEFINED_FLAGS(&emulated, logical));
		native.flags = emulated.flags = 0;
		assert_memory_equal(&native, &emulated, sizeof(native));
	}
}

/* The prefixes of each size of operand: none, 16 bits, 64 bits, and a REX that only changes registers of a byte. */
static const struct {
	u8 bytes[2], length;
	unsigned imm; /* bytes of an immediate operand that is not of a byte */
} prefixes[] = {{{0}, 0, 4}, {{0x66}, 1, 2}, {{0x48}, 1, 4}, {{0x40}, 1, 4}, {{0x66, 0x40}, 2, 2}};

static bool is_logical(unsigned op)
{
	return op == MEM_INSN_OR || op == MEM_INSN_AND || op == MEM_INSN_XOR || op == MEM_INSN_TEST;
}

/* Opcode and ModRM with [rdi], behind each prefix. The registers are rax to rbx, and ah to bh where there are such. */
static void compare_forms(const u8 *opcode, unsigned n, bool is_byte, bool logical)
{
	for (unsigned p = 0; p < ARRAY_SIZE(prefixes); p++) {
		bool rex = prefixes[p].bytes[0] == 0x48 || prefixes[p].bytes[0] == 0x40 || prefixes[p].length == 2;

		for (unsigned reg = 0; reg < (is_byte && !rex ? 8 : 4); reg++) {
			u8 insn[8];
			unsigned at = prefixes[p].length;

			memcpy(insn, prefixes[p].bytes, at);
			memcpy(insn + at, opcode, n);
			insn[at + n] = reg << 3 | 7;
			compare(insn, at + n + 1, logical);
		}
	}
}

static void test_register_forms(void **unused)
{
	static const u8 moves[] = {0x88, 0x89, 0x8a, 0x8b, 0x63};

	for (unsigned op = MEM_INSN_ADD; op <= MEM_INSN_CMP; op++)
		for (unsigned form = 0; form < 4; form++)
			compare_forms((u8[]){op << 3 | form}, 1, !(form & 1), is_logical(op));
	for (unsigned i = 0; i < ARRAY_SIZE(moves); i++)
		compare_forms(&moves[i], 1, moves[i] == 0x88 || moves[i] == 0x8a, false);
	compare_forms((u8[]){0x84}, 1, true, true);
	compare_forms((u8[]){0x85}, 1, false, true);
}

static void test_loads_that_extend(void **unused)
{
	for (unsigned i = 0; i < 4; i++)
		compare_forms((u8[]){0x0f, (u8[]){0xb6, 0xb7, 0xbe, 0xbf}[i]}, 2, false, false);
}

static void compare_immediate(unsigned p, u8 opcode, unsigned middle, unsigned imm, bool logical)
{
	static const u8 bytes[2][4] = {{0x11, 0x22, 0x33, 0x44}, {0xff, 0xee, 0xdd, 0x9c}};

	for (unsigned i = 0; i < 2; i++) {
		u8 insn[12];
		unsigned at = prefixes[p].length;

		memcpy(insn, prefixes[p].bytes, at);
		insn[at++] = opcode;
		insn[at++] = middle << 3 | 7;
		memcpy(insn + at, bytes[i], imm);
		compare(insn, at + imm, logical);
	}
}

static void test_immediate_forms(void **unused)
{
	for (unsigned p = 0; p < ARRAY_SIZE(prefixes); p++) {
		for (unsigned op = MEM_INSN_ADD; op <= MEM_INSN_CMP; op++) {
			compare_immediate(p, 0x80, op, 1, is_logical(op));
			compare_immediate(p, 0x81, op, prefixes[p].imm, is_logical(op));
			compare_immediate(p, 0x83, op, 1, is_logical(op));
		}
		compare_immediate(p, 0xc6, 0, 1, false);
		compare_immediate(p, 0xc7, 0, prefixes[p].imm, false);
		compare_immediate(p, 0xf6, 0, 1, true);
		compare_immediate(p, 0xf7, 0, prefixes[p].imm, true);
	}
}

/* What is told of an instruction: each access with its width and value. */
static void test_accesses(void **unused)
{
	struct pt_regs regs = {.rax = 0x1122334455667788, .rflags = FLAGS_AT_START};
	struct mem_access done[MEM_INSN_ACCESSES];
	u64 memory = 0xf0f0f0f0f0f0f0f0;
	struct mem_insn insn;

	regs.rdi = 0x5000;
	assert_int_equal(arch_mem_insn_decode(&insn, &regs, "\x66\x09\x47\x10"), 0); /* or %ax, 0x10(%rdi) */
	assert_int_equal(insn.address, 0x5010);
	assert_int_equal(arch_mem_insn_emulate(&insn, &regs, &memory, done), 2);
	assert_true(!done[0].write && done[0].value == 0xf0f0 && done[0].bytes == 2 && done[0].address == 0x5010);
	assert_true(done[1].write && done[1].value == (0xf0f0 | 0x7788) && done[1].bytes == 2);
	assert_int_equal(memory, 0xf0f0f0f0f0f0f7f8);

	assert_int_equal(arch_mem_insn_decode(&insn, &regs, "\x0f\xb6\x07"), 0); /* movzbl (%rdi), %eax */
	assert_int_equal(arch_mem_insn_emulate(&insn, &regs, &memory, done), 1);
	assert_true(!done[0].write && done[0].value == 0xf8 && done[0].bytes == 1);
	assert_int_equal(regs.rax, 0xf8);

	assert_int_equal(arch_mem_insn_decode(&insn, &regs, "\x83\x3f\x05"), 0); /* cmpl $5, (%rdi) */
	assert_int_equal(arch_mem_insn_emulate(&insn, &regs, &memory, done), 1);
	assert_true(!done[0].write && done[0].bytes == 4);
}

static int map_code(void **unused)
{
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register_forms),
		cmocka_unit_test(test_loads_that_extend),
		cmocka_unit_test(test_immediate_forms),
		cmocka_unit_test(test_accesses),
	};

	return cmocka_run_group_tests(tests, map_code, NULL);
}
