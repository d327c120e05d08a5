/*
 * Addresses as text, in the forms that the options sym-offset and sym-addr ask for:
 *
 *     neither               schedule
 *     sym-offset            schedule+0x10/0x40
 *     sym-addr              schedule <ffff800080012340>
 *
 * The table of symbols never changes after boot, so no lock is needed. Context: any that may write to a seq_file.
 */
#include <kernel/ksyms.h>

#include "core/tracer.h"
#include "records.h"

/*
 * Print `ip` with the name of the function that holds `lookup`; for a return address the two differ by one. An address
 * outside of all functions is shown as a number, and 0 as 0. In the usual case only the name is printed, from where it
 * lies: only the option sym-offset, and addresses of modules, need kallsyms_lookup().
 */
static __always_inline void print_sym(struct seq_file *s, u64 options, unsigned long ip, unsigned long lookup)
{
	char name[KSYM_NAME_LEN];
	unsigned long size, offset;
	struct ksym sym;
	long nr;

	if (!ip) {
		seq_puts(s, "0");
		return;
	}
	nr = symbol_index(lookup);
	if (nr >= 0 && kallsyms_symbol(nr, &sym)) {
		seq_puts(s, sym.name);
	} else if (kallsyms_lookup(lookup, NULL, NULL, name)) {
		seq_puts(s, name); /* of a module: copied, since it may go */
	} else {
		seq_printf(s, "0x%lx", ip);
		return;
	}
	if (options & TRACE_ITER(SYM_OFFSET) && kallsyms_lookup(lookup, &size, &offset, name))
		seq_printf(s, "+0x%lx/0x%lx", offset + (ip - lookup), size);
	if (options & TRACE_ITER(SYM_ADDR))
		seq_printf(s, " <%016lx>", ip);
}

void seq_print_ip_sym(struct seq_file *s, struct trace_array *tr, unsigned long ip)
{
	print_sym(s, tr->trace_flags, ip, ip);
}

void seq_print_ip_sym_offset(struct seq_file *s, struct trace_array *tr, unsigned long ip, bool offset)
{
	u64 others = tr->trace_flags & ~TRACE_ITER(SYM_OFFSET);

	print_sym(s, offset ? others | TRACE_ITER(SYM_OFFSET) : others, ip, ip);
}

/*
 * The call stands before its return address. When the called function never returns, the call may be the last
 * instruction of its own function, and the return address already belongs to the next one; the byte before does
 * not.
 */
void seq_print_caller_sym(struct seq_file *s, struct trace_array *tr, unsigned long ip)
{
	print_sym(s, tr->trace_flags, ip, ip - 1);
}
