/* ACPI's root tables: finding any table by its signature, with nothing in it believed unchecked. */
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

/* The sum of all bytes, modulo 256, is what all of ACPI's checksums make zero (5.2.3). */
static bool sum_is_zero(const void *p, size_t size)
{
	const u8 *byte = p;
	u8 sum = 0;

	while (size--)
		sum += *byte++;
	return !sum;
}

static bool rsdp_valid(const struct acpi_rsdp *rsdp)
{
	return rsdp && !memcmp(rsdp->signature, "RSD PTR ", sizeof(rsdp->signature)) && sum_is_zero(rsdp, RSDP_V1_SIZE);
}

static phys_addr_t scan_for_rsdp(phys_addr_t from, phys_addr_t to)
{
	for (phys_addr_t at = from; at + RSDP_V1_SIZE <= to; at += 16)
		if (rsdp_valid(boot_map(at, RSDP_V1_SIZE)))
			return at;
	return 0;
}

/* Who knows best comes first: the loader, then the two places of 5.2.5.1. */
static phys_addr_t find_rsdp(void)
{
	phys_addr_t ebda = x86_ebda(), found = 0;

	if (boot_info.rsdp)
		return boot_info.rsdp;
	if (ebda)
		found = scan_for_rsdp(ebda, ebda + 1024);
	return found ? found : scan_for_rsdp(BIOS_START, BIOS_END);
}

/* NULL, or why the table that begins with `header` is not to be used; then *table is all of it. */
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

/* The address that entry i of the root table holds; i is within it. */
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

/* The XSDT if there is one that is good, else the RSDT. */
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

/* "OEM MODEL" of two fields that are padded with blanks or zeros; what cannot be printed is left out. */
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
