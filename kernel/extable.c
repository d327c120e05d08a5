/*
 * Code that may fault on purpose, such as copy_from_user(): each instruction that may fault has an entry that says
 * where to go on. The fault handler looks the faulting address up here; without an entry it is a bug in the kernel.
 * Any context, no locks: the table never changes.
 */
#include <asm/ptrace.h>
#include <kernel/extable.h>
#include <kernel/probe_hooks.h>

/*
 * Both fields hold a distance from the field itself (EX_TABLE writes them), so the table needs no relocation and half
 * the space of addresses.
 */
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
 * A binary search works because the linker keeps the entries in the order of the code: each assembly file writes its
 * entries in ascending order, and files are linked in the same order for all sections.
 * extable_check() verifies that at boot.
 */
notrace unsigned long search_exception_tables(unsigned long pc)
{
	const struct extable_entry *low = __start___ex_table, *high = __stop___ex_table;

	pc = probe_hooks.kernel_pc(pc);
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

bool extable_touches(unsigned long start, unsigned long end)
{
	for (const struct extable_entry *e = __start___ex_table; e < __stop___ex_table; e++)
		if (insn_address(e) - start < end - start || (unsigned long)&e->fixup + e->fixup - start < end - start)
			return true;
	return false;
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
