/*
 * The loader of modules reads files of strangers: a whole one is linked as it should be, and thousands of damaged ones
 * are refused or linked, without a byte read or written outside of the file and the module's memory (ASan looks on).
 */
/* sources: */
/* include: tests/unit/include-trace -Itests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>

#define ELF_MACHINE	 62
#define ELF_PLATFORM	 "x86_64"
#define PAGE_KERNEL_EXEC ((pgprot_t){HOST_PTE_EXEC})
#define PAGE_KERNEL_RO	 ((pgprot_t){})
#include "../../../arch/x86_64/module/module.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/kstrto.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/sort.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/module_list.c"
#include "../../../kernel/module/elf.c"
#include "../../../kernel/module/layout.c"
#include "../../../kernel/module/link.c"
#include "../../../kernel/module/percpu.c"

/* ---- The kernel around it */

static int outside(void)
{
	return 7;
}
static const struct kernel_symbol exported __used __section("__ksymtab") = {(unsigned long)outside, "outside", false};
static char said[256];

int module_refuse(const struct load_info *info, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	k_vsnprintf(said, sizeof(said), fmt, args);
	va_end(args);
	return err;
}

/* Exactly so large, so that what is written behind it is noticed; zeroed, as the kernel's. */
static unsigned allocations;
void *module_alloc(unsigned long size)
{
	void *p = aligned_alloc(PAGE_SIZE, size);

	allocations += p != NULL;
	return memset(p, 0, size);
}
void vfree(const void *p)
{
	allocations -= p != NULL;
	free((void *)p);
}
void *kmalloc(size_t size, gfp_t gfp)
{
	allocations++;
	return malloc(size ?: 1);
}
void kfree(const void *p)
{
	vfree(p);
}
void *__alloc_percpu(size_t size, size_t align)
{
	return kmalloc(size, 0);
}
void free_percpu(void *p)
{
	vfree(p);
}
void *kvmalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp);
}
void kvfree(const void *p)
{
	vfree(p);
}
void vmalloc_protect(const void *addr, unsigned long size, pgprot_t prot)
{
}
void arch_sync_icache(void *start, size_t len)
{
}
unsigned long fgraph_innermost_ret(void)
{
	return 0; /* function_graph has hooked nothing */
}
int module_wait_for_change(long *left)
{
	return -EBUSY; /* there is no module */
}

/* ---- A file: text with a call of the hook, one of the kernel and an address of data; and all that a module needs */

enum {
	NUL,
	TEXT,
	RELA_TEXT,
	DATA,
	PERCPU,
	RELA_PERCPU,
	BSS,
	THIS,
	RELA_THIS,
	INFO,
	SYMTAB,
	STRTAB,
	NAMES,
	NR_SECTIONS
};
enum { SYM_NONE, SYM_INIT, SYM_DATA, SYM_PERCPU, SYM_HOOK, SYM_OUTSIDE, NR_SYMBOLS };
static const char strings[] = "\0init_module\0number\0each\0__fentry__\0outside";
static const char names[] = "\0.text\0.rela.text\0.data\0.data..percpu\0.rela.percpu"
			    "\0.bss\0.gnu.linkonce.this_module\0.rela.this\0.modinfo\0.symtab\0.strtab"
			    "\0.shstrtab";

static struct {
	struct elf64_hdr header;
	u8 text[64];
	struct elf64_rela rela_text[4];
	u64 data[2];
	u64 percpu[2];
	struct elf64_rela rela_percpu[1];
	u8 this[ALIGN(sizeof(struct module), 8)];
	struct elf64_rela rela_this[1];
	char info[24];
	struct elf64_sym symbols[NR_SYMBOLS];
	char strings[ALIGN(sizeof(strings), 8)];
	char names[ALIGN(sizeof(names), 8)];
	struct elf64_shdr sections[NR_SECTIONS];
} whole;

static u32 offset_of(const char *table, size_t size, const char *name)
{
	for (u32 at = 0; at < size; at += strlen(table + at) + 1)
		if (!strcmp(table + at, name))
			return at;
	fail_msg("no %s", name);
	return 0;
}

