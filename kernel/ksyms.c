/* Looking symbols up in the table that tools/ksyms.py made; include/kernel/ksyms.h tells its layout. */

#include <kernel/export.h>
#include <kernel/ksyms.h>

/*
 * Bounds set by linker.ld. In the first of the two links the table is empty: every loop here must do for no symbols.
 * No helper of another file is called: a backtrace must come out whatever else is broken.
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

/* strcmp: bytes compare unsigned, as the tool sorted them. */
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

/* Index of the first symbol whose offset is not below `offset`; the count when there is none. */
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
 * Answers given before: a trace asks for the same few addresses again and again. Bits 0-31 the offset, the others the
 * symbol's number plus 1. An entry is one word, read and written as such: no lock, and any context may interrupt.
 */
#define RECENT_SHIFT 10
static u64 recent[1 << RECENT_SHIFT];

/* Functions begin at multiples of 16 on one machine, call sites anywhere: multiplied by 2^32 / phi, all bits tell. */
static u64 *recent_slot(u32 offset)
{
	return &recent[offset * 0x9e3779b1u >> (32 - RECENT_SHIFT)];
}

static long search_symbol(unsigned long offset)
{
	size_t after = first_not_below(offset + 1);

	if (after == 0)
		return -1;
	/* The one before may be the last of several at its address; the first of them is preferred. */
	return (long)first_not_below(__start_ksyms_offset[after - 1]);
}

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

/* Bytes from symbol `i` to the next that lies higher, or to the end of the image. */
static unsigned long symbol_size(size_t i)
{
	size_t next = first_not_below((unsigned long)__start_ksyms_offset[i] + 1);

	if (next == kallsyms_count())
		return (unsigned long)_end - symbol_address(i);
	return __start_ksyms_offset[next] - __start_ksyms_offset[i];
}

/* ---- Lookups */

const struct ksym_source *ksym_modules;

static void copy_name(char *to, const char *from, size_t size)
{
	while (--size && *from)
		*to++ = *from++;
	*to = '\0';
}

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

const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name)
{
	return kallsyms_lookup_module(address, size, offset, NULL, name);
}

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

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	return to;
}

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
