/*
 * Names of modules: which symbols of a file become names, and how long names stay after their code has gone. A module
 * has two functions; its code lies where the test says, so that new code may take the place of old.
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/sort.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/module/symbols.c"

/* ---- The kernel around it */

struct mutex module_mutex;
static struct ksym_table *in_use[200]; /* what look-ups would see */
static unsigned nr_in_use;
static long blocks, allocations_left = -1;
static unsigned waits; /* for readers */

void ksym_table_add(struct ksym_table *table)
{
	in_use[nr_in_use++] = table;
}

void ksym_table_remove(struct ksym_table *table)
{
	unsigned i = 0;

	while (i < nr_in_use && in_use[i] != table)
		i++;
	assert_true(i < nr_in_use);
	in_use[i] = in_use[--nr_in_use];
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	assert_true(size > strlen(src));
	strcpy(dst, src);
	return strlen(src);
}

void synchronize_rcu(void)
{
	waits++;
}

void *kvzalloc(size_t n, gfp_t gfp)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	blocks++;
	return calloc(1, n);
}

void kvfree(const void *p)
{
	blocks -= p != NULL;
	free((void *)p);
}

bool kallsyms_show_value(void)
{
	return true;
}

/* ---- Modules */

static const char strings[] = "\0f\0g\0i\0$x\0.L1\0section";

/*
 * A module whose core and init have three parts of 256 bytes each, one behind the other. `init` 0: it has no init. "f"
 * lies at the start of the core, "g" 16 bytes behind; "i" at the start of init. The other symbols of the file are no
 * names, or lie elsewhere. NULL: no memory.
 */
static struct module *a_module(const char *name, unsigned long core, unsigned long init)
{
	static struct module mod;
	static struct elf64_shdr sections[3] = {{}, {.sh_flags = SHF_EXECINSTR}, {.sh_flags = SHF_EXECINSTR}};
	struct elf64_sym symbols[] = {
		{},
		{.st_name = 3, .st_info = 0x12, .st_shndx = 1, .st_value = core + 16},
		{.st_name = 1, .st_info = 0x02, .st_shndx = 1, .st_value = core},
		{.st_name = 5, .st_info = 0x02, .st_shndx = 2, .st_value = init},
		{.st_name = 7, .st_info = 0x00, .st_shndx = 1, .st_value = core},
		{.st_name = 10, .st_info = 0x00, .st_shndx = 1, .st_value = core},
		{.st_name = 14, .st_info = 0x03, .st_shndx = 1, .st_value = core},
		{.st_name = 1, .st_info = 0x12, .st_shndx = 0, .st_value = core},
		{.st_name = 1, .st_info = 0x12, .st_shndx = 1, .st_value = core + 4096},
	};
	const struct load_info info = {
		.sections = sections, .symbols = symbols, .nr_symbols = ARRAY_SIZE(symbols), .strings = strings};

	mod = (struct module){};
	strcpy(mod.name, name);
	for (unsigned part = 0; part < 3; part++) {
		mod.memory[MODULE_TEXT + part] = (struct module_memory){core + 256 * part, 256};
		mod.memory[MODULE_INIT_TEXT + part] = (struct module_memory){init + 256 * part, init ? 256 : 0};
	}
	return module_add_symbols(&mod, &info) ? NULL : &mod;
}

/* Exactly these modules' cores are found among what has gone, the oldest first: NUMBER at NUMBER * 4096. */
static void expect_gone(unsigned first, unsigned n)
{
	for (unsigned i = 0; i < MAX_GONE; i++) {
		if (i >= n) {
			assert_null(gone[i]);
			continue;
		}
		assert_non_null(gone[i]);
		assert_int_equal(gone[i]->start, (first + i) * 4096);
		assert_true(gone[i]->gone);
	}
}

static void forget_all(void)
{
	forget_gone_at(0, ~0UL);
	assert_int_equal(nr_in_use, 0);
	assert_int_equal(blocks, 0);
}

