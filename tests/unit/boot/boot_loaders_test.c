/*
 * What PVH and multiboot2 loaders and SMBIOS tell: it is taken over, and nothing is read beyond what is there.
 * Structures as loaders leave them are made in an array that stands for physical memory, then cut off and damaged. The
 * reader gets a copy of exactly the bytes that it has mapped (boot_memory.h), so ASan ends the test when it reads one
 * more.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include "boot_memory.h"

#include "../../../boot/boot_info.c"
#include "../../../boot/multiboot2.c"
#include "../../../boot/x86_memory.c"
/* Names that the next one has too. */
#define read_module	pvh_read_module
#define read_memory_map pvh_read_memory_map
#include "../../../boot/pvh.c"
#undef BIOS_START
#include "../../../boot/smbios.c"

#define INFO_AT	   0x1000
#define LINE_AT	   0x2000
#define MODULES_AT 0x3000
#define MAP_AT	   0x4000
#define DMI_AT	   0x5000
#define MIB	   0x100000UL

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n < (int)size ? n : (int)size - 1;
}

/*
 * The memory of a small PC: firmware has a page of what is called RAM, and RAM comes in two entries that
 * touch.
 */
static const struct hvm_memory memory[] = {
	{0xf0000, 0x10000, 2, 0}, {0, 0x9fc00, 1, 0},	      {0x8000, 0x800, 5, 0},
	{MIB, 15 * MIB, 1, 0},	  {16 * MIB, 16 * MIB, 1, 0}, {0xfee00000, 0x1000, 2, 0},
};

static void begin(void)
{
	forget_round();
	memset(ram, 0, sizeof(ram));
	memset(&table, 0, sizeof(table));
	x86_trampoline_page = 0;
	*(u16 *)(ram + 0x40e) = 0x9fc0; /* the EBDA's segment */
}

/*
 * The memory map, as all loaders give it: two regions of RAM in whole pages, entries that touch joined, and firmware's
 * page in the middle of RAM reserved.
 */
static void check_memory(void)
{
	assert_int_equal(boot_info.nr_memory, 2);
	assert_int_equal(boot_info.memory[0].base, 0);
	assert_int_equal(boot_info.memory[0].size, 0x9f000);
	assert_int_equal(boot_info.memory[1].base, MIB);
	assert_int_equal(boot_info.memory[1].size, 31 * MIB);
	assert_true(overlaps(boot_info.reserved, boot_info.nr_reserved, 0x8000, 0x1000));
	assert_false(overlaps(boot_info.reserved, boot_info.nr_reserved, 0x9000, 0x1000));
	assert_false(overlaps(boot_info.reserved, boot_info.nr_reserved, 0xfee00000, 0x1000)); /* no RAM there anyway */
}

/* What a PVH loader leaves: the start structure, a command line, an initrd and the memory map. */
static void make_pvh(void)
{
	struct hvm_start_info *info = (void *)(ram + INFO_AT);
	struct hvm_module *module = (void *)(ram + MODULES_AT);

	begin();
	*info = (struct hvm_start_info){
		.magic = PVH_MAGIC,
		.version = 1,
		.nr_modules = 1,
		.modules = MODULES_AT,
		.command_line = LINE_AT,
		.rsdp = 0xe1230,
		.memory_map = MAP_AT,
		.nr_memory_map = ARRAY_SIZE(memory),
	};
	*module = (struct hvm_module){.base = 0x1f00000, .size = 0x1234};
	strcpy((char *)ram + LINE_AT, "quiet init=/bin/sh");
	memcpy(ram + MAP_AT, memory, sizeof(memory));
}

/*
 * Everything of a good structure is taken over. A structure without a memory map, one with more entries than memory
 * could hold, and one outside of memory must be refused with words, since they would be read as garbage otherwise.
 */
static void test_pvh(void **state)
{
	make_pvh();
	assert_null(pvh_read(INFO_AT));
	check_memory();
	assert_string_equal(boot_command_line, "quiet init=/bin/sh");
	assert_int_equal(boot_info.initrd.base, 0x1f00000);
	assert_int_equal(boot_info.initrd.size, 0x1234);
	assert_true(overlaps(boot_info.reserved, boot_info.nr_reserved, 0x1f01000, 1));
	assert_int_equal(boot_info.rsdp, 0xe1230);
	make_pvh();
	((struct hvm_start_info *)(ram + INFO_AT))->version = 0;
	assert_non_null(strstr(pvh_read(INFO_AT), "no memory map"));
	make_pvh();
	((struct hvm_start_info *)(ram + INFO_AT))->nr_memory_map = 0x10000000;
	assert_non_null(pvh_read(INFO_AT));
	assert_non_null(pvh_read(BOOT_RAM));
}

