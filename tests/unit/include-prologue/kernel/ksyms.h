/* Stand-in: the test's function is the one symbol there is. */
#pragma once

struct ksym {
	unsigned long address;
};

long symbol_index(unsigned long address);
bool kallsyms_symbol(long i, struct ksym *sym);

#define KSYM_NAME_LEN 128
const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name);
