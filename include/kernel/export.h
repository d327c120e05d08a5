/* What the kernel, or a module, lets modules use. */
#pragma once

#include <lib/types.h>

/*
 * EXPORT_SYMBOL(name): modules may use it. The linker sorts the table by name, so it is searched by halving. With _GPL
 * for modules only that say they are under a licence compatible with the GPL.
 */
struct kernel_symbol {
	unsigned long value;
	const char *name;
	bool gpl_only;
};
#define EXPORT_SYMBOL(sym)     __EXPORT_SYMBOL(sym, false)
#define EXPORT_SYMBOL_GPL(sym) __EXPORT_SYMBOL(sym, true)
#define __EXPORT_SYMBOL(sym, gpl)                                             \
	static const struct kernel_symbol __ksymtab_##sym __used __aligned(8) \
		__section("___ksymtab+" #sym) = {(unsigned long)&sym, #sym, gpl}