static void section(unsigned n, const char *name, u32 type, u64 flags, const void *at, u64 size, u32 link, u32 info,
		    u64 entsize)
{
	whole.sections[n] = (struct elf64_shdr){.sh_name = offset_of(names, sizeof(names), name),
						.sh_type = type,
						.sh_flags = flags,
						.sh_offset = at ? (const u8 *)at - (const u8 *)&whole : 0,
						.sh_size = size,
						.sh_link = link,
						.sh_info = info,
						.sh_addralign = 8,
						.sh_entsize = entsize};
}

static void symbol(unsigned n, const char *name, u8 info, u16 shndx, u64 value)
{
	whole.symbols[n] = (struct elf64_sym){.st_name = offset_of(strings, sizeof(strings), name),
					      .st_info = info,
					      .st_shndx = shndx,
					      .st_value = value};
}

static struct elf64_rela rela(u64 offset, unsigned sym, unsigned type, s64 addend)
{
	return (struct elf64_rela){offset, (u64)sym << 32 | type, addend};
}

/*
 * The module's file, as the linker leaves it: text with a call of the hook, an address of the kernel, of data and of a
 * per-CPU variable; and the struct module with the address of its init.
 */
static int make_whole(void **state)
{
	whole.header = (struct elf64_hdr){.e_type = ET_REL,
					  .e_machine = ELF_MACHINE,
					  .e_shoff = offsetof(typeof(whole), sections),
					  .e_shentsize = sizeof(struct elf64_shdr),
					  .e_shnum = NR_SECTIONS,
					  .e_shstrndx = NAMES};
	memcpy(whole.header.e_ident, ELFMAG, SELFMAG);
	whole.header.e_ident[EI_CLASS] = ELFCLASS64;
	whole.header.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(whole.strings, strings, sizeof(strings));
	memcpy(whole.names, names, sizeof(names));
	memcpy(whole.info, "license=GPL\0name=whole", 23);
	memset(whole.text, 0x90, sizeof(whole.text));
	whole.data[1] = 99;
	whole.rela_text[0] = rela(1, SYM_HOOK, ARCH_MCOUNT_TYPE, -4);
	whole.rela_text[1] = rela(16, SYM_OUTSIDE, R_X86_64_64, 2);
	whole.rela_text[2] = rela(32, SYM_DATA, R_X86_64_PC32, -4);
	whole.rela_text[3] = rela(40, SYM_PERCPU, R_X86_64_64, 0);
	whole.percpu[1] = 5;
	whole.rela_percpu[0] = rela(0, SYM_DATA, R_X86_64_64, 0);
	whole.rela_this[0] = rela(offsetof(struct module, init), SYM_INIT, R_X86_64_64, 0);
	symbol(SYM_INIT, "init_module", STB_GLOBAL << 4 | STT_FUNC, TEXT, 0);
	symbol(SYM_DATA, "number", STB_GLOBAL << 4 | STT_OBJECT, DATA, 8);
	symbol(SYM_PERCPU, "each", STB_GLOBAL << 4 | STT_OBJECT, PERCPU, 8);
	symbol(SYM_HOOK, "__fentry__", STB_GLOBAL << 4, SHN_UNDEF, 0);
	symbol(SYM_OUTSIDE, "outside", STB_GLOBAL << 4, SHN_UNDEF, 0);
	section(TEXT, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, whole.text, sizeof(whole.text), 0, 0, 0);
	section(RELA_TEXT, ".rela.text", SHT_RELA, 0, whole.rela_text, sizeof(whole.rela_text), SYMTAB, TEXT,
		sizeof(struct elf64_rela));
	section(DATA, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, whole.data, sizeof(whole.data), 0, 0, 0);
	section(PERCPU, ".data..percpu", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, whole.percpu, sizeof(whole.percpu), 0, 0,
		0);
	section(RELA_PERCPU, ".rela.percpu", SHT_RELA, 0, whole.rela_percpu, sizeof(whole.rela_percpu), SYMTAB, PERCPU,
		sizeof(struct elf64_rela));
	section(BSS, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, NULL, 40, 0, 0, 0);
	section(THIS, THIS_MODULE_SECTION, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, whole.this, sizeof(struct module), 0, 0,
		0);
	section(RELA_THIS, ".rela.this", SHT_RELA, 0, whole.rela_this, sizeof(whole.rela_this), SYMTAB, THIS,
		sizeof(struct elf64_rela));
	section(INFO, ".modinfo", SHT_PROGBITS, SHF_ALLOC, whole.info, sizeof(whole.info), 0, 0, 0);
	section(SYMTAB, ".symtab", SHT_SYMTAB, 0, whole.symbols, sizeof(whole.symbols), STRTAB, 1,
		sizeof(struct elf64_sym));
	section(STRTAB, ".strtab", SHT_STRTAB, 0, whole.strings, sizeof(whole.strings), 0, 0, 0);
	section(NAMES, ".shstrtab", SHT_STRTAB, 0, whole.names, sizeof(whole.names), 0, 0, 0);
	return 0;
}

