/*
 * Relocations of modules (ELF for the Arm 64-bit Architecture, section 5.7): data, address loads by page and offset,
 * MOVZ/MOVK groups, branches.
 *
 * A call reaches 128 MiB. The addresses of modules end where the image begins and start so near that the farthest
 * module reaches the image's last byte, so no call ever needs a veneer.
 */
#include <arch/module.h>
#include <asm/linker.h>
#include <asm/page.h>
#include <lib/errno.h>
#include <lib/types.h>

static_assert(MODULES_END - MODULES_VADDR + KIMAGE_MAX_SIZE <= 128UL << 20, "a module calls all of the kernel");

enum {
	R_NONE = 0,
	R_NONE_OLD = 256,
	R_ABS64 = 257,
	R_ABS32 = 258,
	R_ABS16 = 259,
	R_PREL64 = 260,
	R_PREL32 = 261,
	R_PREL16 = 262,
	R_MOVW_UABS_G0 = 263,
	R_MOVW_UABS_G0_NC,
	R_MOVW_UABS_G1,
	R_MOVW_UABS_G1_NC,
	R_MOVW_UABS_G2,
	R_MOVW_UABS_G2_NC,
	R_MOVW_UABS_G3,
	R_MOVW_SABS_G0,
	R_MOVW_SABS_G1,
	R_MOVW_SABS_G2,
	R_LD_PREL_LO19,
	R_ADR_PREL_LO21,
	R_ADR_PREL_PG_HI21,
	R_ADR_PREL_PG_HI21_NC,
	R_ADD_ABS_LO12_NC,
	R_LDST8_ABS_LO12_NC,
	R_TSTBR14,
	R_CONDBR19,
	R_JUMP26 = 282,
	R_CALL26,
	R_LDST16_ABS_LO12_NC,
	R_LDST32_ABS_LO12_NC,
	R_LDST64_ABS_LO12_NC,
	R_MOVW_PREL_G0,
	R_MOVW_PREL_G0_NC,
	R_MOVW_PREL_G1,
	R_MOVW_PREL_G1_NC,
	R_MOVW_PREL_G2,
	R_MOVW_PREL_G2_NC,
	R_MOVW_PREL_G3,
	R_LDST128_ABS_LO12_NC = 299,
};

/* Data has the size that is in the type's name; the other types change an instruction, which is 32 bits wide. */
unsigned arch_relocation_size(unsigned type)
{
	switch (type) {
	case R_ABS64:
	case R_PREL64:
		return sizeof(u64);
	case R_ABS16:
	case R_PREL16:
		return sizeof(u16);
	case R_NONE:
	case R_NONE_OLD:
	case R_ABS32:
	case R_PREL32:
	case R_MOVW_UABS_G0 ... R_CONDBR19:
	case R_JUMP26 ... R_MOVW_PREL_G3:
	case R_LDST128_ABS_LO12_NC:
		return sizeof(u32);
	}
	return 0;
}

/* Data of 16, 32 or 64 bits: as a signed or an unsigned number, both are good (section 5.7.4). */
static int write_data(void *loc, unsigned bits, u64 value)
{
	s64 number = value;

	if (bits < 64 && (number < -(1LL << (bits - 1)) || number >= 1LL << bits))
		return -ERANGE;
	__builtin_memcpy(loc, &value, bits / 8);
	return 0;
}

/* Put `width` bits of value from bit `from` on into the instruction at bit `at`. */
static void write_field(void *loc, u64 value, unsigned from, unsigned width, unsigned at)
{
	u32 mask = ((1U << width) - 1) << at;

	*(u32 *)loc = (*(u32 *)loc & ~mask) | (((u32)(value >> from) << at) & mask);
}

/* Is it a signed number of so many bits, and a multiple of 2^from? */
static bool fits(u64 value, unsigned bits, unsigned from)
{
	s64 number = value;

	return number >= -(1LL << (bits - 1)) && number < 1LL << (bits - 1) && !(value & (BIT(from) - 1));
}

/* A distance in words. */
static int write_branch(void *loc, u64 value, unsigned width, unsigned at)
{
	if (!fits(value, width + 2, 2))
		return -ERANGE;
	write_field(loc, value, 2, width, at);
	return 0;
}

