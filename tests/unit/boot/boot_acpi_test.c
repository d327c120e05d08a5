/*
 * ACPI tables: what is read from good ones, and that damaged ones never lead the reader out of them. The tables of a
 * small PC are made in an array that stands for physical memory (boot_memory.h). The reader gets a copy of exactly the
 * bytes that it has mapped, so ASan ends the test when it reads one more. printk counts its lines and keeps the last.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include "boot_memory.h"

#include "../../../boot/boot_info.c"
#include "../../../boot/acpi.c"
#include "../../../boot/acpi_fixed.c"
#include "../../../boot/acpi_madt.c"

#define RSDP_AT 0xe1230
#define EBDA_AT 0x9fc00
#define XSDT_AT 0x10004 /* not aligned more than ACPI promises */
#define RSDT_AT 0x11000
#define MADT_AT 0x12000
#define FADT_AT 0x13000
#define DSDT_AT 0x14000
#define HPET_AT 0x15000

static phys_addr_t ebda;
phys_addr_t x86_ebda(void)
{
	return ebda;
}

static void fix_sum(u8 *p, size_t size, u8 *checksum)
{
	u8 sum = 0;

	*checksum = 0;
	for (size_t i = 0; i < size; i++)
		sum += p[i];
	*checksum = -sum;
}

/* Header and checksum of a table whose contents are there. */
static void seal(phys_addr_t at, const char *signature, u32 length)
{
	struct acpi_table *t = (void *)(ram + at);

	memcpy(t->signature, signature, 4);
	t->length = length;
	t->revision = 2;
	memcpy(t->oem_id, "ACME  ", 6);
	memcpy(t->oem_table_id, "MODEL\0\0\0", 8);
	fix_sum((u8 *)t, length, &t->checksum);
}

/* The root pointer with both its tables: XSDT with 64-bit and RSDT with 32-bit addresses of the same three tables. */
static void make_root(void)
{
	static const u64 tables[] = {FADT_AT, MADT_AT, HPET_AT};
	struct acpi_rsdp *rsdp = (void *)(ram + RSDP_AT);

	for (unsigned i = 0; i < ARRAY_SIZE(tables); i++) {
		u32 narrow = tables[i];

		memcpy(ram + XSDT_AT + sizeof(struct acpi_table) + i * 8, &tables[i], 8);
		memcpy(ram + RSDT_AT + sizeof(struct acpi_table) + i * 4, &narrow, 4);
	}
	seal(XSDT_AT, "XSDT", sizeof(struct acpi_table) + sizeof(tables));
	seal(RSDT_AT, "RSDT", sizeof(struct acpi_table) + sizeof(tables) / 2);
	*rsdp = (struct acpi_rsdp){.revision = 2, .rsdt = RSDT_AT, .length = sizeof(*rsdp), .xsdt = XSDT_AT};
	memcpy(rsdp->signature, "RSD PTR ", sizeof(rsdp->signature));
	fix_sum((u8 *)rsdp, RSDP_V1_SIZE, &rsdp->checksum);
	fix_sum((u8 *)rsdp, sizeof(*rsdp), &rsdp->extended_checksum);
}

static const u8 madt_entries[] = {
	0, 8,  0,    0, 1, 0, 0,    0,				    /* CPU 0 */
	0, 8,  1,    4, 1, 0, 0,    0,				    /* CPU 4 */
	0, 8,  2,    6, 0, 0, 0,    0,				    /* not there */
	0, 8,  3,    7, 2, 0, 0,    0,				    /* not there yet */
	9, 16, 0,    0, 0, 1, 0,    0,	  1,   0, 0, 0, 9, 0, 0, 0, /* CPU 256, by x2APIC */
	1, 12, 5,    0, 0, 0, 0xc0, 0xfe, 24,  0, 0, 0,		    /* IOAPIC at 0xfec00000, GSI 24 on */
	2, 10, 0,    0, 2, 0, 0,    0,	  0,   0,		    /* 0 -> GSI 2, as the bus has it */
	2, 10, 0,    9, 9, 0, 0,    0,	  0xf, 0,		    /* 9: level, active low */
	4, 6,  0xff, 0, 0, 1,					    /* NMI on LINT1 */
	5, 12, 0,    0, 0, 0, 0xe0, 0xfe, 1,   0, 0, 0,		    /* local APICs at 0x1fee00000 */
};

/* Some AML with a name that begins like \_S5 before it. */
static const u8 dsdt_body[] = {0x10, 0x08, '_', 'S',  '5',  'X',  0x0a, 1, 0x08, '\\', '_',
			       'S',  '5',  '_', 0x12, 0x06, 0x04, 0x0a, 5, 0x01, 0,    0};