/* ---- Loading, as kernel/module/main.c does it up to the point where the module is told of */

/* `look` sees the linked module; NULL: nobody does. 0 or what the loader said. */
static int load(const void *file, size_t len, void (*look)(const struct module *mod, const struct load_info *info))
{
	struct load_info info = {.file = file, .len = len};
	struct module mod = {};
	int err = elf_module_check(&info);

	if (err)
		return err;
	/* What modinfo says may be asked for, whatever it holds. */
	for (const char *v = modinfo_get(&info, "parm"); v; v = modinfo_next(&info, "parm", v))
		assert_true(strlen(v) < info.modinfo_size);
	if (info.sections[info.this_module].sh_size != sizeof(struct module))
		return -ENOEXEC;
	INIT_LIST_HEAD(&mod.uses);
	INIT_LIST_HEAD(&mod.used_by);
	err = module_layout(&mod, &info);
	if (!err)
		err = module_resolve(&mod, &info);
	if (!err)
		err = module_relocate(&mod, &info);
	if (!err && look)
		look(&mod, &info);
	module_unuse(&mod);
	kvfree(mod.sites);
	module_free_memory(&mod);
	return err;
}

/*
 * The linked module: each relocation has the right value, the per-CPU variable begins as the file says, the hook's
 * call is in the list of sites, and what is not loaded has no address.
 */
static void see_whole(const struct module *mod, const struct load_info *info)
{
	const u8 *text = (const u8 *)mod->memory[MODULE_TEXT].base;
	const struct module *this = (void *)info->sections[THIS].sh_addr;
	unsigned n;
	u64 *data = module_section(mod, ".data", sizeof(u64), &n);
	unsigned long number;
	s32 distance;

	assert_int_equal(n, 2);
	assert_int_equal(data[1], 99);
	memcpy(&number, text + 16, sizeof(number));
	assert_int_equal(number, (unsigned long)outside + 2);
	/* Text and data are one allocation, so the distance fits into 32 bits. */
	memcpy(&distance, text + 32, sizeof(distance));
	assert_ptr_equal(text + 32 + 4 + distance, data + 1);
	/* A per-CPU variable is in the room of the CPUs, and begins there with what the relocated section says. */
	memcpy(&number, text + 40, sizeof(number));
	assert_ptr_equal(number, (u64 *)mod->percpu + 1);
	assert_int_equal(((u64 *)mod->percpu)[1], 5);
	assert_ptr_equal(((u64 *)mod->percpu)[0], data + 1);
	assert_ptr_equal(this->init, text);
	assert_int_equal(mod->nr_sites, 1);
	assert_int_equal(mod->sites[0], (unsigned long)text);
	assert_null(module_section(mod, ".symtab", 1, &n));
	assert_int_equal(mod->memory[MODULE_INIT_TEXT].size, 0);
	assert_string_equal(modinfo_get(info, "license"), "GPL");
}

static void *copy_of(size_t len)
{
	return memcpy(aligned_alloc(8, ALIGN(len, 8)), &whole, len);
}

static void test_a_whole_file_is_linked(void **state)
{
	void *file = copy_of(sizeof(whole));

	assert_int_equal(load(file, sizeof(whole), see_whole), 0);
	assert_int_equal(allocations, 0);
	free(file);
}