/* ADR and ADRP: the low two bits of the number stand at 29, the others at 5. */
static int write_adr(void *loc, s64 number, bool check)
{
	if (check && !fits(number, 21, 0))
		return -ERANGE;
	write_field(loc, number, 0, 2, 29);
	write_field(loc, number, 2, 19, 5);
	return 0;
}

/*
 * Group `g` of a number in pieces of 16 bits. A signed number decides between MOVZ and MOVN (bit 30). check: nothing
 * may be above this piece.
 */
static int write_movw(void *loc, u64 value, unsigned g, bool is_signed, bool check)
{
	s64 number = value;

	if (is_signed) {
		*(u32 *)loc = (*(u32 *)loc & ~(1U << 30)) | (number < 0 ? 0 : 1U << 30);
		if (check && g < 3 && (number >> (16 * g + 16)) != (number < 0 ? -1 : 0))
			return -ERANGE;
		if (number < 0)
			value = ~value;
	} else if (check && g < 3 && value >> (16 * g + 16)) {
		return -ERANGE;
	}
	write_field(loc, value, 16 * g, 16, 5);
	return 0;
}

/* The offset in a page, in units of the access's size: the access must be aligned to it. */
static int write_lo12(void *loc, u64 value, unsigned shift)
{
	if (value & (BIT(shift) - 1))
		return -ERANGE;
	write_field(loc, value & 0xfff, shift, 12 - shift, 10);
	return 0;
}

/* The types between MOVW_UABS_G0 and MOVW_PREL_G3 of one kind alternate between checked and unchecked. */
static int relocate_movw(void *loc, unsigned type, u64 value)
{
	if (type <= R_MOVW_UABS_G3)
		return write_movw(loc, value, (type - R_MOVW_UABS_G0) / 2, false, !((type - R_MOVW_UABS_G0) & 1));
	if (type <= R_MOVW_SABS_G2)
		return write_movw(loc, value, type - R_MOVW_SABS_G0, true, true);
	type -= R_MOVW_PREL_G0;
	/* The unchecked types are for MOVK, which keeps its opcode and takes the bits as they are. */
	return write_movw(loc, value, type / 2, !(type & 1), !(type & 1));
}

/*
 * Each type is a form of the value (absolute, distance from `place`, distance in pages) and the field that it goes to.
 * Types of one form stand together in the numbering of the ELF specification, so that ranges serve for them.
 */
int arch_relocate(void *loc, unsigned long place, unsigned type, u64 value)
{
	u64 distance = value - place;

	if (type >= R_MOVW_UABS_G0 && place % sizeof(u32))
		return -ERANGE; /* an instruction cannot lie there */
	switch (type) {
	case R_ABS64:
		return write_data(loc, 64, value);
	case R_ABS32:
		return write_data(loc, 32, value);
	case R_ABS16:
		return write_data(loc, 16, value);
	case R_PREL64:
		return write_data(loc, 64, distance);
	case R_PREL32:
		return write_data(loc, 32, distance);
	case R_PREL16:
		return write_data(loc, 16, distance);
	case R_MOVW_UABS_G0 ... R_MOVW_SABS_G2:
		return relocate_movw(loc, type, value);
	case R_MOVW_PREL_G0 ... R_MOVW_PREL_G3:
		return relocate_movw(loc, type, distance);
	case R_LD_PREL_LO19:
	case R_CONDBR19:
		return write_branch(loc, distance, 19, 5);
	case R_TSTBR14:
		return write_branch(loc, distance, 14, 5);
	case R_JUMP26:
	case R_CALL26:
		return write_branch(loc, distance, 26, 0);
	case R_ADR_PREL_LO21:
		return write_adr(loc, distance, true);
	case R_ADR_PREL_PG_HI21:
	case R_ADR_PREL_PG_HI21_NC:
		return write_adr(loc, (s64)((value & ~0xfffUL) - (place & ~0xfffUL)) >> 12, type == R_ADR_PREL_PG_HI21);
	case R_ADD_ABS_LO12_NC:
	case R_LDST8_ABS_LO12_NC:
		return write_lo12(loc, value, 0);
	case R_LDST16_ABS_LO12_NC:
		return write_lo12(loc, value, 1);
	case R_LDST32_ABS_LO12_NC:
		return write_lo12(loc, value, 2);
	case R_LDST64_ABS_LO12_NC:
		return write_lo12(loc, value, 3);
	case R_LDST128_ABS_LO12_NC:
		return write_lo12(loc, value, 4);
	}
	return 0;
}
