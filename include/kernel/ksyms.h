/*
 * The kernel's symbol table: addresses to names and back.
 *
 * The table is made at build time by tools/ksyms.py, lies sorted in rodata and never changes, so everything here may
 * be called in any context, from the first instruction of C on, without a lock, and is not instrumented (the
 * tracer calls it). Each lookup is a binary search, or one load when the address was asked for recently.
 *
 * Layout, N symbols: u32 offset[N] from _text, ascending; u32 entry[N], bits 0-23 where the name starts, bits 24-31
 * the type letter; u16 by_name[N], indices in the order of the names; the names, each ended by a zero byte.
 * Of several symbols at one address the preferred stands first (global function before alias before label).
 */
#pragma once

#include <lib/types.h>

/* Longest name with its ending zero. */
#define KSYM_NAME_LEN 128
/* Longest name of a module with its ending zero: Linux's MODULE_NAME_LEN. */
#define KSYM_MODULE_LEN 56
/* What sprint_symbol() writes at most: "name+0xoffset/0xsize [module]" with its ending zero. */
#define KSYM_SYMBOL_LEN (KSYM_NAME_LEN + 2 * sizeof("+0x0123456789abcdef") + KSYM_MODULE_LEN + 3)

struct ksym {
	unsigned long address;
	const char *name;
	char type; /* as nm prints it: t text, d data, b bss, r rodata, w weak; upper case for global */
};

/* A symbol of a module, copied: the module may go at any time. */
struct module_ksym {
	unsigned long address;
	char type;
	char name[KSYM_NAME_LEN], module[KSYM_MODULE_LEN];
};

/* May the current task see addresses of the kernel (kptr_restrict)? Thread context. */
bool kallsyms_show_value(void);

/* How many symbols there are. */
size_t kallsyms_count(void);

/*
 * Symbol number `i` in the order of addresses, for listing them all.
 * Returns false, and leaves *sym alone, when there is no such number.
 */
bool kallsyms_symbol(size_t i, struct ksym *sym);

/* Number `i` of the symbols of all modules that are there. False: there are fewer. Any context. */
bool kallsyms_module_symbol(size_t i, struct module_ksym *sym);

/* Number of the preferred symbol at or before `address`; -1 when the address is not in the kernel's image. */
long symbol_index(unsigned long address);

/* Finds the symbols of modules: kernel/module, from boot on. NULL before. Functions for any context. */
struct ksym_source {
	/* As kallsyms_lookup_module, for addresses outside of the image. */
	bool (*find)(unsigned long address, unsigned long *size, unsigned long *offset, char *module, char *name);
	unsigned long (*find_name)(const char *name); /* 0: there is none */
	bool (*number)(size_t i, struct module_ksym *sym);
	const char *(*name)(unsigned long address, const char **module); /* as module_symbol_name() */
};
extern const struct ksym_source *ksym_modules;

/*
 * The symbol that `address` lies in: its size in bytes (up to the next symbol) to *size, the distance of the address
 * from its start to *offset; either may be NULL. The name is copied to `name` (KSYM_NAME_LEN bytes).
 * Returns `name`, or NULL, with nothing written, when the address is neither in the kernel's image nor in a module.
 */
const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name);
/* The same, and the module's name, empty for the kernel itself, to `module` (KSYM_MODULE_LEN bytes). */
const char *kallsyms_lookup_module(unsigned long address, unsigned long *size, unsigned long *offset, char *module,
				   char *name);
/*
 * The name that stands at this address or before it, in a module, and the module's to *module unless that is NULL;
 * NULL: the address is in no module. Both are good while the module cannot go.
 */
const char *module_symbol_name(unsigned long address, const char **module);

/*
 * Address of the symbol of that name, in the image before modules, the lowest when static functions share it; 0 when
 * there is none. "module:name" asks for a module's.
 */
unsigned long kallsyms_lookup_name(const char *name);

/*
 * Writes "name+0x10/0x40", with " [module]" behind it for a module's, or "0xffff..." for an address that is in neither,
 * to `text` (KSYM_SYMBOL_LEN bytes). Returns the length without the ending zero.
 */
int sprint_symbol(char *text, unsigned long address);
