/*
 * Relocations of modules (arch/<machine>/module). No machine state is touched, so the host's tests run these, too.
 * <asm/module.h> says what gcc calls at the entry of a function (ARCH_MCOUNT), the type of that call's relocation,
 * its size and alignment, and how far the site lies before the relocation.
 */
#pragma once

#include <asm/module.h>
#include <lib/types.h>

/* How many bytes a relocation of this type writes; 0: the type is not known here. */
unsigned arch_relocation_size(unsigned type);
/*
 * Write the relocation: `loc` can be written, `place` is the address at which the code will find it (the same, but for
 * tests), `value` is symbol plus addend. 0; -ERANGE: it does not reach. Unknown types do nothing.
 */
int arch_relocate(void *loc, unsigned long place, unsigned type, u64 value);