static u8 *put_tag(u8 *at, u32 type, const void *body, u32 size)
{
	struct mb2_tag tag = {type, sizeof(tag) + size};

	memcpy(at, &tag, sizeof(tag));
	memcpy(at + sizeof(tag), body, size);
	return at + ALIGN(tag.size, 8);
}

/*
 * What GRUB leaves: a list of tags, with one that is not known and with an old and a new RSDP. Returns the list's
 * size.
 */
static u32 make_multiboot2(void)
{
	static const u32 module[] = {0x1f00000, 0x1f01234};
	static const char rsdp[] = "RSD PTR ";
	struct {
		u32 entry_size, version;
		struct hvm_memory entries[ARRAY_SIZE(memory)]; /* the same form */
	} map = {sizeof(memory[0]), 0, {}};
	struct mb2_info *info = (void *)(ram + INFO_AT);
	u8 *at = (u8 *)(info + 1);

	begin();
	memcpy(map.entries, memory, sizeof(memory));
	at = put_tag(at, 21, "????", 4); /* one that we do not know */
	at = put_tag(at, MB2_COMMAND_LINE, "quiet init=/bin/sh", sizeof("quiet init=/bin/sh"));
	at = put_tag(at, MB2_MODULE, module, sizeof(module));
	at = put_tag(at, MB2_MEMORY_MAP, &map, sizeof(map));
	at = put_tag(at, MB2_ACPI_NEW, rsdp, sizeof(rsdp));
	at = put_tag(at, MB2_ACPI_OLD, rsdp, sizeof(rsdp)); /* the newer one counts */
	at = put_tag(at, MB2_END, "", 0);
	return info->size = at - (u8 *)info;
}

/*
 * The same facts by tags. Then the list is cut off after every byte: each time that must be noticed, and never be read
 * over.
 */
static void test_multiboot2(void **state)
{
	u32 size = make_multiboot2();

	assert_null(multiboot2_read(INFO_AT));
	check_memory();
	assert_string_equal(boot_command_line, "quiet init=/bin/sh");
	assert_int_equal(boot_info.initrd.base, 0x1f00000);
	assert_int_equal(boot_info.initrd.size, 0x1234);
	assert_memory_equal(ram + boot_info.rsdp, "RSD PTR ", 8);
	assert_int_equal(boot_info.rsdp, INFO_AT + size - 8 - 24 - 24 + 8);
	/* Wherever it is cut off, that is noticed. */
	for (u32 cut = 1; cut < size; cut++) {
		struct mb2_info *info = (void *)(ram + INFO_AT);

		make_multiboot2();
		info->size = size - cut;
		assert_non_null(multiboot2_read(INFO_AT));
	}
}

static void test_damaged_loaders(void **state)
{
	for (unsigned round = 0; round < 10000; round++) {
		u32 size = make_multiboot2();

		damage(ram + INFO_AT, size);
		multiboot2_read(INFO_AT);
		assert_true(boot_info.nr_memory <= BOOT_MAX_REGIONS && boot_info.nr_reserved <= BOOT_MAX_REGIONS);
		make_pvh();
		damage(ram + INFO_AT, sizeof(struct hvm_start_info));
		pvh_read(INFO_AT);
		assert_true(boot_info.nr_memory <= BOOT_MAX_REGIONS && boot_info.nr_reserved <= BOOT_MAX_REGIONS);
	}
}

/* A tag that has only its header, as the last bytes that there are. */
static void test_tags_without_contents(void **state)
{
	static const u32 types[] = {MB2_COMMAND_LINE, MB2_MODULE, MB2_MEMORY_MAP};

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		begin();
		put_tag(ram + INFO_AT + sizeof(struct mb2_info), types[i], "", 0);
		*(u32 *)(ram + INFO_AT) = sizeof(struct mb2_info) + sizeof(struct mb2_tag);
		assert_non_null(multiboot2_read(INFO_AT));
	}
}

/*
 * Regions at the ends of what there can be: addresses that wrap around, less than a page, beyond the linear map, and
 * more regions than there is room for. They must be cut or left out, the last two with a line in the log; none may
 * grow by it.
 */
