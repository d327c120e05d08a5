/* Code that may fault on purpose: where to go on. */
#include <asm/ptrace.h>
#include <kernel/extable.h>

/* Both relative to the field itself, so that the table needs no relocation and half the space (EX_TABLE
 * writes it). */
struct extable_entry {
	s32 insn;
	s32 fixup;
};
extern const struct extable_entry __start___ex_table[], __stop___ex_table[];

static notrace unsigned long insn_address(const struct extable_entry *e)
{
	return (unsigned long)&e->insn + e->insn;
}

/*
 * The linker keeps the entries in the order of the code: all stand in assembly files, of which each has one
 * section and writes them ascending, and files are linked in one order throughout. So a binary search does;
 * extable_check() proves it.
 */
notrace unsigned long search_exception_tables(unsigned long pc)
{
	const struct extable_entry *low = __start___ex_table, *high = __stop___ex_table;

	while (low < high) {
		const struct extable_entry *mid = low + (high - low) / 2;

		if (insn_address(mid) == pc)
			return (unsigned long)&mid->fixup + mid->fixup;
		if (insn_address(mid) < pc)
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}

bool extable_check(void)
{
	for (const struct extable_entry *e = __start___ex_table; e + 1 < __stop___ex_table; e++)
		if (insn_address(e) >= insn_address(e + 1))
			return false;
	return true;
}

notrace bool fixup_exception(struct pt_regs *regs)
{
	unsigned long fixup = search_exception_tables(instruction_pointer(regs));

	if (!fixup)
		return false;
	instruction_pointer_set(regs, fixup);
	return true;
}