/*
 * Fresh tables in empty memory: MADT, DSDT, FADT, HPET, and the root that leads to them. What the last round has found
 * is forgotten.
 */
static void make_tables(void)
{
	struct fadt *fadt = (void *)(ram + FADT_AT);
	struct hpet_table *hpet = (void *)(ram + HPET_AT);

	memset(ram, 0, sizeof(ram));
	memset(&acpi_info, 0, sizeof(acpi_info));
	forget_round();
	root = NULL;
	memcpy(ram + MADT_AT + sizeof(struct madt), madt_entries, sizeof(madt_entries));
	seal(MADT_AT, "APIC", sizeof(struct madt) + sizeof(madt_entries));
	memcpy(ram + DSDT_AT + sizeof(struct acpi_table), dsdt_body, sizeof(dsdt_body));
	seal(DSDT_AT, "DSDT", sizeof(struct acpi_table) + sizeof(dsdt_body));
	fadt->dsdt = DSDT_AT;
	fadt->pm1a_control = 0x604;
	fadt->x_pm_timer = (struct gas){.space = ACPI_IO, .address = 0x608};
	fadt->century = 0x32;
	fadt->flags = FADT_RESET_SUPPORTED;
	fadt->reset = (struct gas){.space = ACPI_IO, .address = 0xcf9};
	fadt->reset_value = 15;
	seal(FADT_AT, "FACP", sizeof(*fadt));
	hpet->base.address = 0xfed00000;
	seal(HPET_AT, "HPET", sizeof(*hpet));
	make_root();
	boot_add_cpu(0);
}

/* Everything that make_tables() has put there was found, and nothing was complained about. */
static void check_all(void)
{
	unsigned gsi, type;

	assert_int_equal(boot_info.nr_cpus, 3);
	assert_int_equal(boot_info.cpu_hwid[1], 4);
	assert_int_equal(boot_info.cpu_hwid[2], 256);
	assert_int_equal(acpi_info.nr_ioapics, 1);
	assert_int_equal(acpi_info.ioapic[0].base, 0xfec00000);
	assert_int_equal(acpi_info.ioapic[0].gsi_base, 24);
	assert_int_equal(acpi_info.lapic, 0x1fee00000);
	assert_int_equal(acpi_info.nmi_lints, 2);
	acpi_isa_irq(0, &gsi, &type);
	assert_true(gsi == 2 && type == IRQ_TYPE_EDGE);
	acpi_isa_irq(9, &gsi, &type);
	assert_true(gsi == 9 && type == (IRQ_TYPE_LEVEL | IRQ_TYPE_LOW));
	acpi_isa_irq(4, &gsi, &type);
	assert_true(gsi == 4 && type == IRQ_TYPE_EDGE);
	assert_int_equal(acpi_info.pm1a_control, 0x604);
	assert_int_equal(acpi_info.pm_timer, 0x608);
	assert_int_equal(acpi_info.century, 0x32);
	assert_true(acpi_info.has_s5 && acpi_info.s5_type_a == 5 && acpi_info.s5_type_b == 1);
	assert_true(acpi_info.reset.address == 0xcf9 && acpi_info.reset_value == 15);
	assert_int_equal(acpi_info.hpet, 0xfed00000);
	assert_string_equal(acpi_info.oem, "ACME MODEL");
	assert_int_equal(lines_printed, 0);
}

/*
 * The tables are found in each of the four ways: by the address that the loader gives, by a search below 1 MiB, by the
 * RSDT when the XSDT's checksum is wrong, and in the extended BIOS data area. Firmware differs in this, so QEMU alone
 * does not show a mistake.
 */
static void test_good_tables(void **state)
{
	make_tables();
	boot_info.rsdp = RSDP_AT;
	acpi_init();
	check_all();
	make_tables(); /* found by looking */
	acpi_init();
	check_all();
	assert_int_equal(boot_info.rsdp, RSDP_AT);
	make_tables();
	((struct acpi_rsdp *)(ram + RSDP_AT))->extended_checksum++; /* then the RSDT is what is left */
	acpi_init();
	check_all();
	make_tables(); /* in the extended BIOS data area, and nowhere else */
	memmove(ram + EBDA_AT + 0x20, ram + RSDP_AT, sizeof(struct acpi_rsdp));
	memset(ram + RSDP_AT, 0, sizeof(struct acpi_rsdp));
	ebda = EBDA_AT;
	acpi_init();
	ebda = 0;
	check_all();
	assert_int_equal(boot_info.rsdp, EBDA_AT + 0x20);
}

/* What is wrong is said, and what depends on it stays empty. */
static void expect(const char *line)
{
	boot_info.rsdp = RSDP_AT;
	acpi_init();
	if (!strstr(last_line, line))
		fail_msg("'%s' is not in '%s'", line, last_line);
}

