/*
 * ACPI's root tables: finding any table by its signature, with nothing in it believed unchecked.
 *
 *     root pointer (RSDP) ---> XSDT or RSDT: header, addresses ---> FADT, MADT, HPET, ...
 *
 * Firmware's tables are read once, on the boot CPU, and then forgotten. boot_map() reaches them
 * until paging_init(); everything that the kernel needs later is copied to acpi_info before. So no
 * code has to know whether the memory of a table has become free RAM, and no pointer into a table
 * survives. A length inside a table is compared with what was mapped before anything behind it is
 * read: the unit tests damage tables at random under a sanitizer that notices a single byte too
 * many.
 */
#include <boot/acpi.h>
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <kernel/printk.h>
#include <lib/string.h>

/* Root pointer (5.2.5.3). Revision 0, of ACPI 1.0, ends before `length`. */
struct acpi_rsdp {
	char signature[8];
	u8 checksum;
	char oem_id[6];
	u8 revision;
	u32 rsdt;
	u32 length;
	u64 xsdt;
	u8 extended_checksum, reserved[3];
} __packed;
#define RSDP_V1_SIZE 20

/* Where BIOSes put it: at a multiple of 16 in the first KiB of the EBDA, or here (5.2.5.1). */
#define BIOS_START 0xe0000
#define BIOS_END   0x100000

#define MAX_TABLE_SIZE (16 << 20) /* none is nearly as large: a length above is nonsense */

struct acpi_info acpi_info;
static const struct acpi_table *root; /* RSDT or XSDT, checked [boot] */
static unsigned root_entry_size;      /* bytes of an address in it: 4 or 8 */

/* All checksums of ACPI work alike: the sum of all bytes, modulo 256, is zero (5.2.3). */
static bool sum_is_zero(const void *p, size_t size)
{
	const u8 *byte = p;
	u8 sum = 0;

	while (size--)
		sum += *byte++;
	return !sum;
}

/*
 * The checksum that revision 0 defines, over its 20 bytes, is right in later revisions too. A
 * second one, over the whole structure, is checked by open_root() where it uses the fields behind
 * them.
 */
static bool rsdp_valid(const struct acpi_rsdp *rsdp)
{
	return rsdp && !memcmp(rsdp->signature, "RSD PTR ", sizeof(rsdp->signature)) && sum_is_zero(rsdp, RSDP_V1_SIZE);
}

/* The root pointer between two addresses, at a multiple of 16 bytes. Returns 0 if there is none. */
static phys_addr_t scan_for_rsdp(phys_addr_t from, phys_addr_t to)
{
	for (phys_addr_t at = from; at + RSDP_V1_SIZE <= to; at += 16)
		if (rsdp_valid(boot_map(at, RSDP_V1_SIZE)))
			return at;
	return 0;
}

/*
 * Where the root pointer is: the loader's answer, if it gave one, is the best; else the two places
 * where a BIOS puts it (5.2.5.1). With UEFI it lies elsewhere, so only the loader can know.
 */
static phys_addr_t find_rsdp(void)
{
	phys_addr_t ebda = x86_ebda(), found = 0;

	if (boot_info.rsdp)
		return boot_info.rsdp;
	if (ebda)
		found = scan_for_rsdp(ebda, ebda + 1024);
	return found ? found : scan_for_rsdp(BIOS_START, BIOS_END);
}

/*
 * Check the table at `phys`, whose header is mapped at `header`. Returns NULL and sets *table, with all of the table
 * mapped, or returns in words why the table cannot be used. The header is checked before the length in it is used to
 * map the rest.
 */
static const char *check_table(phys_addr_t phys, const struct acpi_table *header, const char *signature,
			       const struct acpi_table **table)
{
	if (!header)
		return "beyond what can be reached";
	if (memcmp(header->signature, signature, sizeof(header->signature)))
		return "of another kind";
	if (header->length < sizeof(*header) || header->length > MAX_TABLE_SIZE)
		return "of a length that makes no sense";
	*table = boot_map(phys, header->length);
	if (!*table)
		return "beyond what can be reached";
	return sum_is_zero(*table, header->length) ? NULL : "damaged (checksum)";
}

