/*
 * ACPI's fixed hardware: power and reset registers (FADT), the sleep type of S5 (DSDT), the HPET.
 *
 * Turning a PC off needs two numbers: the port of the PM1 control register, which the FADT gives,
 * and the sleep type of S5 (soft off) to write there, which only the DSDT gives. The DSDT is a
 * program in AML; scan_for_s5() finds the number in it without an interpreter.
 */
#include <boot/acpi.h>
#include <kernel/printk.h>
#include <lib/string.h>

/* A register, as tables have it (5.2.3.2 "Generic Address Structure"). */
struct gas {
	u8 space, bit_width, bit_offset, access_size;
	u64 address;
} __packed;

/* Fixed ACPI description table (5.2.9). Old ones are shorter: `length` says how far to read. */
struct fadt {
	struct acpi_table header;
	u32 facs, dsdt;
	u8 reserved0, pm_profile;
	u16 sci_irq;
	u32 smi_command;
	u8 acpi_enable, acpi_disable, s4bios, pstate;
	u32 pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control, pm_timer, gpe0, gpe1;
	u8 lengths[8];
	u16 c2_latency, c3_latency, flush_size, flush_stride;
	u8 duty[2], day_alarm, month_alarm, century;
	u16 boot_flags;
	u8 reserved1;
	u32 flags;
	struct gas reset;
	u8 reset_value;
	u16 arm_boot_flags;
	u8 minor;
	u64 x_facs, x_dsdt;
	struct gas x_pm1a_event, x_pm1b_event, x_pm1a_control, x_pm1b_control, x_pm2_control, x_pm_timer;
} __packed;
static_assert(offsetof(struct fadt, boot_flags) == 109, "ACPI 6.4, table 5.9");
static_assert(offsetof(struct fadt, x_pm_timer) == 208, "ACPI 6.4, table 5.9");
#define FADT_V1_SIZE	     116 /* up to `reset` */
#define FADT_RESET_SUPPORTED (1 << 10)
#define BOOT_NO_CMOS_RTC     (1 << 5)

/*
 * Is the field there in a table of this length? Tables grow with the versions of ACPI and never
 * lose a field, so the length says how much of the structure firmware knew of.
 */
#define HAS_FIELD(fadt, field) \
	((fadt)->header.length >= offsetof(struct fadt, field) + sizeof(((struct fadt *)0)->field))

/* The first of the bytes of AML that define \_S5: NameOp, the name, PackageOp (20.2.5). */
static const u8 s5_name[] = {0x08, '_', 'S', '5', '_', 0x12};
#define AML_ROOT_CHAR '\\' /* may stand between NameOp and the name */

/*
 * Read a constant of a package: ZeroOp, OneOp, or BytePrefix and a byte (20.2.3), and move *p
 * behind it. Returns -1 if something else stands there or the table ends before.
 */
static int aml_constant(const u8 **p, const u8 *end)
{
	if (*p >= end)
		return -1;
	switch (*(*p)++) {
	case 0x00:
		return 0;
	case 0x01:
		return 1;
	case 0x0a:
		return *p < end ? *(*p)++ : -1;
	default:
		return -1;
	}
}

/*
 * Read the two sleep types of \_S5. `p` points behind PackageOp, where the bytes look like this:
 *
 *     12 | 0a  04   0a 05  0a 05  00  00      PackageOp | length, 4 elements, 5, 5, 0, 0
 *
 * The two top bits of the length's first byte say how many more bytes the length has. A sleep type
 * has three bits, so a larger one is refused; a second type that cannot be read counts as 0, for
 * few machines have a second register. Returns true when the package was read.
 */
static bool read_s5_package(const u8 *p, const u8 *end)
{
	int a, b;

	if (p >= end)
		return false;
	p += 1 + (*p >> 6); /* the length */
	p += 1;		    /* how many elements */
	a = aml_constant(&p, end);
	b = aml_constant(&p, end);
	if (a < 0 || a > 7)
		return false;
	acpi_info.s5_type_a = a;
	acpi_info.s5_type_b = b < 0 || b > 7 ? 0 : b;
	return acpi_info.has_s5 = true;
}