static void test_regions(void **state)
{
	begin();
	boot_add_memory(U64_MAX - 0x2fff, 0x4000); /* around the end of all addresses */
	boot_add_memory(0x1001, 0x1000);	   /* not one whole page */
	boot_add_memory(U64_MAX - 0xff, 0x80);	   /* the next page would be that at 0 */
	boot_reserve(U64_MAX - 0x2fff, 0x4000);
	boot_reserve(0x1000, 0);
	assert_int_equal(boot_info.nr_memory + boot_info.nr_reserved, 0);
	boot_add_memory(LINEAR_END - PAGE_OFFSET - 0x1000, 0x2000);
	assert_int_equal(boot_info.memory[0].size, 0x1000);
	assert_non_null(strstr(last_line, "cannot be used"));
	for (unsigned i = 0; i < BOOT_MAX_REGIONS + 3; i++) {
		boot_add_memory(i * 0x2000, 0x1000);
		boot_reserve(i * 0x2000 + 0xfff, 2);
	}
	assert_int_equal(boot_info.nr_memory, BOOT_MAX_REGIONS);
	assert_int_equal(boot_info.nr_reserved, BOOT_MAX_REGIONS);
	assert_int_equal(boot_info.reserved[5].base, 0xa000);
	assert_int_equal(boot_info.reserved[5].size, 0x2000);
	assert_non_null(strstr(last_line, "is left out"));
}

/* An initrd counts only if all of it is RAM, of however many regions in whatever order. */
static void test_initrd(void **state)
{
	static const struct boot_region none[] = {
		{0x4fff, 1}, {0x5000, 0x4001}, {0x8000, 0x8000}, {U64_MAX - 0xfff, 0x2000}, {0xa000, 1},
	};

	begin();
	boot_add_memory(0x7000, 0x2000);
	boot_add_memory(0x5000, 0x2000);
	boot_check_initrd(); /* there is none, and that is no reason for a line */
	assert_int_equal(lines_printed, 0);
	boot_set_initrd(0x5000, 0x4000);
	boot_check_initrd();
	assert_int_equal(boot_info.initrd.size, 0x4000);
	for (unsigned i = 0; i < ARRAY_SIZE(none); i++) {
		boot_set_initrd(none[i].base, none[i].size);
		boot_check_initrd();
		assert_int_equal(boot_info.initrd.size, 0);
		assert_non_null(strstr(last_line, "does not lie in RAM"));
	}
}

/*
 * A second CPU starts on a page below 1 MiB: the highest free one must be taken and reserved. When there is none, that
 * is said, and the machine goes on with one CPU.
 */
static void test_low_memory(void **state)
{
	make_pvh();
	assert_null(pvh_read(INFO_AT));
	assert_int_equal(x86_ebda(), 0x9fc00);
	boot_reserve(0x9e000, 0x1000);
	x86_reserve_low_memory();
	assert_int_equal(x86_trampoline_page, 0x9d000); /* the highest that is free */
	assert_true(overlaps(boot_info.reserved, boot_info.nr_reserved, 0, 1));
	assert_true(overlaps(boot_info.reserved, boot_info.nr_reserved, 0x9d000, 1));
	make_pvh();
	assert_null(pvh_read(INFO_AT));
	boot_reserve(0x1000, 0x9f000);
	x86_reserve_low_memory();
	assert_int_equal(x86_trampoline_page, 0);
	assert_non_null(strstr(last_line, "no free page below 1 MiB"));
}

/* BIOS information, then the system's: five bytes of it and its strings. */
static const char dmi[] = "\0\4\0\0vendor\0\0"
			  "\1\x8\1\0\1\2\0\0ACME\0Anvil 3000\0\0"
			  "\x7f\4\2\0\0";

static void make_smbios(void)
{
	struct smbios2_entry *e = (void *)(ram + 0xf0050);

	begin();
	memcpy(e->anchor, "_SM_", 4);
	memcpy(e->anchor2, "_DMI_", 5);
	e->table_size = sizeof(dmi);
	e->table = DMI_AT;
	memcpy(ram + DMI_AT, dmi, sizeof(dmi));
}

/*
 * The machine's name from two strings. Then the table is cut off at each byte or damaged: nothing beyond it may be
 * read.
 */
static void test_smbios(void **state)
{
	make_smbios();
	assert_true(smbios_read());
	assert_string_equal(boot_info.machine, "ACME Anvil 3000");
	begin();
	assert_false(smbios_read());
	for (unsigned round = 0; round < 300; round++) {
		make_smbios();
		if (round < sizeof(dmi))
			((struct smbios2_entry *)(ram + 0xf0050))->table_size = round; /* cut off anywhere */
		else
			damage(ram + DMI_AT, sizeof(dmi));
		smbios_read();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pvh),
		cmocka_unit_test(test_multiboot2),
		cmocka_unit_test(test_tags_without_contents),
		cmocka_unit_test(test_damaged_loaders),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_initrd),
		cmocka_unit_test(test_low_memory),
		cmocka_unit_test(test_smbios),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