const struct acpi_table *acpi_table_at(phys_addr_t phys, const char *signature)
{
	const struct acpi_table *table;
	const char *wrong = check_table(phys, boot_map(phys, sizeof(*table)), signature, &table);

	if (!wrong)
		return table;
	pr_warn("acpi: table %.4s at 0x%lx is %s: not used\n", signature, (unsigned long)phys, wrong);
	return NULL;
}

/*
 * The physical address in entry i of the root table. The caller keeps i below the number of
 * entries.
 */
static phys_addr_t root_entry(unsigned i)
{
	u64 address = 0; /* little endian: four bytes are its low half. An XSDT's are not aligned. */

	memcpy(&address, (const char *)(root + 1) + i * root_entry_size, root_entry_size);
	return address;
}

const struct acpi_table *acpi_find_table(const char *signature)
{
	unsigned n = root ? (root->length - sizeof(*root)) / root_entry_size : 0;

	for (unsigned i = 0; i < n; i++) {
		const struct acpi_table *table = boot_map(root_entry(i), sizeof(*table));

		if (table && !memcmp(table->signature, signature, sizeof(table->signature)))
			return acpi_table_at(root_entry(i), signature);
	}
	return NULL;
}

/*
 * Choose the root table: the XSDT, whose addresses have 64 bits, if there is a good one; else the
 * RSDT, whose addresses have 32.
 */
static void open_root(const struct acpi_rsdp *rsdp)
{
	if (rsdp->revision >= 2 && rsdp->length >= sizeof(*rsdp) && sum_is_zero(rsdp, sizeof(*rsdp)) && rsdp->xsdt) {
		root = acpi_table_at(rsdp->xsdt, "XSDT");
		root_entry_size = 8;
	}
	if (!root) {
		root = acpi_table_at(rsdp->rsdt, "RSDT");
		root_entry_size = 4;
	}
}

/*
 * Make "OEM MODEL" of two fields of fixed length, which firmware pads with blanks or zeros.
 * Characters that cannot be printed are left out, and several blanks become one. Example: "BOCHS
 * BXPC" on QEMU.
 */
static void read_oem(const struct acpi_table *table)
{
	char text[sizeof(table->oem_id) + 1 + sizeof(table->oem_table_id)];
	unsigned n = 0;

	memcpy(text, table->oem_id, sizeof(table->oem_id));
	text[sizeof(table->oem_id)] = ' ';
	memcpy(text + sizeof(table->oem_id) + 1, table->oem_table_id, sizeof(table->oem_table_id));
	for (unsigned i = 0; i < sizeof(text) && n < sizeof(acpi_info.oem) - 1; i++)
		if (isprint(text[i]) && (text[i] != ' ' || (n && acpi_info.oem[n - 1] != ' ')))
			acpi_info.oem[n++] = text[i];
	acpi_info.oem[n] = '\0';
	strim(acpi_info.oem);
}

/*
 * Find the root pointer, check all that is reached from it, read what boot needs. Without tables the machine is one CPU
 * without interrupt controllers, and that is said. Context: boot, while boot_map() works.
 */
void acpi_init(void)
{
	phys_addr_t at = find_rsdp();
	const struct acpi_rsdp *rsdp = boot_map(at, sizeof(*rsdp));

	if (!rsdp_valid(rsdp)) {
		pr_warn("acpi: no root pointer: one CPU, no interrupt controllers\n");
		return;
	}
	boot_info.rsdp = at;
	open_root(rsdp);
	if (!root)
		return;
	read_oem(root);
	acpi_read_madt();
	acpi_read_fixed();
}