/* The largest alignment that a per-CPU variable may have. */
static void test_a_per_cpu_cache_line(void **state)
{
	u64 kept = whole.sections[PERCPU].sh_addralign;
	void *file;

	whole.sections[PERCPU].sh_addralign = PERCPU_MAX_ALIGN;
	file = copy_of(sizeof(whole));
	whole.sections[PERCPU].sh_addralign = kept;
	assert_int_equal(load(file, sizeof(whole), see_whole), 0);
	assert_int_equal(allocations, 0);
	free(file);
}

/* The name, the state, the list of modules: nothing of that is the file's to write. */
static void test_a_file_does_not_write_the_loaders_struct(void **state)
{
	for (unsigned at = 0; at < sizeof(struct module) - 8; at += 4) {
		struct elf64_rela kept = whole.rela_this[0];
		bool allowed = at == offsetof(struct module, init) || at == offsetof(struct module, exit);
		void *file;

		whole.rela_this[0].r_offset = at;
		file = copy_of(sizeof(whole));
		whole.rela_this[0] = kept;
		assert_int_equal(load(file, sizeof(whole), NULL), allowed ? 0 : -ENOEXEC);
		assert_int_equal(allocations, 0);
		free(file);
	}
}

/* Each single thing that is wrong is called by its name. */
static void test_what_is_wrong_is_said(void **state)
{
	const struct {
		size_t at, size;
		u64 value;
		const char *why;
	} wrong[] = {
		{offsetof(struct elf64_hdr, e_type), 2, 2, "it is not relocatable"},
		{offsetof(struct elf64_hdr, e_machine), 2, 183, "it is for another machine"},
		{offsetof(struct elf64_hdr, e_shoff), 8, 16, "lies across its header"},
		{offsetof(struct elf64_hdr, e_shoff), 8, -8UL, "its table of sections is not in it"},
		{offsetof(struct elf64_hdr, e_shnum), 2, 600, "its table of sections is not in it"},
		{offsetof(typeof(whole), sections[TEXT].sh_offset), 8, 1 << 20, "section .text reaches beyond its end"},
		{offsetof(typeof(whole), sections[TEXT].sh_size), 8, -1UL, "section .text reaches beyond its end"},
		{offsetof(typeof(whole), sections[TEXT].sh_flags), 8, 7, "both written and executed"},
		{offsetof(typeof(whole), sections[DATA].sh_addralign), 8, 24, "an alignment of 0x18"},
		{offsetof(typeof(whole), sections[PERCPU].sh_addralign), 8, 2 * PERCPU_MAX_ALIGN,
		 "a per-CPU variable is aligned to 128 bytes, more than 64"},
		{offsetof(typeof(whole), sections[BSS].sh_size), 8, 1UL << 40, "it is larger than 32 MiB"},
		{offsetof(typeof(whole), sections[THIS].sh_addralign), 8, 4, "it has no struct module"},
		{offsetof(typeof(whole), sections[THIS].sh_flags), 8, SHF_ALLOC, "it has no struct module"},
		{offsetof(typeof(whole), sections[RELA_TEXT].sh_info), 4, 77, "a damaged table"},
		{offsetof(typeof(whole), sections[RELA_TEXT].sh_entsize), 8, 16, "a damaged table"},
		{offsetof(typeof(whole), sections[DATA].sh_offset), 8, offsetof(typeof(whole), text),
		 "sections .text and .data overlap"},
		{offsetof(typeof(whole), symbols[SYM_DATA].st_shndx), 2, 40, "symbol number is in section 40"},
		{offsetof(typeof(whole), symbols[SYM_DATA].st_value), 8, 17, "symbol number lies outside"},
		{offsetof(typeof(whole), symbols[SYM_DATA].st_name), 4, 9999, "symbol 2 has no name"},
		{offsetof(typeof(whole), symbols[SYM_OUTSIDE].st_name), 4, 1, "Unknown symbol init_module"},
		{offsetof(typeof(whole), rela_text[1].r_offset), 8, 57, "a relocation outside of it"},
		{offsetof(typeof(whole), rela_text[1].r_info), 4, 99, "relocations of type 99 are not known"},
		{offsetof(typeof(whole), rela_text[1].r_info) + 4, 4, 50, "against symbol 50, which is not there"},
		{offsetof(typeof(whole), rela_text[0].r_offset), 8, 0, "a use of __fentry__ that is no call"},
		{offsetof(typeof(whole), rela_text[0].r_info), 4, 1, "a use of __fentry__ that is no call"},
		{offsetof(typeof(whole), rela_text[1].r_info), 4, 10, "does not reach"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		u8 *file = copy_of(sizeof(whole));

		said[0] = '\0';
		memcpy(file + wrong[i].at, &wrong[i].value, wrong[i].size);
		assert_true(load(file, sizeof(whole), NULL) < 0);
		if (!strstr(said, wrong[i].why))
			fail_msg("number %u: \"%s\" instead of \"%s\"", i, said, wrong[i].why);
		assert_int_equal(allocations, 0);
		free(file);
	}
}

/* Whatever length is left of it. */
static void test_a_file_that_was_cut_off_is_refused(void **state)
{
	for (size_t len = 0; len < sizeof(whole); len++) {
		void *file = copy_of(len);

		assert_int_equal(load(file, len, NULL), -ENOEXEC);
		free(file);
	}
	assert_int_equal(allocations, 0);
}

/* Numbers at which programs go wrong. */
static u64 odd_number(void)
{
	static const u64 numbers[] = {0,     1,	     2,	     7,	      8,	  0x7f,	     0xff,
				      0xfff, 0x1000, 0xffff, 1 << 20, 0x7fffffff, 0xffffffff};
	u64 n = host_random() % 3 ? numbers[host_random() % ARRAY_SIZE(numbers)] : host_random() % sizeof(whole);

	return host_random() % 4 ? n : -n;
}

/* A bit, a byte, or a field of a header, a symbol or a relocation that gets an odd number. */
static void damage(u8 *file)
{
	static const size_t tables[][2] = {
		{0, sizeof(struct elf64_hdr)},
		{offsetof(typeof(whole), sections), sizeof(whole.sections)},
		{offsetof(typeof(whole), symbols), sizeof(whole.symbols)},
		{offsetof(typeof(whole), rela_text), sizeof(whole.rela_text)},
		{offsetof(typeof(whole), rela_this), sizeof(whole.rela_this)},
	};
	unsigned kind = host_random() % 8;
	const size_t *table = tables[host_random() % ARRAY_SIZE(tables)];
	size_t size = 1UL << host_random() % 4, at = table[0] + host_random() % (table[1] / size) * size;
	u64 number = odd_number();

	if (kind == 0)
		file[host_random() % sizeof(whole)] ^= 1 << host_random() % 8;
	else if (kind == 1)
		file[host_random() % sizeof(whole)] = host_random();
	else
		memcpy(file + at, &number, size);
}

/*
 * 20,000 files with one to three damages. Whatever the loader says, it must not read or write outside of the file and
 * its own memory, and must give back all that it has allocated. Some files must still load: else the damage would only
 * prove that all is refused at the door.
 */
static void test_damaged_files_do_no_harm(void **state)
{
	unsigned loaded = 0, refused = 0;

	for (unsigned n = 0; n < 20000; n++) {
		u8 *file = copy_of(sizeof(whole));

		for (unsigned i = host_random() % 3; i < 3; i++)
			damage(file);
		if (load(file, sizeof(whole), NULL))
			refused++;
		else
			loaded++;
		assert_int_equal(allocations, 0);
		free(file);
	}
	/* Neither is everything refused, nor does damage pass unseen. */
	assert_in_range(loaded, 1000, 15000);
	assert_int_equal(loaded + refused, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_file_is_linked),
		cmocka_unit_test(test_a_per_cpu_cache_line),
		cmocka_unit_test(test_a_file_does_not_write_the_loaders_struct),
		cmocka_unit_test(test_what_is_wrong_is_said),
		cmocka_unit_test(test_a_file_that_was_cut_off_is_refused),
		cmocka_unit_test(test_damaged_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, make_whole, NULL);
}
