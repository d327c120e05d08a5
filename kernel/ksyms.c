/*
 * Looking symbols up, by address and by name, in the table that tools/ksyms.py made of this kernel;
 * include/kernel/ksyms.h says how the table is laid out. Modules bring tables of their own (ksym_modules). A
 * backtrace needs these functions when the kernel is broken, so they take no lock, allocate nothing, and may run in
 * any context, nmi included.
 */

#include <kernel/export.h>
#include <kernel/ksyms.h>
#include <lib/hash.h>

/*
 * Bounds set by linker.ld. The kernel is linked twice: the first time the table is empty, so every loop here must
 * work without symbols. No helper of another file is called, so that a backtrace comes out whatever else is broken.
 */
extern const char _text[], _end[];
extern const u32 __start_ksyms_offset[], __stop_ksyms_offset[];
extern const u32 __start_ksyms_entry[];
extern const u16 __start_ksyms_by_name[];
extern const char __start_ksyms_names[];

#define ENTRY_NAME_MASK	 0xffffffu
#define ENTRY_TYPE_SHIFT 24

static unsigned long symbol_address(size_t i)
{
	return (unsigned long)_text + __start_ksyms_offset[i];
}

static const char *symbol_name(size_t i)
{
	return __start_ksyms_names + (__start_ksyms_entry[i] & ENTRY_NAME_MASK);
}

/* strcmp() of unsigned bytes, because that is the order in which the tool has sorted the names. */
static int name_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

size_t kallsyms_count(void)
{
	return (size_t)(__stop_ksyms_offset - __start_ksyms_offset);
}

bool kallsyms_symbol(size_t i, struct ksym *sym)
{
	if (i >= kallsyms_count())
		return false;
	sym->address = symbol_address(i);
	sym->name = symbol_name(i);
	sym->type = (char)(__start_ksyms_entry[i] >> ENTRY_TYPE_SHIFT);
	return true;
}

/* Binary search: the number of the first symbol whose offset is not below `offset`; the count when there is none. */
static size_t first_not_below(unsigned long offset)
{
	size_t low = 0, high = kallsyms_count();

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (__start_ksyms_offset[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Answers that were given before, since a trace asks for the same few addresses again and again. An entry has the
 * offset in bits 0 to 31 and the symbol's number plus 1 above them (0: empty). It is one word, read and written as a
 * whole, so there is no lock, and a function that interrupts another one in the middle does no harm.
 */
#define RECENT_SHIFT 10
static u64 recent[1 << RECENT_SHIFT];

/*
 * The addresses of functions share their low bits (they are aligned), so those alone would use few slots. Multiplying
 * by 2^32 divided by the golden ratio spreads all bits into the highest ones (Knuth, volume 3, 6.4).
 */
static u64 *recent_slot(u32 offset)
{
	return &recent[hash_32(offset, RECENT_SHIFT)];
}

/*
 * The number of the symbol that covers `offset`, -1 when it lies below the first. Of several symbols at one address
 * the first is the answer, which is the one that the tool prefers.
 */
static long search_symbol(unsigned long offset)
{
	size_t after = first_not_below(offset + 1);

	if (after == 0)
		return -1;
	/* The one before may be the last of several at its address; the first of them is preferred. */
	return (long)first_not_below(__start_ksyms_offset[after - 1]);
}

/* The number of the symbol that covers the address; -1 outside of the kernel image. */
long symbol_index(unsigned long address)
{
	unsigned long offset = address - (unsigned long)_text;
	u64 *slot = recent_slot(offset), known = READ_ONCE(*slot);
	long nr;

	if (offset >= (unsigned long)(_end - _text))
		return -1;
	if (known >> 32 && (u32)known == offset)
		return (long)(known >> 32) - 1;
	nr = search_symbol(offset);
	WRITE_ONCE(*slot, (u64)(nr + 1) << 32 | offset);
	return nr;
}

/* The table has no sizes: a symbol reaches to the next one that lies higher, the last one to the end of the image. */
static unsigned long symbol_size(size_t i)
{
	size_t next = first_not_below((unsigned long)__start_ksyms_offset[i] + 1);

	if (next == kallsyms_count())
		return (unsigned long)_end - symbol_address(i);
	return __start_ksyms_offset[next] - __start_ksyms_offset[i];
}

/* ---- Lookups */

const struct ksym_source *ksym_modules;

/* Copy up to size - 1 bytes and a zero. */
static void copy_name(char *to, const char *from, size_t size)
{
	while (--size && *from)
		*to++ = *from++;
	*to = '\0';
}

/* The kernel's own table first, then those of modules. `size`, `offset` and `module` may be NULL. */
const char *kallsyms_lookup_module(unsigned long address, unsigned long *size, unsigned long *offset, char *module,
				   char *name)
{
	long index = symbol_index(address);

	if (index < 0)
		return ksym_modules && ksym_modules->find(address, size, offset, module, name) ? name : NULL;
	if (size)
		*size = symbol_size((size_t)index);
	if (offset)
		*offset = address - symbol_address((size_t)index);
	copy_name(name, symbol_name((size_t)index), KSYM_NAME_LEN);
	if (module)
		*module = '\0';
	return name;
}

bool kallsyms_module_symbol(size_t i, struct module_ksym *sym)
{
	return ksym_modules && ksym_modules->number(i, sym);
}

const char *module_symbol_name(unsigned long address, const char **module)
{
	return ksym_modules ? ksym_modules->name(address, module) : NULL;
}

const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name)
{
	return kallsyms_lookup_module(address, size, offset, NULL, name);
}

/* Binary search in the order of names. Of several symbols of one name the first is the answer; 0: there is none. */
unsigned long kallsyms_lookup_name(const char *name)
{
	size_t low = 0, high = kallsyms_count();

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (name_compare(symbol_name(__start_ksyms_by_name[middle]), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == kallsyms_count() || name_compare(symbol_name(__start_ksyms_by_name[low]), name))
		return ksym_modules ? ksym_modules->find_name(name) : 0;
	return symbol_address(__start_ksyms_by_name[low]);
}
EXPORT_SYMBOL(kallsyms_lookup_name);

/* Writes "0x" and the value in lower-case hexadecimal without leading zeros; returns behind the last digit. */
static char *put_hex(char *to, unsigned long value)
{
	int shift = (int)sizeof(value) * 8 - 4;

	while (shift && !(value >> shift))
		shift -= 4;
	*to++ = '0';
	*to++ = 'x';
	for (; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[(value >> shift) & 15];
	return to;
}

/* Copy a text without its zero; returns behind it. */
static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

/* "name+0xoffset/0xsize [module]", or the address as a number when no symbol covers it. */
int sprint_symbol(char *text, unsigned long address)
{
	char module[KSYM_MODULE_LEN], *to = text;
	unsigned long size, offset;

	if (!kallsyms_lookup_module(address, &size, &offset, module, text)) {
		to = put_hex(to, address);
	} else {
		while (*to)
			to++;
		*to++ = '+';
		to = put_hex(to, offset);
		*to++ = '/';
		to = put_hex(to, size);
		if (*module) {
			to = put_text(to, " [");
			to = put_text(to, module);
			*to++ = ']';
		}
	}
	*to = '\0';
	return (int)(to - text);
}
EXPORT_SYMBOL(sprint_symbol);