/*
 * \_S5 is a package of constants (7.3.4), always written out, so it can be found without an AML interpreter:
 * by the bytes of its definition. The root character is skipped over by comparing in two pieces.
 */
static void scan_for_s5(const struct acpi_table *dsdt)
{
	const u8 *p = (const u8 *)(dsdt + 1), *end = (const u8 *)dsdt + dsdt->length;

	while ((p = memchr(p, s5_name[1], end - p)) && end - p >= (long)sizeof(s5_name)) {
		const u8 *op = p[-1] == AML_ROOT_CHAR ? p - 2 : p - 1;

		if (!memcmp(p, s5_name + 1, sizeof(s5_name) - 1) && *op == s5_name[0] &&
		    read_s5_package(p + sizeof(s5_name) - 1, end))
			return;
		p++;
	}
	pr_warn("acpi: no \\_S5 in the DSDT: the machine cannot be turned off\n");
}

/*
 * The port of a register: from the 64-bit field if the table has one that names a port, else from
 * the old 32-bit field. Both are there in tables of newer firmware, and the older one may be zero.
 */
static u16 port_of(const struct gas *wide, u32 narrow)
{
	return wide && wide->space == ACPI_IO && wide->address ? wide->address : narrow;
}

#define PORT(fadt, field) port_of(HAS_FIELD(fadt, x_##field) ? &(fadt)->x_##field : NULL, (fadt)->field)

/*
 * How to reset the machine, if the FADT says so. The flag is needed too: a table may have the field
 * although the machine has no such register. Only I/O ports and memory are reset registers here,
 * not PCI configuration space.
 */
static void read_reset(const struct fadt *fadt)
{
	if (!HAS_FIELD(fadt, reset_value) || !(fadt->flags & FADT_RESET_SUPPORTED) || fadt->reset.space > ACPI_IO)
		return;
	acpi_info.reset = (struct acpi_register){fadt->reset.space, fadt->reset.address};
	acpi_info.reset_value = fadt->reset_value;
}

/*
 * Copy from the FADT what the kernel uses after boot. HAS_FIELD protects what ACPI 1.0 did not
 * have; the caller has checked the length of the rest.
 */
static void read_fadt(const struct fadt *fadt)
{
	phys_addr_t dsdt_at = HAS_FIELD(fadt, x_dsdt) && fadt->x_dsdt ? fadt->x_dsdt : fadt->dsdt;
	const struct acpi_table *dsdt = acpi_table_at(dsdt_at, "DSDT");

	acpi_info.pm1a_control = PORT(fadt, pm1a_control);
	acpi_info.pm1b_control = PORT(fadt, pm1b_control);
	acpi_info.pm_timer = PORT(fadt, pm_timer);
	acpi_info.smi_command = fadt->smi_command;
	acpi_info.acpi_enable = fadt->acpi_enable;
	acpi_info.century = fadt->century;
	acpi_info.no_cmos_rtc = fadt->boot_flags & BOOT_NO_CMOS_RTC;
	read_reset(fadt);
	if (dsdt)
		scan_for_s5(dsdt);
}

/* HPET description table (IA-PC HPET specification 1.0a, 3.2.4): after the header an id and a register. */
struct hpet_table {
	struct acpi_table header;
	u32 id;
	struct gas base;
} __packed;

void acpi_read_fixed(void)
{
	const struct fadt *fadt = (const struct fadt *)acpi_find_table("FACP");
	const struct hpet_table *hpet = (const struct hpet_table *)acpi_find_table("HPET");

	if (fadt && fadt->header.length >= FADT_V1_SIZE)
		read_fadt(fadt);
	else
		pr_warn("acpi: no usable FADT: the machine cannot be turned off\n");
	if (hpet && hpet->header.length >= sizeof(*hpet) && hpet->base.space == ACPI_MEMORY)
		acpi_info.hpet = hpet->base.address;
}
