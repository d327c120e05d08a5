/* Code that may fault on purpose: where to go on. The table is written by EX_TABLE (asm/assembler.h). */
#pragma once

#include <lib/types.h>

struct pt_regs;

/* Where an instruction that faulted goes on; 0 when it has no fix-up. Any context. */
unsigned long search_exception_tables(unsigned long pc);
/* Is an instruction with a fix-up, or a fix-up, in [start, end)? Any context. */
bool extable_touches(unsigned long start, unsigned long end);
/* Go on at the fix-up of the interrupted instruction; false when it has none. Any context. */
bool fixup_exception(struct pt_regs *regs);
/* Boot: is the table ascending, as the search relies on? */
bool extable_check(void);
