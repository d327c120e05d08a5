/*
 * Relocations of modules: those that gcc makes for the kernel's code model, where all code and data lie in the upper
 * 2 GiB (System V ABI for AMD64, table 4.9).
 */
#include <arch/module.h>
#include <lib/errno.h>
#include <lib/string.h>

enum {
	R_X86_64_NONE = 0,
	R_X86_64_64 = 1,
	R_X86_64_PC32 = 2,
	R_X86_64_PLT32 = 4, /* a call: there is no procedure linkage table, so it is PC32 */
	R_X86_64_32 = 10,
	R_X86_64_32S = 11,
	R_X86_64_PC64 = 24,
};

unsigned arch_relocation_size(unsigned type)
{
	switch (type) {
	case R_X86_64_NONE:
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
	case R_X86_64_32:
	case R_X86_64_32S:
		return sizeof(u32);
	case R_X86_64_64:
	case R_X86_64_PC64:
		return sizeof(u64);
	}
	return 0;
}

/* Fields lie at any address. */
int arch_relocate(void *loc, unsigned long place, unsigned type, u64 value)
{
	if (type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_PC64)
		value -= place;
	switch (type) {
	case R_X86_64_32:
		if (value != (u32)value)
			return -ERANGE;
		break;
	case R_X86_64_32S:
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		if ((s64)value != (s32)value)
			return -ERANGE;
		break;
	case R_X86_64_NONE:
		return 0;
	}
	memcpy(loc, &value, arch_relocation_size(type));
	return 0;
}