/* Functions in the order of their addresses, with the letter of nm; no section, mark or address of another place. */
static void test_names(void **state)
{
	struct module *mod = a_module("demo", 0x10000, 0x20000);
	const struct ksym_table *t = mod->symbols;

	assert_int_equal(nr_in_use, 2);
	assert_int_equal(t->nr, 2);
	assert_string_equal(t->module, "demo");
	assert_int_equal(t->start, 0x10000);
	assert_int_equal(t->end, 0x10000 + 3 * 256);
	assert_int_equal(t->entries[0].address, 0x10000);
	assert_string_equal(t->names + t->entries[0].name, "f");
	assert_int_equal(t->entries[0].type, 't');
	assert_int_equal(t->entries[1].address, 0x10010);
	assert_string_equal(t->names + t->entries[1].name, "g");
	assert_int_equal(t->entries[1].type, 'T');
	assert_int_equal(mod->init_symbols->nr, 1);
	assert_string_equal(mod->init_symbols->names + mod->init_symbols->entries[0].name, "i");
	module_retire_init_symbols(mod);
	assert_null(mod->init_symbols);
	assert_true(gone[0]->gone && !t->gone && nr_in_use == 2);
	module_retire_symbols(mod);
	assert_ptr_equal(gone[1], t);
	host_text_used = 0;
	gone_show(NULL, NULL);
	assert_string_equal(host_text, "0000000000020000 t i\t[demo]\n"
				       "0000000000010000 t f\t[demo]\n"
				       "0000000000010010 T g\t[demo]\n");
	forget_all();
}

/* Names of the last 32 that have gone stay. Whoever looks one up that is forgotten is waited for. */
static void test_the_oldest_are_forgotten(void **state)
{
	waits = 0;
	for (unsigned i = 1; i <= 100; i++) {
		module_retire_symbols(a_module("demo", i * 4096, 0));
		expect_gone(i > MAX_GONE ? i - MAX_GONE + 1 : 1, min(i, (unsigned)MAX_GONE));
		assert_int_equal(nr_in_use, min(i, (unsigned)MAX_GONE));
	}
	assert_int_equal(waits, 100 - MAX_GONE);
	forget_all();
}

/* New code takes the place of old names, whichever they are, and of those alone that it reaches. */
static void test_new_code_takes_their_place(void **state)
{
	for (unsigned at = 1; at <= MAX_GONE; at++) {
		struct module *mod;

		for (unsigned i = 1; i <= MAX_GONE; i++)
			module_retire_symbols(a_module("demo", i * 4096, 0));
		mod = a_module("next", at * 4096, 0);
		assert_int_equal(nr_in_use, MAX_GONE);
		assert_null(gone[MAX_GONE - 1]);
		for (unsigned i = 0; i < MAX_GONE - 1; i++)
			assert_int_equal(gone[i]->start, (i + 1 < at ? i + 1 : i + 2) * 4096);
		module_retire_symbols(mod);
		forget_all();
	}
	module_retire_symbols(a_module("demo", 4096, 0));
	forget_gone_at(4096 + 3 * 256, 8192);
	forget_gone_at(0, 4096);
	expect_gone(1, 1);
	forget_gone_at(4096 + 3 * 256 - 1, 8192);
	expect_gone(1, 0);
	module_retire_symbols(a_module("demo", 4096, 0));
	forget_gone_at(0, 4097);
	expect_gone(1, 0);
	forget_all();
}

/* Without memory for either table there is neither. */
static void test_no_memory(void **state)
{
	for (long n = 0; n < 2; n++) {
		allocations_left = n;
		assert_null(a_module("demo", 4096, 8192));
		assert_int_equal(blocks, 0);
		assert_int_equal(nr_in_use, 0);
	}
	allocations_left = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_the_oldest_are_forgotten),
		cmocka_unit_test(test_new_code_takes_their_place),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
