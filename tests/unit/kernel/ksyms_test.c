/*
 * Lookups in the kernel's symbol table: every address and name of a small table, its gaps and its ends. The table is
 * written here as tools/ksyms.py writes it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/*
 * The file under test is included, so that its _end is not the host linker's. The image has 0x1000 bytes; in the
 * kernel linker.ld gives these two symbols.
 */
#define _end image_end
#include "../../../kernel/ksyms.c"
__asm__(".pushsection .data\n\t.globl _text, image_end\n\t.balign 4096\n"
	"_text: .skip 4096\nimage_end:\n\t.popsection");

/* The table as tools/ksyms.py would write it. Its first symbol does not lie at _text, to have a gap in front. */
const char __start_ksyms_names[] = "schedule\0__schedule\0do_idle\0alias_of_idle\0z";
#define NAME(type, at) ((uint32_t)(type) << 24 | (at))
/* In one array, so that the end has an address right behind it. */
__asm__(".pushsection .rodata\n\t.globl __start_ksyms_offset, __stop_ksyms_offset\n\t.balign 4\n"
	"__start_ksyms_offset: .long 0x10, 0x40, 0x40, 0x100, 0x800\n__stop_ksyms_offset:\n\t.popsection");
const uint32_t __start_ksyms_entry[] = {NAME('T', 0), NAME('T', 20), NAME('t', 28), NAME('t', 9), NAME('b', 42)};
/* __schedule alias_of_idle do_idle schedule z */
const uint16_t __start_ksyms_by_name[] = {3, 2, 1, 0, 4};

#define AT(offset) ((unsigned long)_text + (offset))

static void expect_lookup(unsigned long at, const char *name, unsigned long offset, unsigned long size)
{
	char buffer[KSYM_NAME_LEN];
	unsigned long got_size = 0, got_offset = 0;

	assert_ptr_equal(kallsyms_lookup(AT(at), &got_size, &got_offset, buffer), buffer);
	assert_string_equal(buffer, name);
	assert_int_equal(got_offset, offset);
	assert_int_equal(got_size, size);
}

static void addresses_find_their_symbol(void **state)
{
	expect_lookup(0x10, "schedule", 0, 0x30);
	expect_lookup(0x3f, "schedule", 0x2f, 0x30);
	/* Two at one address: the first of them, with the distance to the next that lies higher. */
	expect_lookup(0x40, "do_idle", 0, 0xc0);
	expect_lookup(0xff, "do_idle", 0xbf, 0xc0);
	expect_lookup(0x100, "__schedule", 0, 0x700);
	expect_lookup(0x800, "z", 0, 0x800);
	expect_lookup(0xfff, "z", 0x7ff, 0x800);
}

static void addresses_outside_find_nothing(void **state)
{
	const unsigned long outside[] = {AT(0), AT(0xf), AT(0x1000), AT(0) - 1, 0, ~0UL};
	char buffer[KSYM_NAME_LEN] = "untouched";
	size_t i;

	for (i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		assert_null(kallsyms_lookup(outside[i], NULL, NULL, buffer));
		assert_int_equal(symbol_index(outside[i]), -1);
	}
	assert_string_equal(buffer, "untouched");
}

/*
 * Each name leads to its address, through the table that is sorted by name. Names that are only near one of them (a
 * part, one letter more) must find nothing: kallsyms_lookup_name() of a wrong function would be called.
 */
static void names_find_their_address(void **state)
{
	struct ksym sym;
	size_t i;

	for (i = 0; i < kallsyms_count(); i++) {
		assert_true(kallsyms_symbol(i, &sym));
		assert_int_equal(kallsyms_lookup_name(sym.name), sym.address);
	}
	assert_int_equal(i, 5);
	assert_int_equal(sym.type, 'b');
	assert_false(kallsyms_symbol(i, &sym));
	assert_int_equal(kallsyms_lookup_name(""), 0);
	assert_int_equal(kallsyms_lookup_name("sched"), 0);
	assert_int_equal(kallsyms_lookup_name("schedule_"), 0);
	assert_int_equal(kallsyms_lookup_name("zz"), 0);
}

static void text_form(void **state)
{
	char text[KSYM_SYMBOL_LEN], want[64];

	assert_int_equal(sprint_symbol(text, AT(0x12)), (int)strlen("schedule+0x2/0x30"));
	assert_string_equal(text, "schedule+0x2/0x30");
	sprint_symbol(text, AT(0x40));
	assert_string_equal(text, "do_idle+0x0/0xc0");
	snprintf(want, sizeof(want), "0x%lx", AT(0x1000));
	sprint_symbol(text, AT(0x1000));
	assert_string_equal(text, want);
	assert_int_equal(sprint_symbol(text, 0), 3);
	assert_string_equal(text, "0x0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_find_their_symbol),
		cmocka_unit_test(addresses_outside_find_nothing),
		cmocka_unit_test(names_find_their_address),
		cmocka_unit_test(text_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