/*
 * One fault in each table: the log must name it, and what depends on that table must stay empty while the rest is
 * used. A machine with one bad table must still boot.
 */
static void test_what_is_wrong_is_said(void **state)
{
	make_tables();
	ram[RSDP_AT]++;
	expect("no root pointer");
	make_tables();
	ram[XSDT_AT + 20]++;
	acpi_init();
	assert_string_equal(acpi_info.oem, "ACME MODEL"); /* the RSDT took its place */
	assert_int_equal(lines_printed, 1);
	make_tables();
	ram[MADT_AT + 50]++;
	expect("no usable MADT");
	assert_int_equal(boot_info.nr_cpus, 1);
	make_tables();
	ram[MADT_AT + sizeof(struct madt) + 9] = 0; /* an entry of no length */
	seal(MADT_AT, "APIC", sizeof(struct madt) + sizeof(madt_entries));
	expect("has length 0");
	make_tables();
	ram[DSDT_AT + sizeof(struct acpi_table) + 12] = 'x';
	seal(DSDT_AT, "DSDT", sizeof(struct acpi_table) + sizeof(dsdt_body));
	expect("no \\_S5");
	assert_false(acpi_info.has_s5);
}

/* A MADT of `n` times the same entry. */
static void make_madt(const u8 *entry, unsigned n)
{
	make_tables();
	for (unsigned i = 0; i < n; i++)
		memcpy(ram + MADT_AT + sizeof(struct madt) + i * entry[1], entry, entry[1]);
	seal(MADT_AT, "APIC", sizeof(struct madt) + n * entry[1]);
	boot_info.rsdp = RSDP_AT;
}

static void test_more_than_there_is_room_for(void **state)
{
	static const u8 ioapic[] = {1, 12, 5, 0, 0, 0, 0xc0, 0xfe, 24, 0, 0, 0};
	static const u8 override[] = {2, 10, 0, 9, 9, 0, 0, 0, 0xf, 0};

	make_madt(ioapic, ACPI_MAX_IOAPICS + 2);
	acpi_init();
	assert_int_equal(acpi_info.nr_ioapics, ACPI_MAX_IOAPICS);
	assert_int_equal(lines_printed, 2);
	make_madt(override, ACPI_MAX_OVERRIDES + 1);
	acpi_init();
	assert_int_equal(acpi_info.nr_overrides, ACPI_MAX_OVERRIDES);
	assert_int_equal(lines_printed, 1);
}

/* Entries and packages that begin within their table and would end behind it. */
static void test_cut_short(void **state)
{
	static const u8 x2apic[] = {9, 8, 0, 0, 1, 0, 0, 0}; /* has 16 bytes, really */
	struct acpi_table *dsdt = (void *)(ram + DSDT_AT);

	make_madt(x2apic, 1);
	expect("has length 8");
	for (unsigned cut = 1; cut < 8; cut++) {
		make_tables();
		seal(DSDT_AT, "DSDT", dsdt->length - cut);
		boot_info.rsdp = RSDP_AT;
		acpi_init();
		assert_int_equal(acpi_info.has_s5, cut < 4); /* the first constant is what counts */
	}
}

/*
 * Tables that are damaged at random, with checksums that are right all the same: whatever is read then must lie within
 * them (a read behind the memory ends the test), and counts and values must stay in their ranges.
 */
static void test_damaged_tables(void **state)
{
	static const struct {
		phys_addr_t at;
		const char *signature;
	} tables[] = {{XSDT_AT, "XSDT"}, {MADT_AT, "APIC"}, {FADT_AT, "FACP"}, {DSDT_AT, "DSDT"}, {HPET_AT, "HPET"}};

	for (unsigned round = 0; round < 5000; round++) {
		unsigned i = host_random() % ARRAY_SIZE(tables);
		struct acpi_table *t = (void *)(ram + tables[i].at);

		make_tables();
		if (host_random() % 2)
			t->length = host_random() % 400;
		else
			damage((u8 *)t + sizeof(*t), t->length - sizeof(*t));
		if (t->length >= sizeof(*t))
			seal(tables[i].at, tables[i].signature, t->length);
		boot_info.rsdp = RSDP_AT;
		acpi_init();
		assert_true(boot_info.nr_cpus >= 1 && acpi_info.nr_ioapics <= ACPI_MAX_IOAPICS);
		assert_true(!acpi_info.has_s5 || (acpi_info.s5_type_a < 8 && acpi_info.s5_type_b < 8));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_tables),
		cmocka_unit_test(test_what_is_wrong_is_said),
		cmocka_unit_test(test_more_than_there_is_room_for),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_damaged_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
